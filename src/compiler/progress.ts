/**
 * What a long piece of work tells about how far it has come. The commands show it (src/cli/progress.ts);
 * tests and programs that do not care hand in `silent`.
 */
export interface Progress {
  /** A step begins, and whatever was under way before has ended. `total` is 0 where nobody knows it. */
  begin(step: string, total: number, unit: 'bytes' | 'items'): void;
  /** So much of the step has been done, counted from its beginning. */
  reached(done: number): void;
}

export const silent: Progress = { begin: () => {}, reached: () => {} };
