import { setImmediate } from 'node:timers/promises';

/** A computation in parts of a few milliseconds each. Whoever runs it may let others have the thread in between. */
export type InParts<T> = Generator<void, T, void>;

export function withoutPauses<T>(computation: InParts<T>): T {
  for (;;) {
    const part = computation.next();
    if (part.done === true) return part.value;
  }
}

/** Everything else that has arrived has its turn between two parts. */
export async function withPauses<T>(computation: InParts<T>): Promise<T> {
  for (;;) {
    const part = computation.next();
    if (part.done === true) return part.value;
    await setImmediate();
  }
}
