/** Tasks in the queue: runs of version 1 and trials of version 2. */
import { CodedError } from '../../engine/errors.js';
import type { Trial } from '../../engine/simulation/simulation.js';
import { isPlain, MAX_WHOLE_TRIAL_STEPS, type Protocol } from '../../engine/stimulus/protocol.js';
import { coreMs, expectedWork } from '../../experiments/plan/prices.js';
import {
  isProgress,
  recordingsOf,
  type SessionStep,
  type TrialProgress,
  type TrialResult,
  type TrialTask,
} from '../../experiments/plan/trial.js';
import { MAX_DEATHS_OF_RUN, MAX_DEATHS_OF_TRIAL, MAX_LOSSES } from '../pool/retries.js';
import {
  withdrawTask,
  type CancellationFlag,
  type ResultOf,
  type V1RunResult,
  type V1RunTask,
  type V2TrialTask,
} from '../pool/task.js';
import type { WaitingLine } from './fair-queue.js';

/** A trial is light if its estimated CPU time is at most this … */
const LIGHT_MS = 3;
/** … and if it needs no more synaptic events than these, about 3 ms. */
const LIGHT_SYNAPTIC_EVENTS = 750_000;

/** How a worker ended before it answered a task. */
export interface Loss {
  readonly error: CodedError;
  /** True if the queue ended the worker because this task took too long. */
  readonly isOverdue: boolean;
  /** True if the worker was computing this task. */
  readonly isUnderWay: boolean;
  /** True if no successor replaces the worker. */
  readonly isFinal: boolean;
}

/**
 * A task in the queue: the common part of a run of version 1 and a trial of version 2. Each worker that receives it
 * reports the end with exactly one call of resolve, reject or lose.
 */
export abstract class QueuedTask<
  Task extends V1RunTask | V2TrialTask = V1RunTask | V2TrialTask,
  Result = unknown,
> {
  /** Flag shared with the worker that has it; undefined while no worker has it. */
  flag: CancellationFlag | undefined;
  /** True if only a worker may take it: the GPU has tried it, or a worker died with it. */
  isPrepared = false;
  /** True while it is in the reserved worker, which computes with a small event budget. */
  isOnReservedWorker = false;
  /** Called after its worker finished, if the task had failed before. */
  onAbandoned: (() => void) | undefined;
  readonly isStep: boolean = false;
  /** The rewired network that it needs, as text; undefined for the network of the model. */
  readonly wiring: string | undefined = undefined;
  /** False if the GPU cannot simulate it. */
  readonly isForGpu: boolean = true;
  /** Number of workers that ended while they had it. After one it is not prefetched again. */
  losses = 0;
  /** Settles with the client's answer. */
  readonly answer: Promise<Result>;
  /** True if the client has its answer. */
  isSettled = false;
  #workersKilled = 0;
  #settle!: { resolve(result: Result): void; reject(error: unknown): void };

  /**
   * @param timeoutMs the worker is ended if it computes longer; Infinity for no limit
   * @param line the line in which it waits for a worker
   * @param maxWorkersKilled after this many workers died while they computed it, the task counts as the cause and
   *   fails
   */
  constructor(
    protected ownTask: Task,
    readonly owner: string,
    readonly timeoutMs: number,
    readonly line: WaitingLine<QueuedTask>,
    private readonly maxWorkersKilled: number,
  ) {
    this.answer = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
  }

  get task(): Task {
    return this.ownTask;
  }

  get kind(): Task['kind'] {
    return this.ownTask.kind;
  }

  get isBackground(): boolean {
    return this.line.isBackground;
  }

  /** True if the reserved worker may compute it. */
  get isLight(): boolean {
    return false;
  }

  /** The protocol for the GPU. */
  abstract readonly protocol: Protocol;
  abstract resolve(result: ResultOf[Task['kind']]): void;

  /** Called when its worker begins it. */
  begin(): void {}

  /**
   * Takes the result of a GPU batch.
   * @param simulated undefined if the GPU could not simulate it
   * @param batchMs time of the whole batch
   */
  abstract prepare(simulated: Trial | undefined, batchMs: number, batchLength: number): void;

  /**
   * Takes it back from its worker.
   * @returns true if the worker had not begun it, and now never will
   */
  withdraw(): boolean {
    if (this.flag === undefined || !withdrawTask(this.flag)) return false;
    this.flag = undefined;
    return true;
  }

  /** Puts it back into its line, before all others of its owner. */
  putBack(): void {
    this.line.putBack(this);
  }

  /** Called if the task itself failed. */
  reject(error: unknown): void {
    this.isSettled = true;
    this.#settle.reject(error);
  }

  lose({ error, isOverdue, isUnderWay, isFinal }: Loss): void {
    // Its client left while the worker computed it.
    if (this.isSettled) return;
    this.losses++;
    if (isUnderWay) this.#workersKilled++;
    if (isOverdue) {
      const what = this.kind === 'v1-run' ? 'run' : 'trial';
      const message = `The ${what} was stopped after computing for more than ${this.timeoutMs} ms.`;
      this.reject(new CodedError('DEADLINE_PASSED', message, { cause: error }));
    } else if (isFinal || this.#workersKilled === this.maxWorkersKilled || this.losses === MAX_LOSSES) {
      this.reject(error);
    } else {
      // The task may have killed its worker. Only a worker may try it again, because a crash of the GPU process costs
      // more.
      this.isPrepared = true;
      this.putBack();
    }
  }

  protected settle(result: Result): void {
    this.isSettled = true;
    this.#settle.resolve(result);
  }

  protected takeSimulated(simulated: Trial | undefined): void {
    this.isPrepared = true;
    if (simulated !== undefined) this.ownTask = { ...this.ownTask, simulated };
  }
}

export interface QueuedResult extends V1RunResult {
  /** Time beside computing: waiting, and messages to the worker and back. */
  readonly queueMs: number;
}

/** A run of version 1. */
export class QueuedRun extends QueuedTask<V1RunTask, QueuedResult> {
  #protocol: Protocol | undefined;
  /** Time that the GPU took for the whole batch. */
  #gpuMs = 0;
  readonly #arrivedMs = performance.now();

  constructor(
    task: V1RunTask,
    owner: string,
    timeoutMs: number,
    line: WaitingLine<QueuedRun>,
    private readonly protocolOf: ((task: V1RunTask) => Protocol) | undefined,
  ) {
    super(task, owner, timeoutMs, line, MAX_DEATHS_OF_RUN);
  }

  /** Built when the run is first offered to the GPU. */
  override get protocol(): Protocol {
    return (this.#protocol ??= this.protocolOf!(this.task));
  }

  override prepare(simulated: Trial | undefined, batchMs: number): void {
    this.takeSimulated(simulated);
    if (simulated !== undefined) this.#gpuMs = batchMs;
  }

  override resolve(result: V1RunResult): void {
    const timings = { ...result.timings, simulateMs: result.timings.simulateMs + this.#gpuMs };
    const computedMs = timings.simulateMs + timings.serialiseMs;
    const queueMs = Math.max(0, performance.now() - this.#arrivedMs - computedMs);
    this.settle({ ...result, timings, queueMs });
  }
}

/** A trial of version 2. */
export class QueuedTrial extends QueuedTask<V2TrialTask, TrialResult> {
  override readonly isForGpu: boolean;
  override readonly wiring: string | undefined;
  /** True for a step of a session, which must keep up with a clock. */
  override readonly isStep: boolean;
  /** Computing time so far: of its workers, and its share of a GPU batch. */
  computedMs = 0;
  /** False if the reserved worker may try it; see isLight. */
  #isHeavy = false;
  readonly #expectedMs: number;
  /** Estimate that the owner is charged until the real time is known. */
  #chargedMs = 0;
  #begunMs = 0;

  /** @param step present if the task is a step of a session; `trial.expected` is then the work of the step */
  constructor(
    trial: TrialTask,
    owner: string,
    timeoutMs: number,
    line: WaitingLine<QueuedTrial>,
    step?: SessionStep,
  ) {
    super({ kind: 'v2-trial', trial, ...(step && { step }) }, owner, timeoutMs, line, MAX_DEATHS_OF_TRIAL);
    const { durationSteps } = trial.protocol;
    this.#expectedMs = coreMs(expectedWork(trial)) + coreMs(trial.preparation ?? {});
    const isLong = step === undefined && durationSteps > MAX_WHOLE_TRIAL_STEPS;
    this.#isHeavy = isLong || this.#expectedMs > LIGHT_MS;
    this.isStep = step !== undefined;
    const { wiring } = trial.protocol;
    this.wiring = wiring && JSON.stringify(wiring);
    this.isForGpu =
      step === undefined && !isLong && isPlain(trial.protocol) && recordingsOf(trial).length === 0;
  }

  override get task(): V2TrialTask {
    if (!this.isOnReservedWorker || this.#triedBudget === this.#ownBudget) return this.ownTask;
    const { trial } = this.ownTask;
    const { eventBudgetPerStep: _, ...own } = trial.protocol;
    const protocol = { ...own, eventBudget: this.#triedBudget };
    return { ...this.ownTask, trial: { ...trial, protocol } };
  }

  override get protocol(): Protocol {
    return this.ownTask.trial.protocol;
  }

  override get isLight(): boolean {
    return !this.#isHeavy && !this.isPrepared && this.losses === 0;
  }

  get #triedBudget(): number {
    return Math.min((this.ownTask.step?.synapticEvents ?? 0) + LIGHT_SYNAPTIC_EVENTS, this.#ownBudget);
  }

  /** The full event budget: the larger one of the fixed budget and the budget for each step so far. */
  get #ownBudget(): number {
    const { trial, step } = this.ownTask;
    const { eventBudget = Infinity, eventBudgetPerStep = 0 } = trial.protocol;
    return Math.max(eventBudget, eventBudgetPerStep * (step?.startStep ?? 0));
  }

  override prepare(simulated: Trial | undefined, batchMs: number, batchLength: number): void {
    this.takeSimulated(simulated);
    this.computedMs = batchMs / batchLength;
  }

  override begin(): void {
    this.#begunMs = performance.now();
  }

  override resolve(result: TrialResult | TrialProgress): void {
    this.#endWork();
    if (isProgress(result)) {
      this.ownTask = { ...this.ownTask, progress: result };
    } else if (
      this.isOnReservedWorker &&
      result.stoppedAtStep !== undefined &&
      this.#triedBudget < this.#ownBudget
    ) {
      this.#isHeavy = true;
    } else {
      this.settle(result);
    }
    if (!this.isSettled) this.putBack();
  }

  override putBack(): void {
    this.settleCharge(0);
    this.isOnReservedWorker = false;
    super.putBack();
  }

  /** Charges the owner the estimated time when a worker gets the trial. */
  charge(): void {
    this.#chargedMs = this.#expectedMs;
    this.line.charge(this, this.#expectedMs);
  }

  /** Replaces the estimated charge with the real time. */
  settleCharge(tookMs: number): void {
    this.line.charge(this, tookMs - this.#chargedMs);
    this.#chargedMs = 0;
  }

  override lose(loss: Loss): void {
    if (loss.isUnderWay) this.#endWork();
    super.lose(loss);
  }

  /** Called when its worker has stopped computing it. */
  #endWork(): void {
    // A worker that was being ended may still answer a task that was never begun.
    const tookMs = this.#begunMs === 0 ? 0 : performance.now() - this.#begunMs;
    this.#begunMs = 0;
    this.computedMs += tookMs;
    this.settleCharge(tookMs);
  }
}
