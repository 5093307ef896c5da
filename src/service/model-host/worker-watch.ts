import { CodedError } from '../../engine/errors.js';
import type { Degradations } from '../health/degradations.js';
import type { ExperimentPool } from '../../workers/pool/experiment-pool.js';
import type { ExperimentQueue } from '../../workers/queue/experiment-queue.js';

/** Interval at which idle workers are probed and missing ones are started again. */
const WATCH_INTERVAL_MS = 5_000;
/** If more runs in a row than this times the number of workers end their worker, a harmless run is tried. */
const LOST_RUNS_PER_WORKER = 2;

/** Detects workers that are missing, do not answer or keep ending. */
export class WorkerWatch {
  /** The last known reason why a worker ended or did not start. */
  lastStrayError = 'no reason was given';
  #timer: NodeJS.Timeout | undefined;
  #isTryingOut = false;
  #ended = false;

  /**
   * @param tryOut tries a harmless run
   * @param onDead called if the whole pool has failed
   */
  constructor(
    private readonly pool: ExperimentPool,
    private readonly queue: ExperimentQueue,
    private readonly tryOut: () => Promise<unknown>,
    private readonly runTimeoutMs: number,
    private readonly degradations: Degradations,
    private readonly onDead: (error: CodedError) => void,
  ) {}

  start(): void {
    if (!this.#ended) this.#timer = setTimeout(() => void this.#probe(), WATCH_INTERVAL_MS).unref();
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  /** Call this after workers ended or started. */
  count(): void {
    if (this.#ended) return;
    const { present, ready, workers, lostInARow } = this.pool;
    if (present === 0) {
      this.#giveUp(`No worker is running and none could be started: ${this.lastStrayError}.`);
      return;
    }
    if (lostInARow > LOST_RUNS_PER_WORKER * workers) void this.#tryOut();
    if (present < workers) {
      const reason = `${present} of ${workers} workers are running; another could not be started.`;
      this.degradations.set('workers', reason);
    } else if (ready === workers) {
      this.degradations.set('workers');
    }
  }

  /**
   * If many runs in a row end their workers, either the runs or the workers are at fault. A harmless run shows which.
   */
  async #tryOut(): Promise<void> {
    if (this.#isTryingOut) return;
    this.#isTryingOut = true;
    try {
      await this.tryOut();
    } catch (cause) {
      this.#giveUp('The workers keep ending without an answer.', cause);
    } finally {
      this.#isTryingOut = false;
    }
  }

  /** Probes workers while none computes. During a task, its timeout detects a worker that hangs. */
  async #probe(): Promise<void> {
    const isShort = this.pool.present < this.pool.workers;
    if (!this.queue.isComputing || isShort) {
      try {
        await this.pool.probe(this.runTimeoutMs);
      } catch (cause) {
        // count() handles a worker that ended, and the others may continue. A timeout concerns all of them.
        const isSilent = cause instanceof CodedError && cause.code === 'DEADLINE_PASSED';
        if (isSilent) this.#giveUp('The workers have stopped answering.', cause);
      }
    }
    this.start();
  }

  #giveUp(message: string, cause?: unknown): void {
    if (this.#ended) return;
    this.end();
    this.onDead(new CodedError('WORKER_LOST', message, { cause }));
  }
}
