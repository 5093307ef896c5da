import type { InParts } from '../../parts.js';

/**
 * Computes a piece of work when it is its turn. A thread that serves several clients gives each of them one piece after
 * another; a piece takes a few milliseconds and waits for nothing.
 */
export type Turn = <T>(piece: () => T) => Promise<T>;

/** The turn of a thread that has one user. */
export const inOneGo: Turn = async (piece) => piece();

/** Time after which a computation in parts pauses, so that pieces stay within some 20 ms. */
const SLICE_MS = 10;

/** Computes as many parts in each turn as take some 10 ms. */
export async function inTurns<T>(turn: Turn, computation: InParts<T>): Promise<T> {
  for (;;) {
    const part = await turn(() => {
      const endMs = performance.now() + SLICE_MS;
      let next = computation.next();
      while (next.done !== true && performance.now() < endMs) next = computation.next();
      return next;
    });
    if (part.done === true) return part.value;
  }
}
