/**
 * What a long piece of work tells about how far it has come. The commands show it (src/cli/progress.ts);
 * tests and programs that do not care hand in `silent`.
 */
export interface Progress {
  /**
   * A step begins, and whatever was under way before has ended. `total` is 0 where nobody knows it; `before`
   * is what an earlier attempt had done already, so that it does not count for the rate.
   */
  begin(step: string, total: number, unit: 'bytes' | 'items', before?: number): void;
  /** So much of the step has been done, what was done before included. */
  reached(done: number): void;
}

export const silent: Progress = { begin: () => {}, reached: () => {} };
