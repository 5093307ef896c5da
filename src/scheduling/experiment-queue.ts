/**
 * The queue in front of the workers. A free worker takes the first of these that there is:
 *
 * 1. A run of version 1, in order of arrival.
 * 2. A trial of version 2 that somebody waits for, of the client whose trials took least of the workers.
 * 3. A trial of background work, likewise.
 *
 * With two workers or more, one is kept for runs. The only trials that it computes are light ones, of sessions or of
 * clients for whom no other worker computes, with an event budget that ends them after a few milliseconds. A trial that
 * exceeds the budget was not light: its result is discarded, and another worker computes it again. So a run waits for a few
 * milliseconds at most, and results never depend on where they were computed.
 *
 * Each worker has the task that it computes and one that is queued ahead, so that it need not wait for this thread between
 * two tasks (see worker-slot.ts). All others wait here, so the queue has a length and no client fills it alone. A task can
 * be withdrawn until a worker begins it. A run is never queued ahead behind a trial; if a run waits, the trials that are
 * queued ahead are withdrawn, so it waits for one trial at most. So do trials that somebody waits for, behind those of
 * background work.
 *
 * Where there is a GPU, it simulates waiting tasks in batches, runs before trials (see batch-dispatch.ts); the workers then
 * only write the responses, or read the trials.
 *
 * Invariant: a run waits, or is queued ahead, only while every worker is busy, or while every run goes through the GPU
 * first and the GPU is busy.
 */
import { setMaxListeners } from 'node:events';
import type { SessionStep, StepReading, TrialReading, TrialTask } from '../experiments/plan/trial.js';
import { CodedError, queueFull } from '../errors.js';
import { BatchDispatch } from './batch-dispatch.js';
import { ClientShares } from './client-shares.js';
import type { BatchStage, BatchTask } from './gpu/gpu-stage.js';
import { QueuedRun, type QueuedResult } from './queued-run.js';
import type { QueuedTask } from './queued-task.js';
import { QueuedTrial } from './queued-trial.js';
import type { QueuedKind, V1RunTask } from './task.js';
import { WaitingLine } from './waiting-line.js';
import { WorkerSlot, type QueueWorker } from './worker-slot.js';

/**
 * A worker that computes a trial for longer has hung. What bounds a trial is its event budget: with the default one
 * the longest trials were measured to take some 4 s of a core.
 */
const HUNG_TRIAL_MS = 120_000;

/** Time that a worker takes to prepare a rewired network of a whole brain: at least so long. */
const PREPARATION_MS = 50;
/** For so long after that, the worker goes on with trials of that network, also out of turn. */
const OUT_OF_TURN_MS = 250;

export interface QueueOptions {
  /** Runs that may be here without a worker having begun them. */
  readonly limit: number;
  /** A run that computes for longer is ended, with its worker. */
  readonly runTimeoutMs: number;
  /** A trial that computes for longer is ended, with its worker; Infinity for no limit. */
  readonly trialTimeoutMs?: number;
  /** False where there are no runs: trials then use every worker. */
  readonly keepsWorkerForRuns?: boolean;
  /** The GPU. */
  readonly batches?: {
    readonly stage: BatchStage;
    /** Makes the task for the GPU of a run, when it is first offered to it. */
    readonly taskOf: (run: V1RunTask) => BatchTask;
  };
}

export interface SubmittedRun {
  readonly result: Promise<QueuedResult>;
  /** Withdraws the run if no worker has begun it yet. Tells whether it was withdrawn. */
  cancel(): boolean;
}

interface TrialOptions {
  /** Client whose turn the trial takes. */
  readonly owner: string;
  /** Rejects the trial with its reason at once; a worker that computes it finishes it for nobody. */
  readonly signal?: AbortSignal;
  /** Tells whether nobody waits for it: it is then computed once no other trial needs the worker. */
  readonly isBackground?: boolean;
  /** Told how long the worker took, when it is done. */
  readonly onComputed?: (ms: number) => void;
}

export class ExperimentQueue {
  /** Places of runs that no worker has begun, also of those that are queued ahead. */
  readonly #waitingRuns = new ClientShares();
  readonly #runs: WaitingLine<QueuedRun>;
  /** Trials that somebody waits for. */
  readonly #urgentTrials: WaitingLine<QueuedTrial>;
  readonly #backgroundTrials: WaitingLine<QueuedTrial>;
  readonly #batches: BatchDispatch | undefined;
  readonly #slots: readonly WorkerSlot[];
  readonly #idleListeners: (() => void)[] = [];

  constructor(
    workers: readonly QueueWorker[],
    private readonly options: QueueOptions,
  ) {
    const gpuComesFirst = () => this.#gpuComesFirst;
    this.#runs = new WaitingLine('arrival', gpuComesFirst);
    this.#urgentTrials = new WaitingLine('fair', gpuComesFirst);
    this.#backgroundTrials = new WaitingLine('fair', gpuComesFirst);
    const dispatch = () => this.dispatch();
    if (options.batches !== undefined) {
      const trials = [this.#urgentTrials, this.#backgroundTrials];
      this.#batches = new BatchDispatch(options.batches.stage, this.#runs, trials, dispatch);
    }
    const onSlow = (slow: WorkerSlot) => {
      this.#returnPrefetched((_, slot) => slot === slow);
      this.dispatch();
    };
    this.#slots = workers.map((worker) => new WorkerSlot(worker, dispatch, onSlow));
  }

  /** Runs that no worker computes yet. */
  get waiting(): number {
    return this.#waitingRuns.ofAll;
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

  /** Tells whether background work would be computed now, and not only wait for others. */
  get hasRoomForBackground(): boolean {
    return this.#urgentTrials.size === 0 && this.#runs.peek() === undefined;
  }

  /** How many trials are computed in their turn at the same time, at most. */
  get trialsAtOnce(): number {
    return this.#keepsWorker ? this.#slots.length - 1 : this.#slots.length;
  }

  /** Tells whether any worker computes. */
  get isComputing(): boolean {
    return this.#slots.some(({ current }) => current !== undefined);
  }

  /** How many trials in flight keep every worker busy that trials may use, and the GPU. */
  get trialsInFlight(): number {
    return 2 * this.trialsAtOnce + (this.options.batches?.stage.tasksAhead ?? 0);
  }

  /**
   * @param owner whose share of the line the run takes while it waits
   * @throws CodedError QUEUE_FULL when nothing more may wait, of all or of this owner
   */
  submit(task: V1RunTask, owner: string): SubmittedRun {
    const { runTimeoutMs, batches } = this.options;
    const idle = this.#gpuComesFirst ? undefined : this.#freeSlot();
    if (idle === undefined) this.#checkRoom(owner);
    const run = new QueuedRun(task, owner, runTimeoutMs, this.#runs, this.#waitingRuns, batches?.taskOf);
    if (idle === undefined) {
      run.enter();
      this.#runs.add(run);
      this.dispatch();
    } else {
      idle.hand(run);
    }
    return { result: run.answer, cancel: () => this.#cancel(run) };
  }

  /**
   * Computes a trial once no run needs the worker. Callers bound how many they have here; see trialsInFlight.
   * @throws CodedError the failure of the trial; WORKER_LOST when two workers have ended over it; DEADLINE_PASSED when
   *   its worker hung; the reason of the signal
   */
  runTrial(task: TrialTask, options: TrialOptions): Promise<TrialReading> {
    return this.#runTrial(task, options);
  }

  /** Computes a step of a session in its turn among the trials; as runTrial. */
  async runStep(task: TrialTask, step: SessionStep, options: TrialOptions): Promise<StepReading> {
    return (await this.#runTrial(task, options, step)) as StepReading;
  }

  async #runTrial(task: TrialTask, options: TrialOptions, step?: SessionStep): Promise<TrialReading> {
    const { owner, signal, isBackground = false, onComputed } = options;
    signal?.throwIfAborted();
    const { trialTimeoutMs = HUNG_TRIAL_MS } = this.options;
    const line = isBackground ? this.#backgroundTrials : this.#urgentTrials;
    const trial = new QueuedTrial(task, owner, signal ?? owner, trialTimeoutMs, line, step);
    const abort = () => this.#abort(trial, signal!.reason);
    if (signal !== undefined) {
      // Every trial of an experiment adds a listener, so Node's limit of ten would warn.
      setMaxListeners(Infinity, signal);
      signal.addEventListener('abort', abort);
    }
    line.add(trial);
    this.dispatch();
    try {
      const reading = await trial.answer;
      onComputed?.(trial.computedMs);
      return reading;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Hands over what can be handed over; to be called when the GPU has come or gone. */
  dispatch(): void {
    this.#batches?.start();
    this.#dispatchRuns();
    if (this.#runs.peek() !== undefined) {
      // It has found no worker, so trials would find none either.
      this.#returnPrefetched((queued) => queued instanceof QueuedTrial);
    } else {
      this.#makeWay();
      this.#dispatchTrials(this.#urgentTrials);
      this.#dispatchLightTrial();
      if (this.#urgentTrials.peek() === undefined) {
        this.#dispatchTrials(this.#backgroundTrials);
        this.#employIdleWorkers();
      } else {
        this.#returnPrefetched(({ line }) => line === this.#backgroundTrials);
      }
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
    return !this.isComputing && this.waiting === 0 && this.trials.waiting === 0;
  }

  get #gpuComesFirst(): boolean {
    return this.options.batches?.stage.gpuComesFirst === true;
  }

  /** True where trials leave a worker to runs. */
  get #keepsWorker(): boolean {
    return this.options.keepsWorkerForRuns !== false && this.#slots.length > 1;
  }

  #computing(kind: QueuedKind): number {
    return this.#slots.filter(({ current }) => current?.task.kind === kind).length;
  }

  /** @throws CodedError QUEUE_FULL; one client may have half of the runs that wait */
  #checkRoom(owner: string): void {
    const { limit } = this.options;
    if (this.waiting >= limit) throw queueFull(`${limit} runs are waiting`);
    const ofClient = Math.max(1, Math.floor(limit / 2));
    if (this.#waitingRuns.of(owner) >= ofClient) {
      throw queueFull(`${ofClient} runs of this client are waiting`);
    }
  }

  #cancel(run: QueuedRun): boolean {
    const isWithdrawn = run.flag === undefined ? run.isWaiting : run.withdraw();
    if (!isWithdrawn) return false;
    run.reject(new CodedError('RUN_CANCELLED', 'Every client that waited for this run has disconnected.'));
    this.dispatch();
    return true;
  }

  #abort(trial: QueuedTrial, reason: unknown): void {
    trial.line.delete(trial);
    if (trial.withdraw()) trial.settleCharge(0);
    trial.reject(reason);
    // When all trials of the signal have been removed.
    queueMicrotask(() => this.dispatch());
  }

  #freeSlot(): WorkerSlot | undefined {
    return this.#slots.find((slot) => slot.isFree);
  }

  /** Searched from the back, as runs are from the front: each then finds workers whose caches fit. */
  #freeSlotForTrials(): WorkerSlot | undefined {
    return this.#trialSlots.length < this.trialsAtOnce
      ? this.#slots.findLast((slot) => slot.isFree)
      : undefined;
  }

  /** Those that compute trials in their turn. */
  get #trialSlots(): readonly WorkerSlot[] {
    return this.#slots.filter((slot) => slot.kind === 'v2-trial' && !hasLightTrial(slot));
  }

  /** True where a worker computes a trial of the client. */
  #isComputingFor(owner: string): boolean {
    return this.#slots.some(({ current }) => current instanceof QueuedTrial && current.owner === owner);
  }

  #dispatchRuns(): void {
    for (let next = this.#runs.peek(); next !== undefined; next = this.#runs.peek()) {
      const slot = this.#freeSlot() ?? this.#slotToPrefetchRun(next);
      if (slot === undefined) return;
      this.#runs.take();
      slot.hand(next);
    }
  }

  #dispatchTrials(trials: WaitingLine<QueuedTrial>): void {
    for (let next = this.#nextAssignment(trials); next !== undefined; next = this.#nextAssignment(trials)) {
      const [trial, slot] = next;
      trials.takeOutOfTurn(trial);
      trial.charge();
      slot.hand(trial);
    }
  }

  /**
   * The next trial that finds a worker, and that worker. Preparing a rewired network takes longer than many trials. So its
   * trials go to the worker that has it, also some out of turn, and to another one that has had nothing else to do for as
   * long.
   */
  #nextAssignment(trials: WaitingLine<QueuedTrial>): readonly [QueuedTrial, WorkerSlot] | undefined {
    const next = trials.peek();
    if (next === undefined) return undefined;
    const free = this.#freeSlotForTrials();
    const isOpen = (slot: WorkerSlot) => (free !== undefined && slot.isFree) || slot.canPrefetch('v2-trial');
    for (const slot of this.#slots) {
      const { network } = slot;
      if (network === undefined || !isOpen(slot)) continue;
      const isInTurn = network.owner === next.owner && next.wiring !== undefined;
      if (!isInTurn && network.ms > OUT_OF_TURN_MS) continue;
      const own = trials
        .of(network.owner)
        .find(({ wiring, losses }) => wiring === network.wiring && (slot.isFree || losses === 0));
      if (own !== undefined) return [own, slot];
    }
    if (next.wiring === undefined) {
      const slot = free ?? this.#slotToPrefetchTrial(next);
      return slot && [next, slot];
    }
    const holder = this.#slots.find((slot) => slot.network?.wiring === next.wiring && isOpen(slot));
    // It was prepared for another client.
    if (holder !== undefined && (holder.isFree || next.losses === 0)) return [next, holder];
    if (free === undefined) return undefined;
    const held = new Set(this.#slots.map(({ network }) => network?.wiring));
    const other = trials.of(next.owner).find(({ wiring }) => wiring === undefined || !held.has(wiring));
    if (other !== undefined) return [other, free];
    return free.network === undefined || free.freeMs > PREPARATION_MS ? [next, free] : undefined;
  }

  /**
   * Gives the worker that is kept for runs a light step of a session, or a light trial of a client for whom no worker
   * computes.
   */
  #dispatchLightTrial(): void {
    if (!this.#keepsWorker || this.#slots.some(hasLightTrial)) return;
    // Otherwise a worker of trials is free, or about to be.
    if (this.#trialSlots.length < this.trialsAtOnce) return;
    const slot = this.#freeSlot();
    if (slot === undefined) return;
    const light = this.#urgentTrials
      .heads()
      .find((each) => each.isLight && (each.isStep || !this.#isComputingFor(each.owner)));
    if (light === undefined) return;
    this.#urgentTrials.takeOutOfTurn(light);
    light.isOnReservedWorker = true;
    light.charge();
    slot.hand(light);
  }

  #slotToPrefetchRun({ losses }: QueuedRun): WorkerSlot | undefined {
    return losses > 0 ? undefined : this.#slots.find((slot) => slot.canPrefetch('v1-run'));
  }

  /** Where a trial may be queued ahead: not behind another client's if the worker that is kept for runs may take it. */
  #slotToPrefetchTrial({ losses, owner, isLight }: QueuedTrial): WorkerSlot | undefined {
    if (losses > 0) return undefined;
    const isForAny = !isLight || !this.#keepsWorker;
    return this.#trialSlots.find(
      (slot) => slot.canPrefetch('v2-trial') && (isForAny || slot.current?.owner === owner),
    );
  }

  /** A client for whom no worker computes does not wait for the trial that another has queued ahead of its next. */
  #makeWay(): void {
    const next = this.#urgentTrials.peek();
    if (next === undefined || this.#isComputingFor(next.owner)) return;
    this.#returnPrefetched(
      (queued, slot) =>
        queued instanceof QueuedTrial && !hasLightTrial(slot) && this.#isComputingFor(queued.owner),
    );
  }

  /** Gives idle workers, when nothing else waits, what is queued ahead in others. */
  #employIdleWorkers(): void {
    for (const { prefetched } of this.#slots) {
      if (prefetched === undefined) continue;
      const idle = prefetched instanceof QueuedRun ? this.#freeSlot() : this.#freeSlotForTrials();
      // A rewired network is prepared where it waits.
      const isBound = prefetched.wiring !== undefined && prefetched.wiring !== idle?.network?.wiring;
      if (idle === undefined || isBound || !prefetched.withdraw()) continue;
      if (prefetched instanceof QueuedTrial) prefetched.isOnReservedWorker = false;
      idle.hand(prefetched);
    }
  }

  /** Puts what is queued ahead back to the queue, for whichever worker is free first. */
  #returnPrefetched(isMeant: (queued: QueuedTask, slot: WorkerSlot) => boolean): void {
    for (const slot of this.#slots) {
      const { prefetched } = slot;
      if (prefetched !== undefined && isMeant(prefetched, slot) && prefetched.withdraw())
        prefetched.putBack();
    }
  }
}

/** True where the worker that is kept for runs has a light trial. */
function hasLightTrial({ current, prefetched }: WorkerSlot): boolean {
  return [current, prefetched].some((queued) => queued instanceof QueuedTrial && queued.isOnReservedWorker);
}
