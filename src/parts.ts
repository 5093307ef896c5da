/** A computation in parts of a few milliseconds each: its thread may serve others in between. */
export type InParts<T> = Generator<void, T, void>;

export function withoutPauses<T>(computation: InParts<T>): T {
  for (;;) {
    const part = computation.next();
    if (part.done === true) return part.value;
  }
}
