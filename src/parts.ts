import { setImmediate } from 'node:timers/promises';

/** A computation in parts of a few milliseconds each. Whoever runs it may let others have the thread in between. */
export type InParts<T> = Generator<void, T, void>;

/** After so long, others have the thread. */
const SLICE_MS = 10;
/** Of the event loop. Node accepts one connection in each of them, and with nothing to do they take microseconds. */
const TURNS_OF_OTHERS = 16;

export function withoutPauses<T>(computation: InParts<T>): T {
  for (;;) {
    const part = computation.next();
    if (part.done === true) return part.value;
  }
}

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

/** Resolves when what has arrived has had its turn. */
export async function othersServed(): Promise<void> {
  for (let turn = 0; turn < TURNS_OF_OTHERS; turn++) await setImmediate();
}
