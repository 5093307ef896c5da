import type { InParts } from '../../engine/parts.js';

/**
 * Computes when its turn comes: the thread serves several clients, one turn of each after another. A turn takes a few
 * milliseconds, about 20 at most, and must not wait for anything.
 */
export type Turn = <T>(compute: () => T) => Promise<T>;

/** For a thread with one user: computes at once. */
export const inOneGo: Turn = async (compute) => compute();

/** Carries out a computation in parts, in turns. */
export type Paced = <T>(computation: InParts<T>) => Promise<T>;

/** A computation in parts ends its turn with the first part that ends after this time. */
const TURN_MS = 10;

/**
 * Computes in turns, each of several parts. A part is the work between two pauses of the computation.
 * @param turnMs time after which a turn ends with its current part
 */
export async function inTurns<T>(turn: Turn, computation: InParts<T>, turnMs = TURN_MS): Promise<T> {
  for (;;) {
    const part = await turn(() => {
      const endMs = performance.now() + turnMs;
      let next = computation.next();
      while (next.done !== true && performance.now() < endMs) next = computation.next();
      return next;
    });
    if (part.done === true) return part.value;
  }
}
