/**
 * The queue before the workers. queue-policy.ts decides which task goes to which worker; this class holds the waiting
 * tasks and carries the decisions out. A worker has at most two tasks (see worker-slot.ts), and all others wait here.
 * So the length of the queue is known and can be limited for each client.
 *
 * If there is a GPU, it simulates waiting tasks in batches, runs before trials (see batch-dispatch.ts). The workers
 * then only write the responses, or evaluate the reports of the trials.
 *
 * Invariant: a run waits, or is prefetched, only while every worker is busy or the GPU is. Every run goes through the
 * GPU first.
 */
import { setMaxListeners } from 'node:events';
import type { SessionStep, StepResult, TrialResult, TrialTask } from '../../experiments/plan/trial.js';
import { CodedError, queueFull } from '../../engine/errors.js';
import type { Protocol } from '../../engine/stimulus/protocol.js';
import { BatchDispatch } from './batch-dispatch.js';
import type { BatchStage } from '../gpu/gpu-stage.js';
import { type FairQueue, WaitingLine } from './fair-queue.js';
import { QueuedRun, QueuedTrial, type QueuedResult, type QueuedTask } from './queued-task.js';
import { type Assignment, QueuePolicy } from './queue-policy.js';
import type { QueuedKind, V1RunTask } from '../pool/task.js';
import { WorkerSlot, type QueueWorker } from './worker-slot.js';

/**
 * After this a trial counts as hung, and its worker is ended. Normally the event budget ends a trial: with the
 * default one, the longest trials were measured to take about 4 s of CPU time.
 */
const HUNG_TRIAL_MS = 120_000;

export interface QueueOptions {
  /** Limit of runs that no worker has begun. */
  readonly limit: number;
  /** Ends a run, with its worker, if it computes longer. */
  readonly runTimeoutMs: number;
  /** Ends a trial, with its worker, if it computes longer; Infinity for no limit. */
  readonly trialTimeoutMs?: number;
  /** False if there are no runs: trials then use every worker. */
  readonly keepsWorkerForRuns?: boolean;
  /** The GPU. */
  readonly batches?: {
    readonly stage: BatchStage;
    /** Builds the protocol of a run; called when the run is first offered to the GPU. */
    readonly protocolOf: (run: V1RunTask) => Protocol;
  };
}

export interface SubmittedRun {
  readonly result: Promise<QueuedResult>;
  /**
   * Withdraws the run if no worker has begun it yet.
   * @returns true if it was withdrawn
   */
  cancel(): boolean;
}

interface TrialOptions {
  /** The client to whom the trial is charged. */
  readonly owner: string;
  /**
   * Rejects the trial at once with the signal's reason. A worker that has begun it finishes it, and the result is
   * dropped.
   */
  readonly signal?: AbortSignal;
  /** True if nobody waits for the trial: it then runs only if no other trial needs the worker. */
  readonly isBackground?: boolean;
  /** Called if the trial failed, once no worker has it any more. */
  readonly onAbandoned?: () => void;
  /** Called with the computing time after the trial succeeded. */
  readonly onComputed?: (ms: number) => void;
}

export class ExperimentQueue {
  readonly #runs: WaitingLine<QueuedRun>;
  /** Trials that somebody waits for. */
  readonly #urgentTrials: WaitingLine<QueuedTrial>;
  readonly #backgroundTrials: WaitingLine<QueuedTrial>;
  readonly #batches: BatchDispatch | undefined;
  readonly #slots: readonly WorkerSlot[];
  readonly #policy: QueuePolicy;

  constructor(
    workers: readonly QueueWorker[],
    private readonly options: QueueOptions,
  ) {
    const gpuComesFirst = () => this.#gpuComesFirst;
    this.#runs = new WaitingLine('arrival', gpuComesFirst);
    this.#urgentTrials = new WaitingLine('fair', gpuComesFirst);
    this.#backgroundTrials = new WaitingLine('fair', gpuComesFirst, true);
    const dispatch = () => this.dispatch();
    if (options.batches !== undefined) {
      const trials = [this.#urgentTrials, this.#backgroundTrials];
      this.#batches = new BatchDispatch(options.batches.stage, this.#runs, trials, dispatch);
    }
    const onSlow = (slow: WorkerSlot) => {
      takeBack([slow]);
      this.dispatch();
    };
    this.#slots = workers.map((worker) => new WorkerSlot(worker, dispatch, onSlow));
    this.#policy = new QueuePolicy(this.#slots, options.keepsWorkerForRuns !== false);
  }

  /** Number of runs that no worker has begun. */
  get waiting(): number {
    return this.#waitingRuns.length;
  }

  /** Number of runs that the workers compute. */
  get running(): number {
    return this.#computing('v1-run');
  }

  get hasRuns(): boolean {
    return this.waiting + this.running > 0;
  }

  /** Numbers of trials that have no worker, and of those being computed. Prefetched ones are in neither. */
  get trials(): { readonly waiting: number; readonly running: number } {
    const waiting = this.#urgentTrials.size + this.#backgroundTrials.size;
    return { waiting, running: this.#computing('v2-trial') };
  }

  /** True if a background trial would find a worker now. */
  get hasRoomForBackground(): boolean {
    return this.#urgentTrials.size === 0 && this.#runs.next.peek() === undefined;
  }

  /** Maximum number of trials computed at the same time, light ones of the reserved worker excluded. */
  get trialsAtOnce(): number {
    return this.#policy.trialsAtOnce;
  }

  /** True if any worker computes. */
  get isComputing(): boolean {
    return this.#slots.some(({ current }) => current !== undefined);
  }

  /** Number of trials that keeps the GPU and every worker of trials busy. */
  get trialsInFlight(): number {
    return 2 * this.trialsAtOnce + (this.options.batches?.stage.tasksAhead ?? 0);
  }

  /**
   * @param owner the client to whom the waiting run is counted
   * @throws CodedError QUEUE_FULL if too many runs wait, in total or of this owner
   */
  submit(task: V1RunTask, owner: string): SubmittedRun {
    const { runTimeoutMs, batches } = this.options;
    const idle = this.#gpuComesFirst ? undefined : this.#policy.freeSlot;
    if (idle === undefined) this.#checkRoom(owner);
    const run = new QueuedRun(task, owner, runTimeoutMs, this.#runs, batches?.protocolOf);
    if (idle === undefined) {
      this.#runs.add(run);
      this.dispatch();
    } else {
      idle.hand(run);
    }
    return { result: run.answer, cancel: () => this.#cancel(run) };
  }

  /**
   * Computes a trial after all runs that need the worker. Callers must limit how many they submit; see
   * trialsInFlight.
   * @param step present if the task is a step of a session; see runStep
   * @throws CodedError the failure of the trial; WORKER_LOST if two workers died during it; DEADLINE_PASSED if it
   *   hung; the reason of the signal
   */
  async runTrial(task: TrialTask, options: TrialOptions, step?: SessionStep): Promise<TrialResult> {
    const { owner, signal, isBackground = false, onComputed, onAbandoned } = options;
    signal?.throwIfAborted();
    const { trialTimeoutMs = HUNG_TRIAL_MS } = this.options;
    const line = isBackground ? this.#backgroundTrials : this.#urgentTrials;
    const trial = new QueuedTrial(task, owner, trialTimeoutMs, line, step);
    const abort = () => this.#abort(trial, signal!.reason);
    if (signal !== undefined) {
      // Every trial of an experiment adds a listener; Node would warn at more than ten.
      setMaxListeners(Infinity, signal);
      signal.addEventListener('abort', abort);
    }
    line.add(trial);
    this.dispatch();
    try {
      const result = await trial.answer;
      onComputed?.(trial.computedMs);
      return result;
    } catch (error) {
      if (trial.flag === undefined) onAbandoned?.();
      else trial.onAbandoned = onAbandoned;
      throw error;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Computes a step of a session, in the same order as trials. */
  async runStep(task: TrialTask, step: SessionStep, options: TrialOptions): Promise<StepResult> {
    return (await this.runTrial(task, options, step)) as StepResult;
  }

  /** Gives workers all tasks that they can take. Call it too if the GPU became available or was lost. */
  dispatch(): void {
    const policy = this.#policy;
    this.#batches?.start();
    this.#assignAll(this.#runs, (runs) => policy.nextRun(runs));
    takeBack(policy.inTheWay(this.#runs.next, this.#urgentTrials.next));
    // If a run found no worker, trials find none either.
    if (this.#runs.next.peek() === undefined) this.#dispatchTrials();
  }

  #dispatchTrials(): void {
    const policy = this.#policy;
    const [urgent, background] = [this.#urgentTrials, this.#backgroundTrials];
    this.#assignAll(urgent, (trials) => policy.nextTrial(trials));
    const light = policy.nextLightTrial(urgent.next);
    if (light !== undefined) this.#assign(light, urgent);
    if (urgent.next.peek() !== undefined) {
      takeBack(policy.prefetchingBackground());
      return;
    }
    this.#assignAll(background, (trials) => policy.nextTrial(trials));
    this.#employIdleWorkers();
  }

  get #gpuComesFirst(): boolean {
    return this.options.batches?.stage.isReady === true;
  }

  #computing(kind: QueuedKind): number {
    return this.#slots.filter(({ current }) => current?.kind === kind).length;
  }

  /** Runs that no worker has begun, prefetched ones included. */
  get #waitingRuns(): QueuedTask[] {
    const prefetched = this.#slots.flatMap((slot) => slot.prefetched ?? []);
    return [...this.#runs.all(), ...prefetched.filter(({ kind }) => kind === 'v1-run')];
  }

  /**
   * One client may have half of all waiting runs.
   * @throws CodedError QUEUE_FULL
   */
  #checkRoom(owner: string): void {
    const { limit } = this.options;
    const waiting = this.#waitingRuns;
    if (waiting.length >= limit) throw queueFull(`${limit} runs are waiting`);
    const ofClient = Math.max(1, Math.floor(limit / 2));
    if (waiting.filter((run) => run.owner === owner).length >= ofClient) {
      throw queueFull(`${ofClient} runs of this client are waiting`);
    }
  }

  #cancel(run: QueuedRun): boolean {
    const isWithdrawn = run.flag === undefined ? !run.isSettled : run.withdraw();
    if (!isWithdrawn) return false;
    run.line.delete(run);
    run.reject(new CodedError('RUN_CANCELLED', 'Every client that waited for this run has disconnected.'));
    this.dispatch();
    return true;
  }

  #abort(trial: QueuedTrial, reason: unknown): void {
    trial.line.delete(trial);
    if (trial.withdraw()) trial.settleCharge(0);
    trial.reject(reason);
    // The signal aborts many trials: dispatch once after all of them are removed.
    queueMicrotask(() => this.dispatch());
  }

  #assignAll(
    line: WaitingLine<QueuedTask>,
    nextOf: (waiting: FairQueue<QueuedTask>) => Assignment | undefined,
  ): void {
    for (let next = nextOf(line.next); next !== undefined; next = nextOf(line.next)) this.#assign(next, line);
  }

  #assign({ task, slot, isReserved }: Assignment, line: WaitingLine<QueuedTask>): void {
    line.take(task);
    if (task instanceof QueuedTrial) {
      task.isOnReservedWorker = isReserved === true;
      task.charge();
    }
    slot.hand(task);
  }

  /** Moves prefetched tasks from busy workers to idle ones. */
  #employIdleWorkers(): void {
    for (const { prefetched } of this.#slots) {
      if (prefetched === undefined) continue;
      const idle = this.#policy.idleSlotFor(prefetched);
      if (idle === undefined || !prefetched.withdraw()) continue;
      if (prefetched instanceof QueuedTrial) prefetched.isOnReservedWorker = false;
      idle.hand(prefetched);
    }
  }
}

/** Puts prefetched tasks back into their lines, so that the first free worker gets them. */
function takeBack(slots: readonly WorkerSlot[]): void {
  for (const { prefetched } of slots) if (prefetched?.withdraw()) prefetched.putBack();
}
