/** A computation that pauses every few milliseconds, so that its thread can serve others. */
export type InParts<T> = Generator<void, T, void>;

/** Runs a computation to its end. @returns its result */
export function withoutPauses<T>(computation: InParts<T>): T {
  for (;;) {
    const part = computation.next();
    if (part.done === true) return part.value;
  }
}

/** The result of a function that computes in parts. */
export type ResultOf<F extends (...given: never) => InParts<unknown>> =
  ReturnType<F> extends InParts<infer Result> ? Result : never;
