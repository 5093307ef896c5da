import { Charges, FairQueue } from '../queue/fair-queue.js';
import type { Watchdog } from './watchdog.js';

/** A single client computes for this long before the thread reads messages again. */
const ALONE_MS = 5;

interface WaitingTurn {
  readonly client: string;
  readonly work: number;
  readonly compute: () => void;
}

/** Decides which client has the next turn of the thread: the one that has used least time. */
export class FairScheduler {
  /** Used time of each client, in ms. */
  readonly #used = new Charges();
  readonly #waiting = new FairQueue<WaitingTurn>(this.#used);
  #isScheduled = false;
  /** Time at which messages were last read. */
  #messagesReadMs = -Infinity;

  /**
   * @param watchdog records the start and end of each turn
   * @param afterTurn called after each turn
   */
  constructor(
    private readonly watchdog: Watchdog,
    private readonly afterTurn: () => void = () => undefined,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /**
   * Computes when it is the client's turn. The thread reads messages between two turns.
   * @param work id of the work that the turn belongs to
   * @param computation takes about 20 ms at most
   */
  run<T>(client: string, work: number, computation: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const compute = () => {
        try {
          resolve(computation());
        } catch (error) {
          reject(error as Error);
        }
      };
      const next = { client, work, compute };
      if (!this.#isScheduled && this.nowMs() - this.#messagesReadMs < ALONE_MS) {
        this.#compute(next);
        return;
      }
      this.#waiting.add(client, next);
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#messagesReadMs = this.nowMs();
      this.#compute(this.#waiting.take()!);
      if (this.#waiting.size > 0) this.#schedule();
    });
  }

  #compute({ client, work, compute }: WaitingTurn): void {
    const startedMs = this.nowMs();
    this.watchdog.begin(work);
    compute();
    this.watchdog.end();
    this.#used.charge(client, this.nowMs() - startedMs);
    this.afterTurn();
  }
}
