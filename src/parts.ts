/**
 * A computation in parts, most of them a few milliseconds long. Whoever runs it may let others have the thread in
 * between (pauses.ts).
 */
export type InParts<T> = Generator<void, T, void>;

export function withoutPauses<T>(computation: InParts<T>): T {
  for (;;) {
    const part = computation.next();
    if (part.done === true) return part.value;
  }
}
