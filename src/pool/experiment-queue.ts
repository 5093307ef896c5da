/**
 * The queue in front of the workers. Runs of version 1 always go first, in order of arrival. Trials of version 2 use
 * the workers that no run needs; with two workers or more they never use all of them, so a run finds a worker that is
 * free of trials. Trials that somebody waits for go before those of background work; within each, clients take turns.
 *
 * Each worker has the job that it computes and one that is queued ahead, so that it need not wait for this thread
 * between two jobs (see lane.ts). All others wait here, so the queue has a length and no client fills it alone. A job
 * can be withdrawn until a worker begins it. A run is never queued ahead behind a trial; if a run waits, the trials
 * that are queued ahead are withdrawn, so it waits for one trial at most. So do trials that somebody waits for, behind
 * those of background work.
 *
 * Where there is a GPU, it simulates waiting jobs in batches, runs before trials (see gpu/batch-stage.ts); the workers
 * then only write the responses, or read the trials.
 *
 * Invariant: a run waits, or is queued ahead, only while every worker is busy, or while every run goes through the GPU
 * first and the GPU is busy.
 */
import type { TrialReading, TrialTask } from '../answers/v2/trial.js';
import type { Trial as SimulatedTrial } from '../engine/simulation.js';
import { CodedError, queueFull } from '../errors.js';
import type { BatchJob, BatchResult, BatchStage } from './gpu/batch-stage.js';
import { TrialLine } from './gpu/trial-line.js';
import { Lane, withdrawJob, type Job, type JobWorker, type Loss } from './lane.js';
import type { V1RunResult, V1RunTask, V2TrialTask } from './task.js';

/**
 * A worker that computes a trial for longer has hung. What bounds a trial is its event budget: with the default one
 * the longest trials were measured to take some 4 s of a core.
 */
const HUNG_TRIAL_MS = 120_000;
/** A trial that was computed whenever its worker ended, so many times, is taken for the cause. */
const MOST_WORKERS_KILLED = 2;
/** A run or trial that its worker has not answered so many times fails, whatever the cause was. */
const MOST_LOSSES = 4;

export interface QueueOptions {
  /** Runs that may be here without a worker having begun them. */
  readonly limit: number;
  /** A run that computes for longer is ended, with its worker. */
  readonly runTimeoutMs: number;
  /** A trial that computes for longer is ended, with its worker; Infinity for no limit. */
  readonly trialTimeoutMs?: number;
  /** False where there are no runs: trials then use every worker. */
  readonly keepsWorkerForRuns?: boolean;
  readonly batches?: {
    readonly stage: BatchStage;
    /** Called in this thread, once for each run that is offered to the stage. */
    readonly jobOf: (run: V1RunTask) => BatchJob;
  };
}

export interface QueuedResult extends V1RunResult {
  /** All that it took beside computing: waiting, and the way to the worker and back. */
  readonly queueMs: number;
}

export interface QueuedRun {
  readonly result: Promise<QueuedResult>;
  /** Withdraws the run if no worker has begun it yet. Tells whether it was withdrawn. */
  cancel(): boolean;
}

export interface TrialOptions {
  /** Whose turn the trial takes: the client. */
  readonly owner: string;
  /** Rejects the trial with its reason at once; a worker that computes it finishes it for nobody. */
  readonly signal?: AbortSignal;
  /** Whether nobody waits for it: it is then computed once no other trial needs the worker. */
  readonly isBackground?: boolean;
  /** Told how long the worker took, when it is done. */
  readonly onComputed?: (ms: number) => void;
}

export class ExperimentQueue {
  /** Every run that no worker computes: it waits, is simulated in a batch, was, or is queued ahead. */
  readonly #line = new Set<Run>();
  readonly #inLineOf = new Map<string, number>();
  /** Of the line: neither simulated nor about to be, and with no worker. */
  #waiting = new Set<Run>();
  /** Of the line: back from the stage, simulated or not, and with no worker; the next for the workers. */
  #prepared = new Set<Run>();
  /** Trials with no worker that somebody waits for. */
  readonly #urgentTrials = new TrialLine<Trial>(() => this.#comesFirst);
  /** And those of background work. */
  readonly #backgroundTrials = new TrialLine<Trial>(() => this.#comesFirst);
  /** Trials that can still be cancelled, by what cancels them: one listener on a signal, however many trials it has. */
  readonly #trialsOfSignal = new Map<AbortSignal, SignalTrials>();
  /** When the stage returned its last batch. */
  #batchEndedMs = 0;
  readonly #lanes: readonly Lane[];
  readonly #idleListeners: (() => void)[] = [];

  constructor(
    workers: readonly JobWorker[],
    private readonly options: QueueOptions,
  ) {
    this.#lanes = workers.map(
      (worker) =>
        new Lane(worker, { onChange: () => this.dispatch(), onSlow: (lane) => this.#returnAhead(lane) }),
    );
  }

  /** Runs that no worker computes yet. */
  get waiting(): number {
    return this.#line.size;
  }

  /** Runs that the workers compute. */
  get running(): number {
    return this.#computing('v1-run');
  }

  /** Trials that no worker has yet, and those that the workers compute; what is queued ahead is neither. */
  get trials(): { readonly waiting: number; readonly running: number } {
    const waiting = this.#urgentTrials.size + this.#backgroundTrials.size;
    return { waiting, running: this.#computing('v2-trial') };
  }

  /** Whether background work would be computed now, and not only wait for others. */
  get hasRoomForBackground(): boolean {
    return this.#urgentTrials.size === 0 && this.#nextRun() === undefined;
  }

  /** How many trials are computed at the same time, at most. */
  get trialsAtOnce(): number {
    return this.#mostTrialLanes;
  }

  /** Whether any worker computes. */
  get isComputing(): boolean {
    return this.#lanes.some(({ isComputing }) => isComputing);
  }

  /** How many runs one client may have waiting: half of the line. */
  get shareOfOne(): number {
    return Math.max(1, Math.floor(this.options.limit / 2));
  }

  /** How many trials in flight keep every worker busy that trials may use, and the stage. */
  get trialsInFlight(): number {
    return 2 * this.#mostTrialLanes + (this.options.batches?.stage.jobsAhead ?? 0);
  }

  /**
   * @param owner whose share of the line the run takes while it waits
   * @throws CodedError QUEUE_FULL when nothing more may wait, of all or of this owner
   */
  submit(task: V1RunTask, owner: string): QueuedRun {
    const { promise, resolve, reject } = promiseWithResolvers<QueuedResult>();
    const run = new Run(task, owner, this.options.runTimeoutMs, { resolve, reject }, this.#runEvents);
    const idle = this.#comesFirst ? undefined : this.#freeLane();
    if (idle !== undefined) {
      idle.hand(run);
    } else {
      this.#admit(owner);
      this.#join(run);
      this.#waiting.add(run);
      this.dispatch();
    }
    return { result: promise, cancel: () => this.#cancel(run) };
  }

  /**
   * Computes a trial once no run needs the worker. Callers bound how many they have here; see trialsInFlight.
   * @throws CodedError the failure of the trial; WORKER_LOST when two workers have ended over it; DEADLINE_PASSED when
   *   its worker hung; the reason of the signal
   */
  async runTrial(trial: TrialTask, options: TrialOptions): Promise<TrialReading> {
    const { owner, signal, isBackground = false, onComputed } = options;
    signal?.throwIfAborted();
    const { promise, resolve, reject } = promiseWithResolvers<TrialReading>();
    const { trialTimeoutMs = HUNG_TRIAL_MS } = this.options;
    const waiting = isBackground ? this.#backgroundTrials : this.#urgentTrials;
    const group = signal ?? owner;
    const job = new Trial(trial, owner, group, trialTimeoutMs, { resolve, reject }, waiting);
    if (signal !== undefined) this.#listen(signal, job);
    waiting.add(job);
    this.dispatch();
    try {
      const reading = await promise;
      onComputed?.(job.computedMs);
      return reading;
    } finally {
      if (signal !== undefined) this.#stopListening(signal, job);
    }
  }

  /** Hands over what can be handed over; to be called when the stage has come or gone. */
  dispatch(): void {
    this.#startBatch();
    this.#dispatchRuns();
    // Runs that still wait have found no worker, so trials would find none either.
    if (this.#nextRun() === undefined) {
      this.#dispatchTrials(this.#urgentTrials);
      if (this.#urgentTrials.peek() === undefined) {
        this.#dispatchTrials(this.#backgroundTrials);
        this.#employIdleWorkers();
      } else {
        for (const lane of this.#lanes) if (this.#isBackground(lane.ahead)) this.#returnAhead(lane);
      }
    } else {
      for (const lane of this.#lanes) if (lane.kind === 'v2-trial') this.#returnAhead(lane);
    }
    if (this.#idleListeners.length > 0 && this.#isIdle) {
      for (const listener of this.#idleListeners.splice(0)) listener();
    }
  }

  /** Resolves when no run and no trial waits or is computed any more. */
  async idle(): Promise<void> {
    if (this.#isIdle) return;
    await new Promise<void>((resolve) => this.#idleListeners.push(resolve));
  }

  get #isIdle(): boolean {
    return !this.isComputing && this.#line.size === 0 && this.trials.waiting === 0;
  }

  get #comesFirst(): boolean {
    return this.options.batches?.stage.comesFirst === true;
  }

  get #mostTrialLanes(): number {
    const count = this.#lanes.length;
    return this.options.keepsWorkerForRuns === false ? count : Math.max(1, count - 1);
  }

  #computing(kind: 'v1-run' | 'v2-trial'): number {
    return this.#lanes.filter((lane) => lane.isComputing && lane.kind === kind).length;
  }

  #admit(owner: string): void {
    const { limit } = this.options;
    if (this.#line.size >= limit) throw queueFull(`${limit} runs are waiting`);
    if (this.#inLineBy(owner) >= this.shareOfOne) {
      throw queueFull(`${this.shareOfOne} runs of this client are waiting`);
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

  readonly #runEvents: RunEvents = {
    left: (run) => this.#leave(run),
    returned: (run) => this.#putBack(run),
  };

  /** Back to where it was before a worker had it: it came before all that wait. */
  #putBack(run: Run): void {
    this.#join(run);
    if (run.isPrepared) this.#prepared = new Set([run, ...this.#prepared]);
    else this.#waiting = new Set([run, ...this.#waiting]);
  }

  #cancel(run: Run): boolean {
    const isWithdrawn = run.placement === undefined ? this.#line.has(run) : withdrawJob(run);
    if (!isWithdrawn) return false;
    run.reject(new CodedError('RUN_CANCELLED', 'Every client that waited for this run has disconnected.'));
    this.dispatch();
    return true;
  }

  #listen(signal: AbortSignal, trial: Trial): void {
    let known = this.#trialsOfSignal.get(signal);
    if (known === undefined) {
      const trials = new Set<Trial>();
      const abort = () => this.#abort(trials, signal.reason);
      known = { trials, abort };
      this.#trialsOfSignal.set(signal, known);
      signal.addEventListener('abort', abort);
    }
    known.trials.add(trial);
  }

  #stopListening(signal: AbortSignal, trial: Trial): void {
    const known = this.#trialsOfSignal.get(signal);
    known?.trials.delete(trial);
    if (known?.trials.size !== 0) return;
    this.#trialsOfSignal.delete(signal);
    signal.removeEventListener('abort', known.abort);
  }

  #abort(trials: ReadonlySet<Trial>, reason: unknown): void {
    for (const trial of trials) {
      trial.waiting.delete(trial);
      withdrawJob(trial);
      trial.reject(reason);
    }
    this.dispatch();
  }

  #nextRun(): Run | undefined {
    const [next] = this.#prepared.size > 0 || this.#comesFirst ? this.#prepared : this.#waiting;
    return next;
  }

  #freeLane(): Lane | undefined {
    return this.#lanes.find((lane) => lane.isFree);
  }

  /** From the other end than runs, which so find a worker whose caches hold a run. */
  #freeLaneForTrials(): Lane | undefined {
    const busy = this.#lanes.filter(({ kind }) => kind === 'v2-trial').length;
    return busy < this.#mostTrialLanes ? this.#lanes.findLast((lane) => lane.isFree) : undefined;
  }

  #startBatch(): void {
    const { batches } = this.options;
    const room = batches?.stage.room ?? 0;
    if (room === 0) return;
    const { stage, jobOf } = batches!;
    const runs = [...this.#waiting].slice(0, room);
    for (const run of runs) run.batchJob ??= jobOf(run.task);
    const fewest = stage.isBusy ? room : 1;
    const ofRuns = stage.batchOf(runs.map(({ batchJob }) => batchJob!));
    // One batch ahead is enough; a faster stage would only pile up rasters.
    if (ofRuns >= fewest && this.#prepared.size <= ofRuns) {
      void this.#simulateRuns(stage, runs.slice(0, ofRuns));
      return;
    }
    // Runs that go through the stage as soon as it is free are not kept waiting by trials.
    const areRunsNext = stage.comesFirst ? runs.length > 0 : ofRuns > 0 && ofRuns < fewest;
    if (areRunsNext) return;
    const urgent = this.#urgentTrials.candidates(room);
    const trials = [...urgent, ...this.#backgroundTrials.candidates(room - urgent.length)];
    if (trials.length < fewest) return;
    const ofTrials = stage.batchOf(trials.map(({ batchJob }) => batchJob));
    const prepared = this.#urgentTrials.prepared + this.#backgroundTrials.prepared;
    if (ofTrials >= fewest && prepared <= ofTrials)
      void this.#simulateTrials(stage, trials.slice(0, ofTrials));
  }

  #dispatchRuns(): void {
    for (let next = this.#nextRun(); next !== undefined; next = this.#nextRun()) {
      const wasLost = next.losses > 0;
      const lane =
        this.#freeLane() ?? (wasLost ? undefined : this.#lanes.find((each) => each.hasRoomAhead('v1-run')));
      if (lane === undefined) return;
      this.#waiting.delete(next);
      this.#prepared.delete(next);
      lane.hand(next);
    }
  }

  #dispatchTrials(trials: TrialLine<Trial>): void {
    for (let next = trials.peek(); next !== undefined; next = trials.peek()) {
      const wasLost = next.losses > 0;
      const lane =
        this.#freeLaneForTrials() ??
        (wasLost ? undefined : this.#lanes.find((each) => each.hasRoomAhead('v2-trial')));
      if (lane === undefined) return;
      trials.take();
      lane.hand(next);
    }
  }

  /** Nothing else waits: an idle worker takes what is queued ahead in another. */
  #employIdleWorkers(): void {
    for (const { ahead } of this.#lanes) {
      if (ahead === undefined) continue;
      const idle = ahead.task.kind === 'v1-run' ? this.#freeLane() : this.#freeLaneForTrials();
      if (idle !== undefined && withdrawJob(ahead)) idle.hand(ahead);
    }
  }

  /** What is queued ahead in a lane goes back to the queue, for whichever worker is free first. */
  #returnAhead({ ahead }: Lane): void {
    if (ahead === undefined || !withdrawJob(ahead)) return;
    if (ahead instanceof Run) {
      this.#putBack(ahead);
      this.dispatch();
    } else if (ahead instanceof Trial) {
      ahead.waiting.putBack(ahead);
    }
  }

  #isBackground(job: Job | undefined): boolean {
    return job instanceof Trial && job.waiting === this.#backgroundTrials;
  }

  async #simulateRuns(stage: BatchStage, runs: readonly Run[]): Promise<void> {
    for (const run of runs) this.#waiting.delete(run);
    const { trials, gpuMs } = await this.#simulate(
      stage,
      runs.map(({ batchJob }) => batchJob!),
    );
    runs.forEach((run, i) => {
      // Withdrawn meanwhile: nobody needs its response written.
      if (!this.#line.has(run)) return;
      const simulated = trials[i];
      if (simulated !== undefined) {
        run.task = { ...run.task, simulated };
        run.gpuMs = gpuMs;
      }
      run.isPrepared = true;
      this.#prepared.add(run);
    });
    this.dispatch();
  }

  async #simulateTrials(stage: BatchStage, trials: readonly Trial[]): Promise<void> {
    for (const trial of trials) trial.waiting.begin(trial);
    const { trials: simulated, gpuMs } = await this.#simulate(
      stage,
      trials.map(({ batchJob }) => batchJob),
    );
    trials.forEach((trial, i) => {
      // Otherwise it was cancelled meanwhile, and nobody reads it.
      if (trial.waiting.end(trial)) trial.prepare(simulated[i], gpuMs / trials.length);
    });
    this.dispatch();
  }

  /** The time that a batch waits for the one before it is not its own. */
  async #simulate(
    stage: BatchStage,
    jobs: readonly BatchJob[],
  ): Promise<{ trials: BatchResult; gpuMs: number }> {
    const startedMs = performance.now();
    const trials = await stage.simulate(jobs);
    const endedMs = performance.now();
    const gpuMs = endedMs - Math.max(startedMs, this.#batchEndedMs);
    this.#batchEndedMs = endedMs;
    return { trials, gpuMs };
  }
}

interface SignalTrials {
  readonly trials: Set<Trial>;
  readonly abort: () => void;
}

interface Settle<Result> {
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

interface RunEvents {
  /** It no longer waits. */
  left(run: Run): void;
  /** It waits again. */
  returned(run: Run): void;
}

/** A run of version 1. */
class Run implements Job {
  placement: Job['placement'];
  /** What it is for the GPU, once it was offered. */
  batchJob: BatchJob | undefined;
  /** Whether it has been to the GPU, simulated or not. */
  isPrepared = false;
  /** What its simulation on the GPU took, the whole batch. */
  gpuMs = 0;
  /** How often its worker has ended over another run. It is then not queued ahead again. */
  losses = 0;
  readonly #arrivedMs = performance.now();

  constructor(
    /** With its raster once the GPU has simulated it. */
    public task: V1RunTask,
    readonly owner: string,
    readonly timeoutMs: number,
    private readonly settle: Settle<QueuedResult>,
    private readonly events: RunEvents,
  ) {}

  begin(): void {
    this.events.left(this);
  }

  resolve(result: V1RunResult): void {
    const timings = { ...result.timings, simulateMs: result.timings.simulateMs + this.gpuMs };
    const computedMs = timings.simulateMs + timings.serialiseMs;
    const queueMs = Math.max(0, performance.now() - this.#arrivedMs - computedMs);
    this.events.left(this);
    this.settle.resolve({ ...result, timings, queueMs });
  }

  reject(error: unknown): void {
    this.events.left(this);
    this.settle.reject(error);
  }

  lose({ error, isOverdue, isUnderWay, isFinal }: Loss): void {
    this.losses++;
    if (isOverdue) {
      this.reject(overdue('run', this.timeoutMs, error));
    } else if (isUnderWay || isFinal || this.losses === MOST_LOSSES) {
      this.reject(error);
    } else {
      this.events.returned(this);
    }
  }
}

/** A trial of version 2. */
class Trial implements Job {
  placement: Job['placement'];
  /** With its spikes once the GPU has simulated it. */
  task: V2TrialTask;
  readonly batchJob: BatchJob;
  /** Whether a worker is next: it has been to the GPU, simulated or not, or its worker has ended. */
  isPrepared = false;
  /** How often its worker has ended. It is then not queued ahead again. */
  losses = 0;
  /** How long its worker took, and its share of a batch on the GPU. */
  computedMs = 0;
  #begunMs = 0;
  #workersKilled = 0;
  #isSettled = false;

  /**
   * @param group trials of one group are alike
   * @param waiting where it waits while it has no worker
   */
  constructor(
    trial: TrialTask,
    readonly owner: string,
    group: object | string,
    readonly timeoutMs: number,
    private readonly settle: Settle<TrialReading>,
    readonly waiting: TrialLine<Trial>,
  ) {
    this.task = { kind: 'v2-trial', trial };
    this.batchJob = { protocol: trial.protocol, group };
  }

  /** @param simulated undefined where the GPU could not simulate it */
  prepare(simulated: SimulatedTrial | undefined, gpuMs: number): void {
    this.isPrepared = true;
    this.computedMs = gpuMs;
    if (simulated !== undefined) this.task = { ...this.task, simulated };
  }

  begin(): void {
    this.#begunMs = performance.now();
  }

  resolve(reading: TrialReading): void {
    this.#isSettled = true;
    this.computedMs += performance.now() - this.#begunMs;
    this.settle.resolve(reading);
  }

  reject(error: unknown): void {
    this.#isSettled = true;
    this.settle.reject(error);
  }

  lose({ error, isOverdue, isUnderWay, isFinal }: Loss): void {
    // It was cancelled while its worker computed it.
    if (this.#isSettled) return;
    this.losses++;
    if (isUnderWay) this.#workersKilled++;
    if (isOverdue) {
      this.reject(overdue('trial', this.timeoutMs, error));
    } else if (isFinal || this.#workersKilled === MOST_WORKERS_KILLED || this.losses === MOST_LOSSES) {
      this.reject(error);
    } else {
      // What may have ended its worker is left to a worker, also where the GPU comes first.
      this.isPrepared = true;
      this.waiting.putBack(this);
    }
  }
}

function overdue(what: string, timeoutMs: number, cause: CodedError): CodedError {
  const message = `The ${what} was stopped after computing for more than ${timeoutMs} ms.`;
  return new CodedError('DEADLINE_PASSED', message, { cause });
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
