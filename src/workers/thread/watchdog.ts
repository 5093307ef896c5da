/**
 * Start time of the current turn, in memory that another thread reads. That thread ends this one if the turn takes
 * too long; see experiment-thread.ts.
 */
export class Watchdog {
  readonly #startedMs: Float64Array;
  readonly #work: Float64Array;

  constructor(
    readonly memory: SharedArrayBuffer = new SharedArrayBuffer(2 * Float64Array.BYTES_PER_ELEMENT),
  ) {
    this.#startedMs = new Float64Array(memory, 0, 1);
    this.#work = new Float64Array(memory, Float64Array.BYTES_PER_ELEMENT, 1);
  }

  begin(work: number): void {
    this.#work[0] = work;
    this.#startedMs[0] = nowMs();
  }

  end(): void {
    this.#startedMs[0] = 0;
  }

  /**
   * The id of the current work and the time since its turn began. After the thread ended, the work during which it
   * ended.
   */
  get current(): { readonly work: number; readonly ms: number } | undefined {
    const startedMs = this.#startedMs[0]!;
    return startedMs > 0 ? { work: this.#work[0]!, ms: nowMs() - startedMs } : undefined;
  }
}

/** The time since the epoch, which all threads measure alike. */
function nowMs(): number {
  return performance.timeOrigin + performance.now();
}
