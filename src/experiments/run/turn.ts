import type { InParts } from '../../engine/parts.js';

/**
 * Computes when its turn comes: the thread serves several clients, one turn of each after another. A turn takes a few
 * milliseconds, about 20 at most, and must not wait for anything.
 */
export type Turn = <T>(compute: () => T) => Promise<T>;

/** For a thread with one user: computes at once. */
export const inOneGo: Turn = async (compute) => compute();

/** A computation in parts ends its turn with the first part that ends after this time. */
const TURN_MS = 10;

/** Computes in turns of about 10 ms, each of several parts. A part is the work between two pauses of the computation. */
export async function inTurns<T>(turn: Turn, computation: InParts<T>): Promise<T> {
  for (;;) {
    const part = await turn(() => {
      const endMs = performance.now() + TURN_MS;
      let next = computation.next();
      while (next.done !== true && performance.now() < endMs) next = computation.next();
      return next;
    });
    if (part.done === true) return part.value;
  }
}
