/**
 * The queue in front of the workers. Each worker has the run that it computes and one ahead, so that it need not wait
 * for this thread to take the one's result before it begins the other. All others wait here, in order of arrival: so
 * the queue has a length and no client fills it alone. A run can be taken back until a worker begins it, the one ahead
 * too. Where there is a GPU, a batch of those that wait is simulated beforehand and comes back with its rasters; the
 * workers then only write the answers. Invariant: a run waits, or is ahead, only while every worker is busy, or while
 * every run goes through the GPU first and that is busy.
 */
import type { Experiment } from '../answers/v1/experiment.js';
import { CodedError } from '../errors.js';
import type { WorkerState } from './pool-worker.js';
import type { BatchResult, ExperimentResult, ExperimentTask } from './task.js';
import { isUnderWay, newTicket, takeBack, type Ticket } from './ticket.js';

/**
 * A run that computes for longer is slow: what is ahead in its worker goes back to the queue, for whichever worker is
 * free first, and nothing comes in its place. A worker loses a millisecond at most by having nothing ahead.
 */
const SLOW_RUN_MS = 25;

/** A worker as the queue sees it. */
export interface RunWorker {
  readonly state: WorkerState;
  /** @throws CodedError the failure of the run, or WORKER_LOST when the worker ended before it answered */
  run(task: ExperimentTask): Promise<ExperimentResult>;
  /** Ends the worker in the middle of what it does; another one takes its place. */
  restart(): void;
  /** @param listener is told after the state has changed */
  whenChanged(listener: () => void): void;
}

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
  /** Experiments that may be here without a worker having begun them. */
  readonly limit: number;
  /** An experiment that computes for longer is ended, with its worker. */
  readonly runTimeoutMs: number;
  readonly stage?: BatchStage;
}

export interface QueuedResult extends ExperimentResult {
  /** All that it took beside computing: waiting, and the way to the worker and back. */
  readonly queueMs: number;
}

export interface QueuedRun {
  readonly result: Promise<QueuedResult>;
  /** Takes the run back if no worker has begun it yet. Tells whether it was taken back. */
  cancel(): boolean;
}

interface Run {
  readonly owner: string;
  readonly arrivedMs: number;
  /** With its raster once it was simulated beforehand. */
  task: ExperimentTask;
  /** Whether it has been to the GPU, simulated or not. */
  isPrepared: boolean;
  /** What the simulation beforehand took, the whole batch. */
  gpuMs: number;
  /** Whether its worker has ended once, over another run. It is not put ahead again, and not tried a third time. */
  isSecondTry: boolean;
  /** While a worker has it. */
  handed: { readonly lane: Lane; readonly ticket: Ticket } | undefined;
  readonly resolve: (result: QueuedResult) => void;
  readonly reject: (error: unknown) => void;
}

/** What a worker was given, in the order in which it will answer; what was taken back meanwhile is undefined. */
interface Lane {
  readonly worker: RunWorker;
  readonly places: (Run | undefined)[];
  /** Runs since the worker has had nothing before it. */
  timer: NodeJS.Timeout | undefined;
  timed: Run | undefined;
  isSlow: boolean;
  /** Whether the worker was ended because its run took too long. */
  isEnded: boolean;
}

export class ExperimentQueue {
  /** Every run that no worker computes: it waits, is simulated beforehand, was, or is ahead. All count as waiting. */
  readonly #line = new Set<Run>();
  readonly #inLineOf = new Map<string, number>();
  /** Of the line: neither simulated nor about to be, and with no worker. */
  #waiting = new Set<Run>();
  /** Of the line: back from the stage, simulated or not, and with no worker; the next for the workers. */
  #prepared = new Set<Run>();
  readonly #lanes: readonly Lane[];
  readonly #idleListeners: (() => void)[] = [];

  constructor(
    workers: readonly RunWorker[],
    private readonly options: QueueOptions,
  ) {
    this.#lanes = workers.map((worker) => ({
      worker,
      places: [],
      timer: undefined,
      timed: undefined,
      isSlow: false,
      isEnded: false,
    }));
    for (const worker of workers) worker.whenChanged(() => this.dispatch());
  }

  /** Experiments that no worker computes yet. */
  get waiting(): number {
    return this.#line.size;
  }

  /** Experiments that the workers compute. */
  get running(): number {
    return this.#lanes.filter(({ places }) => places[0] !== undefined).length;
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
    const run: Run = {
      task,
      owner,
      arrivedMs: performance.now(),
      isPrepared: false,
      gpuMs: 0,
      isSecondTry: false,
      handed: undefined,
      resolve,
      reject,
    };
    const idle = this.options.stage?.comesFirst === true ? undefined : this.#idleLane();
    if (idle !== undefined) {
      this.#hand(run, idle);
    } else {
      this.#admit(owner);
      this.#join(run);
      this.#waiting.add(run);
      this.dispatch();
    }
    return { result: promise, cancel: () => this.#cancel(run) };
  }

  /** Hands over what can be handed over; to be called when the stage has come or gone. */
  dispatch(): void {
    const { stage } = this.options;
    const batch = stage?.batchOf(this.#waiting.size) ?? 0;
    // One batch beforehand is enough; a faster stage would only pile up rasters.
    if (batch > 0 && this.#prepared.size <= batch) {
      void this.#simulateBeforehand(stage!, [...this.#waiting].slice(0, batch));
    }
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const lane = this.#idleLane() ?? (next.isSecondTry ? undefined : this.#laneWithRoomAhead());
      if (lane === undefined) break;
      this.#waiting.delete(next);
      this.#prepared.delete(next);
      this.#hand(next, lane);
    }
    if (this.#next() === undefined) this.#employIdleWorkers();
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

  #join(run: Run): void {
    if (this.#line.has(run)) return;
    this.#line.add(run);
    this.#inLineOf.set(run.owner, this.#inLineBy(run.owner) + 1);
  }

  #leave(run: Run): void {
    if (!this.#line.delete(run)) return;
    this.#waiting.delete(run);
    this.#prepared.delete(run);
    const left = this.#inLineBy(run.owner) - 1;
    if (left > 0) this.#inLineOf.set(run.owner, left);
    else this.#inLineOf.delete(run.owner);
  }

  /** Back to where it was before a worker had it: it came before all that wait. */
  #putBack(run: Run): void {
    run.handed = undefined;
    this.#join(run);
    if (run.isPrepared) this.#prepared = new Set([run, ...this.#prepared]);
    else this.#waiting = new Set([run, ...this.#waiting]);
  }

  #cancel(run: Run): boolean {
    if (run.handed !== undefined) {
      if (!this.#takeBack(run)) return false;
    } else if (!this.#line.has(run)) {
      return false;
    }
    this.#leave(run);
    run.reject(new CodedError('RUN_CANCELLED', 'Every client that waited for this run has disconnected.'));
    this.dispatch();
    return true;
  }

  /** @returns whether its worker has not begun it and never will */
  #takeBack(run: Run): boolean {
    const { lane, ticket } = run.handed!;
    if (!takeBack(ticket)) return false;
    run.handed = undefined;
    // The worker still answers for it, as soon as it comes to it.
    lane.places[lane.places.indexOf(run)] = undefined;
    return true;
  }

  #next(): Run | undefined {
    const { stage } = this.options;
    const [next] = this.#prepared.size > 0 || stage?.comesFirst === true ? this.#prepared : this.#waiting;
    return next;
  }

  #idleLane(): Lane | undefined {
    return this.#lanes.find(({ worker, places }) => worker.state !== 'starting' && places.length === 0);
  }

  #laneWithRoomAhead(): Lane | undefined {
    return this.#lanes.find(
      ({ worker, places, isSlow }) => worker.state !== 'starting' && places.length === 1 && !isSlow,
    );
  }

  /** Nothing else waits: an idle worker takes what is ahead in another. */
  #employIdleWorkers(): void {
    for (const { places } of this.#lanes) {
      const idle = this.#idleLane();
      const ahead = places[1];
      if (idle === undefined) return;
      if (ahead !== undefined && this.#takeBack(ahead)) this.#hand(ahead, idle);
    }
  }

  async #simulateBeforehand(stage: BatchStage, runs: readonly Run[]): Promise<void> {
    for (const run of runs) this.#waiting.delete(run);
    const startedMs = performance.now();
    const rasters = await stage.simulate(runs.map(({ task }) => task.experiment));
    const gpuMs = performance.now() - startedMs;
    runs.forEach((run, i) => {
      // Taken back meanwhile: nobody needs its answer written.
      if (!this.#line.has(run)) return;
      const simulated = rasters[i];
      if (simulated !== undefined) {
        run.task = { ...run.task, simulated };
        run.gpuMs = gpuMs;
      }
      run.isPrepared = true;
      this.#prepared.add(run);
    });
    this.dispatch();
  }

  #hand(run: Run, lane: Lane): void {
    const ticket = newTicket();
    run.handed = { lane, ticket };
    lane.places.push(run);
    this.#timeFirst(lane);
    lane.worker.run({ ...run.task, ticket }).then(
      (result) => {
        if (run.handed?.ticket === ticket) this.#resolve(run, result);
        this.#advance(lane);
      },
      (error: unknown) => {
        if (run.handed?.ticket === ticket) this.#fail(run, lane, ticket, error);
        this.#advance(lane);
      },
    );
  }

  #resolve(run: Run, result: ExperimentResult): void {
    const timings = { ...result.timings, simulateMs: result.timings.simulateMs + run.gpuMs };
    const computedMs = timings.simulateMs + timings.serialiseMs;
    const queueMs = Math.max(0, performance.now() - run.arrivedMs - computedMs);
    this.#leave(run);
    run.handed = undefined;
    run.resolve({ ...result, timings, queueMs });
  }

  #fail(run: Run, lane: Lane, ticket: Ticket, error: unknown): void {
    const isLost = error instanceof CodedError && error.code === 'WORKER_LOST';
    const isOverdue = lane.isEnded && lane.timed === run;
    // A worker that was ended over an overdue run may just have begun the next. One that ended by itself was computing
    // what it died of.
    const isInnocent = isLost && !isOverdue && (lane.isEnded || !isUnderWay(ticket));
    if (isInnocent && !run.isSecondTry && lane.worker.state !== 'closed') {
      run.isSecondTry = true;
      this.#putBack(run);
      return;
    }
    this.#leave(run);
    run.handed = undefined;
    run.reject(
      isLost && isOverdue
        ? new CodedError(
            'DEADLINE_PASSED',
            `The run was stopped after computing for more than ${this.options.runTimeoutMs} ms.`,
            { cause: error },
          )
        : error,
    );
  }

  /** The worker is done with its first place. */
  #advance(lane: Lane): void {
    lane.places.shift();
    if (lane.places.length === 0) lane.isEnded = false;
    this.#timeFirst(lane);
    this.dispatch();
  }

  /** Whatever stands first is what the worker computes: it waits no more, and its time runs. */
  #timeFirst(lane: Lane): void {
    const [first] = lane.places;
    // A worker that was ended computes nothing; what it had is about to be rejected.
    if (lane.isEnded || first === lane.timed) return;
    clearTimeout(lane.timer);
    lane.timed = first;
    lane.isSlow = false;
    if (first === undefined) return;
    this.#leave(first);
    const { runTimeoutMs } = this.options;
    const slowMs = Math.min(SLOW_RUN_MS, runTimeoutMs);
    lane.timer = setTimeout(() => {
      lane.isSlow = true;
      lane.timer = setTimeout(() => this.#endOverdue(lane, first), runTimeoutMs - slowMs);
      const ahead = lane.places[1];
      if (ahead !== undefined && this.#takeBack(ahead)) {
        this.#putBack(ahead);
        this.dispatch();
      }
    }, slowMs);
  }

  #endOverdue(lane: Lane, run: Run): void {
    if (run.handed === undefined) return;
    if (!isUnderWay(run.handed.ticket)) {
      // Its answer is on the way, or the worker has had something else to do until now.
      lane.timer = setTimeout(() => this.#endOverdue(lane, run), this.options.runTimeoutMs);
      return;
    }
    lane.isEnded = true;
    lane.worker.restart();
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
