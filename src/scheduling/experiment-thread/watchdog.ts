/**
 * Time that a thread has been computing a piece of work, in memory that another thread reads: experiment-thread.ts ends one
 * that takes too long.
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

  /** Id of the ThreadWork that is being computed, and for how long; of a thread that has ended, the one it ended in. */
  get current(): { readonly work: number; readonly ms: number } | undefined {
    const startedMs = this.#startedMs[0]!;
    return startedMs > 0 ? { work: this.#work[0]!, ms: nowMs() - startedMs } : undefined;
  }
}

/** The same in all threads. */
function nowMs(): number {
  return performance.timeOrigin + performance.now();
}
