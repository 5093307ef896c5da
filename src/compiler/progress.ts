/** Receives how far a long piece of work has come; the commands show it (src/cli/progress.ts). */
export interface Progress {
  /**
   * A step begins, and the one before has ended.
   * @param total 0 where nobody knows it
   * @param before done by an earlier attempt, so that it does not count for the rate
   */
  begin(step: string, total: number, unit: 'bytes' | 'items', before?: number): void;
  /** So much of the step has been done, what was done before included. */
  reached(done: number): void;
}

export const silent: Progress = { begin: () => {}, reached: () => {} };
