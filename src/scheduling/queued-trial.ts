import { coreMs, expectedWork } from '../experiments/plan/prices.js';
import {
  isProgress,
  recordingsOf,
  type SessionStep,
  type TrialProgress,
  type TrialReading,
  type TrialTask,
} from '../experiments/plan/trial.js';
import type { Trial } from '../simulation/simulation.js';
import { isPlain, MAXIMUM_TRIAL_STEPS } from '../stimulus/protocol.js';
import type { BatchTask } from './gpu/gpu-stage.js';
import { QueuedTask, type Loss } from './queued-task.js';
import type { V2TrialTask } from './task.js';
import type { WaitingLine } from './waiting-line.js';

/** A trial that was computed whenever its worker ended, so many times, is taken for the cause. */
const MAX_WORKERS_KILLED = 2;
/** A trial is light where, as far as is known before, it takes no more than this of a core. */
const LIGHT_MS = 3;
/** And not more synaptic events: some 3 ms. */
const LIGHT_SYNAPTIC_EVENTS = 750_000;

/** A trial of version 2. */
export class QueuedTrial extends QueuedTask<V2TrialTask, TrialReading> {
  override readonly batchTask: BatchTask;
  override readonly isForGpu: boolean;
  override readonly wiring: string | undefined;
  /** How long its worker took, and its share of a batch on the GPU. */
  computedMs = 0;
  /** True where it has, or had, the worker that is kept for runs, with a small event budget. */
  isOnReservedWorker = false;
  /** True where it is not light. */
  #isHeavy = false;
  readonly #expectedMs: number;
  /** Charge of its owner for what is not done. */
  #chargedMs = 0;
  #begunMs = 0;

  /** @param group trials of one group are alike  @param step where it is one of a session */
  constructor(
    trial: TrialTask,
    owner: string,
    group: object | string,
    timeoutMs: number,
    line: WaitingLine<QueuedTrial>,
    step?: SessionStep,
  ) {
    super({ kind: 'v2-trial', trial, ...(step && { step }) }, owner, timeoutMs, line, MAX_WORKERS_KILLED);
    const { durationSteps } = trial.protocol;
    const share = step === undefined ? 1 : (step.endStep - step.startStep) / durationSteps;
    this.#expectedMs = share * coreMs(expectedWork(trial)) + coreMs(trial.preparation ?? {});
    const isLong = step === undefined && durationSteps > MAXIMUM_TRIAL_STEPS;
    this.#isHeavy = isLong || this.#expectedMs > LIGHT_MS;
    this.batchTask = { protocol: trial.protocol, group };
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

  /** True where it is a step of a session, which has to keep up with a clock. */
  get isStep(): boolean {
    return this.ownTask.step !== undefined;
  }

  /** True where the worker that is kept for runs may compute it. */
  get isLight(): boolean {
    return !this.#isHeavy && !this.isPrepared && this.losses === 0;
  }

  get #triedBudget(): number {
    return Math.min((this.ownTask.step?.synapticEvents ?? 0) + LIGHT_SYNAPTIC_EVENTS, this.#ownBudget);
  }

  /** The budget that it may have in any of its steps. */
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

  override resolve(result: TrialReading | TrialProgress): void {
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
      return;
    }
    if (!this.isSettled) this.putBack();
  }

  override putBack(): void {
    this.settleCharge(0);
    this.isOnReservedWorker = false;
    super.putBack();
  }

  /** Charges its owner what it is expected to take, when a worker gets it. */
  charge(): void {
    this.#chargedMs = this.#expectedMs;
    this.line.charge(this, this.#expectedMs);
  }

  /** Replaces what was charged by what it took. */
  settleCharge(tookMs: number): void {
    this.line.charge(this, tookMs - this.#chargedMs);
    this.#chargedMs = 0;
  }

  override lose(loss: Loss): void {
    if (loss.isUnderWay) this.#endWork();
    super.lose(loss);
  }

  /** Its worker computes it no longer. */
  #endWork(): void {
    const tookMs = performance.now() - this.#begunMs;
    this.computedMs += tookMs;
    this.settleCharge(tookMs);
  }
}
