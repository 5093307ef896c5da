/** Runs conditions of a plan, trials of several at once. */
import { groupKindOf } from '../kinds/report-kinds.js';
import { isEventReading } from '../kinds/reports/event-table.js';
import type { Condition, ConditionExtent, ExperimentPlan } from '../plan/plan.js';
import type { ConditionTask, TrialReading } from '../plan/trial.js';
import type { Baselines } from './baselines.js';
import { ConditionSum } from './condition-counts.js';
import type { ConditionOutcome, RunOutcome } from './outcomes.js';
import type { RowFilter } from './pages.js';
import { inOneGo, type Turn } from './turn.js';

/**
 * Computes a trial. It ends its work, or rejects, when the signal is aborted.
 * @param task the same object for all trials of a condition
 */
export type RunTrial = (task: ConditionTask, trial: number, signal: AbortSignal) => Promise<TrialReading>;

export interface RunOptions {
  /** Ends the run, which then throws the reason of the signal. */
  readonly signal?: AbortSignal;
  /** Trials that are under way at once, at least 1; a function where that changes. */
  readonly inFlight: number | (() => number);
  /** Rewired networks whose trials are under way at once: as many as workers, each of which prepares its own; by default 1. */
  readonly wiringsAtOnce?: () => number;
  /** Called whenever a trial begins or ends, or what is wanted becomes less. */
  readonly onProgress?: (progress: ExperimentProgress) => void;
  /** Readings are added up in turns of the thread. */
  readonly turn?: Turn;
}

export interface ExperimentProgress {
  /** Trials in all; fewer once it is known that lesions change nothing, fewer groups responded, or the page is full. */
  readonly trials: number;
  readonly trialsDone: number;
}

/** Part of the conditions that is wanted. */
export interface RunExtent extends ConditionExtent {
  /** Decides which trials' rows are kept; without it all are. */
  readonly rows?: RowFilter;
  /** The first trial of the first condition; given where nothing but rows is wanted. */
  readonly fromTrial?: number;
}

/** Trials that are begun before the oldest unfinished one, for each that is computed at once: bounds what waits. */
const AHEAD = 2;

interface OpenCondition {
  readonly condition: Condition;
  readonly task: ConditionTask;
  readonly sum: ConditionSum;
  nextTrial: number;
  /** Trials that are under way. */
  running: number;
  /** When all its trials are summed up. */
  outcome?: RunOutcome;
}

interface OpenTrial {
  readonly open: OpenCondition;
  readonly trial: number;
  /** When it has ended. */
  reading?: TrialReading;
}

/** Memory holds the readings of a few trials and the sums of a few conditions. */
export class ConditionRun {
  readonly #stop = new AbortController();
  readonly #forwardAbort = () => this.#fail(this.options.signal!.reason);
  /** Trials that were begun and are not yet summed up, oldest first. */
  readonly #openTrials: OpenTrial[] = [];
  /** Conditions that need not be run, as was found since the last one was given. */
  readonly #notRun: (readonly [index: number, outcome: ConditionOutcome])[] = [];
  #running = 0;
  #failure: { readonly reason: unknown } | undefined;
  /** Called when a trial ends or the run fails. */
  #wake = () => {};
  /** Place of the next condition among the indices. */
  #next = 0;
  /** Conditions whose outcomes were not given, in their order. */
  readonly #opened: OpenCondition[] = [];
  #trials: number;
  #trialsBegun = 0;
  #trialsDone = 0;

  /** @param indices of conditions in an order in which the baselines can decide on each of them */
  constructor(
    private readonly plan: ExperimentPlan,
    private readonly baselines: Baselines,
    private readonly indices: readonly number[],
    private readonly runTrial: RunTrial,
    private readonly options: RunOptions,
    private readonly extent: RunExtent = plan,
  ) {
    this.#trials = plan.trials * indices.length - this.#firstTrial(plan.grid.indexOf(extent.from ?? 0));
    const { signal } = options;
    if (signal?.aborted) this.#fail(signal.reason);
    else signal?.addEventListener('abort', this.#forwardAbort, { once: true });
  }

  /**
   * Conditions in the order of the indices, which is not the order in which their trials end, and each that is not run
   * as soon as that is known.
   * @throws what a trial rejects with; no further trial is begun then
   */
  async *outcomes(): AsyncGenerator<readonly [index: number, outcome: ConditionOutcome], void, void> {
    const { turn = inOneGo } = this.options;
    try {
      for (;;) {
        this.#begin();
        yield* this.#notRun.splice(0);
        const oldest = this.#openTrials[0];
        // Trials under way are not waited for: any of them may be the one that failed.
        if (this.#failure !== undefined) throw this.#failure.reason;
        if (oldest === undefined) break;
        if (oldest.reading === undefined) {
          await new Promise<void>((resolve) => (this.#wake = resolve));
          continue;
        }
        this.#openTrials.shift();
        const { reading } = oldest;
        await turn(() => this.#sumUp(oldest, reading));
        if (this.#isBehindPage(oldest.open.condition.index)) return;
        while (this.#opened[0]?.outcome !== undefined) {
          const { outcome, condition } = this.#opened.shift()!;
          this.#begin();
          yield [condition.index, outcome!];
        }
      }
      if (this.#next < this.indices.length && !this.#isFull) {
        throw new Error(`condition ${this.indices[this.#next]} was to be run before those that decide on it`);
      }
    } finally {
      // Trials that were not begun never are; those under way are told, if there are any: a reason with its stack takes long.
      this.options.signal?.removeEventListener('abort', this.#forwardAbort);
      if (this.#trialsDone < this.#trials) this.#stop.abort();
    }
  }

  get #inFlight(): number {
    const { inFlight } = this.options;
    return typeof inFlight === 'number' ? inFlight : inFlight();
  }

  /** Tells whether the page is full: nothing but the rest of a condition is wanted then. */
  get #isFull(): boolean {
    return this.extent.rows?.next !== undefined;
  }

  #begin(): void {
    while (
      !this.#stop.signal.aborted &&
      this.#running < this.#inFlight &&
      this.#openTrials.length < AHEAD * this.#inFlight
    ) {
      const open = this.#inTurn();
      if (open === undefined) return;
      const openTrial: OpenTrial = { open, trial: open.nextTrial++ };
      this.#trialsBegun++;
      this.#openTrials.push(openTrial);
      void this.#run(openTrial);
    }
  }

  /**
   * The condition of the next trial. A worker has one rewired network at a time, so several of these are under way at once:
   * next is the one with the fewest trials, whose worker waits for more.
   */
  #inTurn(): OpenCondition | undefined {
    while (this.#current.length < this.#openAtOnce) {
      const opened = this.#open();
      if (opened === undefined) break;
      this.#opened.push(opened);
    }
    const [first, ...others] = this.#current;
    return others.reduce((fewest, each) => (each.running < fewest!.running ? each : fewest), first);
  }

  /** Conditions with trials that were not begun, which take turns. A full page wants only the rest of its last one. */
  get #current(): OpenCondition[] {
    const { next } = this.extent.rows ?? {};
    return this.#opened.filter(
      ({ nextTrial, condition: { index } }) =>
        nextTrial < this.plan.trials &&
        (next === undefined || this.plan.grid.conditionOf(index) === next.condition),
    );
  }

  get #openAtOnce(): number {
    const isOfGroups = this.extent.reports.every(({ document }) => groupKindOf(document) !== undefined);
    // Rows of events come in the order of conditions.
    const isRewired = isOfGroups && this.#current.some(({ task }) => task.protocol.wiring !== undefined);
    return isRewired ? (this.options.wiringsAtOnce?.() ?? 1) : 1;
  }

  /** @returns undefined where there is none, or where it depends on a baseline that is under way */
  #open(): OpenCondition | undefined {
    const { plan, extent } = this;
    for (; this.#next < this.indices.length; this.#next++) {
      const index = this.indices[this.#next]!;
      // A full page still wants the controls of its last condition.
      if (this.#isFull && (plan.grid.controlOf(index) === 0 || this.#isBehindPage(index))) return undefined;
      const decision = this.baselines.decide(index);
      if (decision.kind === 'undecided') return undefined;
      if (decision.kind === 'run') {
        this.#next++;
        const read = plan.reportsOf(index, extent.reports);
        const condition = plan.condition(index, decision.values, { ...extent, reports: read });
        const { index: _index, parameters: _parameters, ...task } = condition;
        return {
          condition,
          task,
          sum: new ConditionSum(plan, condition, read),
          nextTrial: this.#firstTrial(index),
          running: 0,
        };
      }
      this.#trials -= plan.trials;
      this.#notRun.push([
        index,
        decision.kind === 'absent'
          ? decision
          : { kind: 'unchanged', parameters: plan.parametersOf(decision.values) },
      ]);
    }
    return undefined;
  }

  #firstTrial(index: number): number {
    const { fromTrial = 0 } = this.extent;
    const { grid } = this.plan;
    const isFirst = fromTrial > 0 && index === grid.indexOf(this.extent.from ?? 0);
    return isFirst ? grid.firstTrial(index, fromTrial) : 0;
  }

  #isBehindPage(index: number): boolean {
    return this.extent.rows?.endsBefore?.(this.plan.grid.conditionOf(index)) === true;
  }

  /** Never rejects. */
  async #run(openTrial: OpenTrial): Promise<void> {
    this.#running++;
    openTrial.open.running++;
    this.#tell();
    try {
      openTrial.reading = await this.runTrial(openTrial.open.task, openTrial.trial, this.#stop.signal);
      this.#trialsDone++;
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#running--;
      openTrial.open.running--;
    }
    if (this.#failure !== undefined) return;
    this.#tell();
    this.#begin();
    this.#wake();
  }

  #tell(): void {
    const rest = this.#current.reduce((sum, { nextTrial }) => sum + this.plan.trials - nextTrial, 0);
    const trials = this.#isFull ? this.#trialsBegun + rest : this.#trials;
    this.options.onProgress?.({ trials, trialsDone: this.#trialsDone });
  }

  /** Gives its condition an outcome where it was the last of its trials, or the last that is wanted. */
  #sumUp({ open, trial }: OpenTrial, reading: TrialReading): void {
    const { rows, fromTrial } = this.extent;
    const { index } = open.condition;
    const { grid } = this.plan;
    const condition = grid.conditionOf(index);
    const keepsRows = grid.controlOf(index) > 0 || (rows?.keeps(condition, trial, rowsIn(reading)) ?? true);
    open.sum.add(trial, reading, keepsRows);
    if (this.#isFull) this.#tell();
    if (trial < this.plan.trials - 1 && !(this.#isFull && fromTrial !== undefined)) return;
    const outcome = open.sum.outcome();
    if (outcome.spikesOfAll !== undefined) this.baselines.conclude(index, outcome.spikesOfAll);
    open.outcome = outcome;
  }

  #fail(reason: unknown): void {
    this.#failure ??= { reason };
    this.#stop.abort(reason);
    this.#wake();
  }
}

function rowsIn({ reports }: TrialReading): number {
  return reports.reduce((sum, report) => sum + (isEventReading(report) ? report.rows : 0), 0);
}
