import { setImmediate } from 'node:timers/promises';

/** A computation in parts of a few milliseconds each. Whoever runs it may let others have the thread in between. */
export type InParts<T> = Generator<void, T, void>;

/** After so long, others have their turn. */
const SLICE_MS = 10;

export function withoutPauses<T>(computation: InParts<T>): T {
  for (;;) {
    const part = computation.next();
    if (part.done === true) return part.value;
  }
}

/** Lets everything that has arrived have its turn every few parts. */
export async function withPauses<T>(computation: InParts<T>): Promise<T> {
  for (;;) {
    const pauseMs = performance.now() + SLICE_MS;
    while (performance.now() < pauseMs) {
      const part = computation.next();
      if (part.done === true) return part.value;
    }
    await setImmediate();
  }
}
