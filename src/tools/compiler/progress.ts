/** Receives the progress of a long computation. Commands show it on standard error (src/tools/cli/progress.ts). */
export interface Progress {
  /**
   * Begins a step and ends the previous one.
   * @param total 0 if it is not known
   * @param before amount done by an earlier attempt; it does not count for the rate
   */
  begin(step: string, total: number, unit: 'bytes' | 'items', before?: number): void;
  /** @param done amount of the step that is done, including `before` */
  reached(done: number): void;
}

export const silent: Progress = { begin: () => {}, reached: () => {} };
