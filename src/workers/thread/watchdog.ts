/**
 * Start time of the current turn, in memory that another thread reads. That thread ends this one if the turn takes
 * too long; see experiment-thread.ts.
 */
export class Watchdog {
  /** The time at which the turn began, or 0, and the id of its work. */
  readonly #turn: Float64Array;
  /** Start time of the turn that the last look saw, and the number of looks that saw it. */
  #seenMs = 0;
  #looks = 0;

  constructor(
    readonly memory: SharedArrayBuffer = new SharedArrayBuffer(2 * Float64Array.BYTES_PER_ELEMENT),
  ) {
    this.#turn = new Float64Array(memory);
  }

  begin(work: number): void {
    this.#turn[1] = work;
    this.#turn[0] = nowMs();
  }

  end(): void {
    this.#turn[0] = 0;
  }

  /**
   * Call this every `everyMs`. A pause of the whole process lengthens a turn, but adds no looks.
   * @returns true if the current turn takes longer than `maxMs`, and as many looks saw it as fit into that time
   */
  isOverdue(maxMs: number, everyMs: number): boolean {
    const startedMs = this.#turn[0]!;
    this.#looks = startedMs === this.#seenMs ? this.#looks + 1 : 1;
    this.#seenMs = startedMs;
    const { ms = 0 } = this.current ?? {};
    return ms > maxMs && this.#looks >= maxMs / everyMs;
  }

  /**
   * The id of the current work and the time since its turn began. After the thread ended, the work during which it
   * ended.
   */
  get current(): { readonly work: number; readonly ms: number } | undefined {
    const startedMs = this.#turn[0]!;
    return startedMs > 0 ? { work: this.#turn[1]!, ms: nowMs() - startedMs } : undefined;
  }
}

/** The time since the epoch, which all threads measure alike. */
function nowMs(): number {
  return performance.timeOrigin + performance.now();
}
