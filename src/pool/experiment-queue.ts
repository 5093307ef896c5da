/**
 * The line in front of the workers. It hands over as many experiments as there are workers and keeps the
 * others waiting, in order of arrival: so a waiting one can be taken back, the line has a length, and no
 * client fills it alone. Where there is a GPU, a batch of those that wait is simulated ahead and comes back
 * with its rasters; the workers then only write the answers. Invariant: something waits only while every
 * worker is busy, or while every run goes through the GPU first and that is busy.
 */
import type { Experiment } from '../engine/experiment.js';
import { CodedError } from '../errors.js';
import type { BatchResult, ExperimentResult, ExperimentTask } from './task.js';

/** Simulates runs that wait, many at once. */
export interface BatchStage {
  /** Whether every run goes through it before a worker gets it. */
  readonly comesFirst: boolean;
  /** How many of the runs that wait it would take now; 0 while it is busy or away. */
  batchOf(waiting: number): number;
  /** Never rejects: what it could not simulate is undefined and left to the workers. */
  simulate(experiments: readonly Experiment[]): Promise<BatchResult>;
}

export interface QueueOptions {
  /** Experiments that are handed over at once. */
  readonly slots: number;
  /** Experiments that may be here without a worker having them. */
  readonly limit: number;
  /** An experiment that computes for longer is ended, with its worker. */
  readonly runTimeoutMs: number;
  readonly stage?: BatchStage;
}

export interface QueuedResult extends ExperimentResult {
  readonly queueMs: number;
}

export interface QueuedRun {
  readonly result: Promise<QueuedResult>;
  /** Takes the run back if no worker has it yet. Tells whether it was taken back. */
  cancel(): boolean;
}

type Compute = (task: ExperimentTask, signal: AbortSignal) => Promise<ExperimentResult>;

interface InLine {
  readonly owner: string;
  readonly arrivedMs: number;
  /** With its raster once it was simulated ahead. */
  task: ExperimentTask;
  /** What the simulation ahead took, the whole batch. */
  aheadMs: number;
  readonly resolve: (result: QueuedResult) => void;
  readonly reject: (error: unknown) => void;
}

export class ExperimentQueue {
  /** Whatever no worker has yet: it waits, is simulated ahead, or was. All of it counts against the limits. */
  readonly #line = new Set<InLine>();
  readonly #inLineOf = new Map<string, number>();
  /** Of the line: neither simulated nor about to be. */
  readonly #waiting = new Set<InLine>();
  /** Of the line: back from the stage, simulated or not; the next for the workers. */
  readonly #prepared = new Set<InLine>();
  readonly #idleListeners: (() => void)[] = [];
  #running = 0;

  constructor(
    private readonly compute: Compute,
    private readonly options: QueueOptions,
  ) {}

  /** Experiments that no worker has yet. */
  get waiting(): number {
    return this.#line.size;
  }

  /** Experiments that the workers have. */
  get running(): number {
    return this.#running;
  }

  /** What one client may have waiting: half of the line. */
  get shareOfOne(): number {
    return Math.max(1, Math.floor(this.options.limit / 2));
  }

  /**
   * @param owner whose share of the line the run takes while it waits
   * @throws CodedError QUEUE_FULL when nothing more may wait, of all or of this owner
   */
  submit(task: ExperimentTask, owner: string): QueuedRun {
    const { promise, resolve, reject } = promiseWithResolvers<QueuedResult>();
    const run: InLine = { task, owner, arrivedMs: performance.now(), aheadMs: 0, resolve, reject };
    if (this.#running < this.options.slots && this.options.stage?.comesFirst !== true) {
      void this.#start(run);
      return { result: promise, cancel: () => false };
    }
    this.#admit(owner);
    this.#line.add(run);
    this.#inLineOf.set(owner, this.#inLineBy(owner) + 1);
    this.#waiting.add(run);
    const cancel = () => {
      const wasInLine = this.#leave(run);
      if (wasInLine)
        reject(new CodedError('RUN_CANCELLED', 'Every client that waited for this run has gone.'));
      return wasInLine;
    };
    this.dispatch();
    return { result: promise, cancel };
  }

  /** Hands over what can be handed over; to be called when the stage has come or gone. */
  dispatch(): void {
    const { slots, stage } = this.options;
    const batch = stage?.batchOf(this.#waiting.size) ?? 0;
    // One batch ahead of the workers is enough; a faster stage would only pile up rasters.
    if (batch > 0 && this.#prepared.size <= batch) {
      void this.#simulateAhead(stage!, [...this.#waiting].slice(0, batch));
    }
    while (this.#running < slots) {
      const [next] = this.#prepared.size > 0 || stage?.comesFirst === true ? this.#prepared : this.#waiting;
      if (next === undefined) break;
      this.#leave(next);
      void this.#start(next);
    }
    if (this.running === 0 && this.waiting === 0) {
      for (const listener of this.#idleListeners.splice(0)) listener();
    }
  }

  /** Resolves when nothing waits or runs any more. */
  async idle(): Promise<void> {
    if (this.running === 0 && this.waiting === 0) return;
    await new Promise<void>((resolve) => this.#idleListeners.push(resolve));
  }

  #admit(owner: string): void {
    const { limit } = this.options;
    if (this.#line.size >= limit) {
      throw new CodedError('QUEUE_FULL', `The queue is full: ${limit} runs are waiting; try again shortly.`);
    }
    if (this.#inLineBy(owner) >= this.shareOfOne) {
      throw new CodedError(
        'QUEUE_FULL',
        `The queue is full: ${this.shareOfOne} runs of this client are waiting; try again shortly.`,
      );
    }
  }

  #inLineBy(owner: string): number {
    return this.#inLineOf.get(owner) ?? 0;
  }

  /** @returns whether it still was in the line */
  #leave(run: InLine): boolean {
    if (!this.#line.delete(run)) return false;
    this.#waiting.delete(run);
    this.#prepared.delete(run);
    const left = this.#inLineBy(run.owner) - 1;
    if (left > 0) this.#inLineOf.set(run.owner, left);
    else this.#inLineOf.delete(run.owner);
    return true;
  }

  async #simulateAhead(stage: BatchStage, runs: readonly InLine[]): Promise<void> {
    for (const run of runs) this.#waiting.delete(run);
    const startedMs = performance.now();
    const rasters = await stage.simulate(runs.map(({ task }) => task.experiment));
    const aheadMs = performance.now() - startedMs;
    runs.forEach((run, i) => {
      // Taken back meanwhile: nobody needs its answer written.
      if (!this.#line.has(run)) return;
      const simulated = rasters[i];
      if (simulated !== undefined) {
        run.task = { ...run.task, simulated };
        run.aheadMs = aheadMs;
      }
      this.#prepared.add(run);
    });
    this.dispatch();
  }

  async #start(run: InLine): Promise<void> {
    this.#running++;
    const queueMs = performance.now() - run.arrivedMs - run.aheadMs;
    const watchdog = new AbortController();
    const timer = setTimeout(() => watchdog.abort(), this.options.runTimeoutMs);
    try {
      const result = await this.compute(run.task, watchdog.signal);
      const { simulateMs, serialiseMs } = result.timings;
      const timings = { simulateMs: simulateMs + run.aheadMs, serialiseMs };
      run.resolve({ ...result, timings, queueMs });
    } catch (error) {
      run.reject(
        watchdog.signal.aborted
          ? new CodedError(
              'DEADLINE_PASSED',
              `The run computed for more than ${this.options.runTimeoutMs} ms and was ended.`,
              { cause: error },
            )
          : error,
      );
    } finally {
      clearTimeout(timer);
      this.#running--;
      this.dispatch();
    }
  }
}

/** Promise.withResolvers, which Node 20 does not have. */
function promiseWithResolvers<T>() {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
