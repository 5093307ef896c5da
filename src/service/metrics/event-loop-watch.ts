/** Interval of the timer whose lateness is measured. */
const LOOK_EVERY_MS = 50;
/** A timer may be this late on a busy machine without a request that waits noticeably. */
const MAX_LATE_MS = 50;

/**
 * Adds up the time for which the event loop was blocked. prom-client resets its own measurement at each scrape, so each
 * of two Prometheus servers would see only a part of it.
 */
export class EventLoopWatch {
  blockedMs = 0;
  #dueMs: number;
  readonly #timer: NodeJS.Timeout;

  constructor(private readonly nowMs: () => number = () => performance.now()) {
    this.#dueMs = nowMs() + LOOK_EVERY_MS;
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
  }

  end(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const nowMs = this.nowMs();
    const lateMs = nowMs - this.#dueMs;
    if (lateMs > MAX_LATE_MS) this.blockedMs += lateMs;
    this.#dueMs = nowMs + LOOK_EVERY_MS;
  }
}
