import { Charges, FairQueue } from '../fair-queue.js';
import type { Watchdog } from './watchdog.js';

/** Time for which one client goes on while nobody else waits, before messages are read again. */
const ALONE_MS = 5;

interface Piece {
  readonly client: string;
  readonly work: number;
  readonly compute: () => void;
}

/** Decides whose piece of work the thread computes next: that of the client which has used the least of its time. */
export class FairScheduler {
  /** In ms. */
  readonly #used = new Charges();
  readonly #waiting = new FairQueue<Piece>(this.#used);
  #isScheduled = false;
  /** When messages were read last. */
  #messagesReadMs = -Infinity;

  /**
   * @param watchdog is told of every piece
   * @param afterPiece is called between two pieces
   */
  constructor(
    private readonly watchdog: Watchdog,
    private readonly afterPiece: () => void = () => undefined,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /**
   * Computes a piece when it is its turn. Messages are read between two pieces.
   * @param work of the client, which the piece is part of
   * @param piece takes at most some 20 ms
   */
  run<T>(client: string, work: number, piece: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const compute = () => {
        try {
          resolve(piece());
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

  #compute({ client, work, compute }: Piece): void {
    const startedMs = this.nowMs();
    this.watchdog.begin(work);
    compute();
    this.watchdog.end();
    this.#used.charge(client, this.nowMs() - startedMs);
    this.afterPiece();
  }
}
