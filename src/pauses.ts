import { setImmediate } from 'node:timers/promises';
import type { InParts } from './parts.js';

/** After so long, others have the thread. */
const SLICE_MS = 10;
/** Of the event loop. Node accepts one connection in each of them, and with nothing to do they take microseconds. */
const TURNS_OF_OTHERS = 16;
/** Answers that are written keep every turn busy, and the computation has to go on. */
const LONGEST_FOR_OTHERS_MS = 2 * SLICE_MS;

/** Lets others have the thread every few parts. */
export async function withPauses<T>(computation: InParts<T>): Promise<T> {
  for (;;) {
    const pauseMs = performance.now() + SLICE_MS;
    while (performance.now() < pauseMs) {
      const part = computation.next();
      if (part.done === true) return part.value;
    }
    await othersServed();
  }
}

/** Resolves when what has arrived has had its turn, or others have had the thread for long enough. */
export async function othersServed(): Promise<void> {
  const endMs = performance.now() + LONGEST_FOR_OTHERS_MS;
  for (let turn = 0; turn < TURNS_OF_OTHERS && performance.now() < endMs; turn++) await setImmediate();
}
