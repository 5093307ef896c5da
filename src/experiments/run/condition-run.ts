/** Runs cells of a plan (conditions and controls) and yields their results in order. Several trials are under way at once. */
import type { InParts } from '../../engine/parts.js';
import { groupKindOf } from '../kinds/report-kinds.js';
import { isEventResult } from '../kinds/reports/event-table.js';
import type { Condition, ConditionExtent, ExperimentPlan } from '../plan/plan.js';
import type { ConditionTask, TrialResult } from '../plan/trial.js';
import type { Baselines } from './baselines.js';
import { ConditionSum } from './condition-counts.js';
import type { ConditionResult, RunConditionResult } from './condition-result.js';
import type { RowFilter } from './pages.js';
import { inOneGo, inTurns, type Turn } from './turn.js';

/**
 * Computes a trial. After an abort of the signal it must soon resolve or reject.
 * @param task the same object for all trials of a cell
 */
export type RunTrial = (task: ConditionTask, trial: number, signal: AbortSignal) => Promise<TrialResult>;

export interface RunOptions {
  /** Ends the run. It then throws the signal's reason. */
  readonly signal?: AbortSignal;
  /** Number of trials under way at once, at least 1; a function if the number changes. */
  readonly inFlight: number | (() => number);
  /** Number of rewired networks under way at once. Each worker prepares its own, so use the number of workers. Default 1. */
  readonly wiringsAtOnce?: () => number;
  /** Called if a trial begins or ends, or fewer trials are needed than before. */
  readonly onProgress?: (progress: ExperimentProgress) => void;
  /** Draws controls and adds results up in turns of the thread. */
  readonly turn?: Turn;
}

export interface ExperimentProgress {
  /** All trials. The number falls if lesions change nothing, fewer groups respond, or the page is full. */
  readonly trials: number;
  readonly trialsDone: number;
}

/** The part of an experiment to run. */
export interface RunExtent extends ConditionExtent {
  /** Decides which trials keep their rows; without it all do. */
  readonly rows?: RowFilter;
  /** The first trial of the first condition. Set only if the answer has nothing but rows of events. */
  readonly fromTrial?: number;
}

/** Limits the cells with known results that wait for an earlier one, and the time to open them. */
const MAX_AWAITED = 1000;
/** Limits the memory of results that later cells may share. */
const MAX_SOURCES = 20_000;
/** Limits begun trials to this multiple of inFlight, so that results waiting for an older trial stay few. */
const AHEAD = 2;

/** A cell whose result comes from its own trials, or from a cell with the same neurons. */
interface AwaitedCell {
  readonly cell: number;
  readonly source: { readonly result?: RunConditionResult };
  readonly matched: RunConditionResult['matched'];
}

interface OpenCondition {
  readonly condition: Condition;
  readonly task: ConditionTask;
  readonly sum: ConditionSum;
  nextTrial: number;
  /** Number of trials under way. */
  running: number;
  /** Set after all its trials are added up. */
  result?: RunConditionResult;
}

interface OpenTrial {
  readonly open: OpenCondition;
  readonly trial: number;
  /** Set after it has ended. */
  trialResult?: TrialResult;
}

/** Holds in memory the results of a few trials and the sums of a few cells. */
export class ConditionRun {
  readonly #stop = new AbortController();
  readonly #forwardAbort = () => this.#fail(this.options.signal!.reason);
  /** Trials that have begun and are not added up yet, oldest first. */
  readonly #openTrials: OpenTrial[] = [];
  /** Cells that need not be run, and were not yielded yet. */
  readonly #notRun: (readonly [cell: number, result: ConditionResult])[] = [];
  /** Cells with small matched sets, by baseline and set. */
  readonly #sources = new Map<string, OpenCondition>();
  #running = 0;
  /** True while controls of the next cell are drawn. No cell is opened then. */
  #isDrawing = false;
  #failure: { readonly reason: unknown } | undefined;
  /** Called when a trial or a drawing ends, or the run fails. */
  #wake = () => {};
  /** Position of the next cell to open among `cells`. */
  #next = 0;
  /** Cells whose results were not yielded yet, in their order. */
  readonly #awaited: AwaitedCell[] = [];
  /** Those of them that are run. */
  readonly #opened: OpenCondition[] = [];
  #trials: number;
  #trialsBegun = 0;
  #trialsDone = 0;

  /** @param cells in an order in which deciders come before the cells that they decide */
  constructor(
    private readonly plan: ExperimentPlan,
    private readonly baselines: Baselines,
    private readonly cells: readonly number[],
    private readonly runTrial: RunTrial,
    private readonly options: RunOptions,
    private readonly extent: RunExtent = plan,
  ) {
    this.#trials = plan.trials * cells.length - this.#firstTrial(plan.grid.cellOf(extent.from ?? 0));
    const { signal } = options;
    if (signal?.aborted) this.#fail(signal.reason);
    else signal?.addEventListener('abort', this.#forwardAbort, { once: true });
  }

  /**
   * Yields results in the order of the cells, even if trials end in another order. A cell that need not be run may come
   * earlier, as soon as this is known.
   * @throws the error of the first trial that rejects; no further trial begins then
   */
  async *results(): AsyncGenerator<readonly [cell: number, result: ConditionResult], void, void> {
    try {
      for (;;) {
        this.#begin();
        yield* this.#notRun.splice(0);
        yield* this.#finished();
        const oldest = this.#openTrials[0];
        // Throw at once: the oldest trial may be the one that failed, and then it never gets a result.
        if (this.#failure !== undefined) throw this.#failure.reason;
        if (oldest === undefined && !this.#isDrawing) {
          // A drawing may have ended since the last results were yielded.
          if (this.#notRun.length === 0 && this.#awaited[0]?.source.result === undefined) break;
          continue;
        }
        if (oldest?.trialResult === undefined) {
          await new Promise<void>((resolve) => (this.#wake = resolve));
          continue;
        }
        this.#openTrials.shift();
        const { trialResult } = oldest;
        await this.#turn(() => this.#sumUp(oldest, trialResult));
        if (this.#isBehindPage(oldest.open.condition.cell)) return;
      }
      if (this.#next < this.cells.length && !this.#isFull) {
        throw new Error(`condition ${this.cells[this.#next]} was to be run before those that decide on it`);
      }
    } finally {
      // Stop the trials under way. If there are none, skip abort(), which is slow because it captures a stack.
      this.options.signal?.removeEventListener('abort', this.#forwardAbort);
      if (this.#trialsDone < this.#trials) this.#stop.abort();
    }
  }

  *#finished(): Generator<readonly [cell: number, result: ConditionResult], void, void> {
    for (let result; (result = this.#awaited[0]?.source.result) !== undefined;) {
      const { cell, source, matched } = this.#awaited.shift()!;
      if (this.#opened[0] === source) this.#opened.shift();
      this.#begin();
      yield [
        cell,
        matched === undefined ? result : { ...result, counts: { ...result.counts, index: cell }, matched },
      ];
    }
  }

  get #turn(): Turn {
    return this.options.turn ?? inOneGo;
  }

  get #inFlight(): number {
    const { inFlight } = this.options;
    return typeof inFlight === 'number' ? inFlight : inFlight();
  }

  /** Tells whether the page is full. Then only the rest of its last condition is needed. */
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
   * The cell of the next trial. A worker holds one rewired network at a time, so several rewired cells are open at once.
   * The one with the fewest trials under way goes next, because its worker waits for more.
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

  /** Open cells with trials to begin. If the page is full, only those of its last condition. */
  get #current(): OpenCondition[] {
    const { next } = this.extent.rows ?? {};
    return this.#opened.filter(
      ({ nextTrial, condition: { cell } }) =>
        nextTrial < this.plan.trials &&
        (next === undefined || this.plan.grid.conditionOf(cell) === next.condition),
    );
  }

  get #openAtOnce(): number {
    const isOfGroups = this.extent.reports.every(({ document }) => groupKindOf(document) !== undefined);
    // Pages fill with rows of events in the order of the cells, so then only one cell is open.
    const isRewired = isOfGroups && this.#current.some(({ task }) => task.protocol.wiring !== undefined);
    return isRewired ? (this.options.wiringsAtOnce?.() ?? 1) : 1;
  }

  /** Opens the next cell. @returns undefined if there is none, or if it depends on a baseline that is under way */
  #open(): OpenCondition | undefined {
    const { plan, extent } = this;
    for (; this.#next < this.cells.length; this.#next++) {
      const cell = this.cells[this.#next]!;
      if (this.#awaited.length >= MAX_AWAITED) return undefined;
      // A full page still needs the controls of its last condition.
      if (this.#isFull && (plan.grid.controlOf(cell) === 0 || this.#isBehindPage(cell))) return undefined;
      const decision = this.baselines.decide(cell);
      if (decision.kind === 'undrawn') void this.#draw(decision.drawing);
      if (decision.kind === 'undecided' || decision.kind === 'undrawn') return undefined;
      if (decision.kind === 'run') {
        const { matched } = decision;
        const known = this.#knownSource(cell, matched?.set);
        if (known !== undefined) {
          this.#trials -= plan.trials;
          this.#awaited.push({ cell, source: known, matched });
          continue;
        }
        this.#next++;
        const read = plan.reportsOf(cell, extent.reports);
        const condition = plan.condition(cell, decision.values, { ...extent, reports: read });
        const { cell: _cell, parameters: _parameters, ...task } = condition;
        const open: OpenCondition = {
          condition,
          task,
          sum: new ConditionSum(plan, condition, read),
          nextTrial: this.#firstTrial(cell),
          running: 0,
        };
        this.#awaited.push({ cell, source: open, matched });
        if (matched?.set && this.#sources.size < MAX_SOURCES) {
          this.#sources.set(plan.grid.nameOfSet(cell, matched.set), open);
        }
        return open;
      }
      this.#trials -= plan.trials;
      this.#notRun.push([
        cell,
        decision.kind === 'absent'
          ? decision
          : { kind: 'unchanged', parameters: plan.parametersOf(decision.values) },
      ]);
    }
    return undefined;
  }

  /** Never rejects. */
  async #draw(drawing: InParts<void>): Promise<void> {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    try {
      await inTurns((compute) => {
        this.#stop.signal.throwIfAborted();
        return this.#turn(compute);
      }, drawing);
      this.#isDrawing = false;
      this.#begin();
    } catch (error) {
      this.#fail(error);
    }
    this.#wake();
  }

  /** A source with the same neurons; the baseline if they never spike there. */
  #knownSource(cell: number, set: string | undefined): AwaitedCell['source'] | undefined {
    const { plan, extent } = this;
    if (set === undefined) return undefined;
    if (set !== '') return this.#sources.get(plan.grid.nameOfSet(cell, set));
    const { spikesOfAll: _, ...result } = this.baselines.resultBefore(cell);
    const read = plan.reportsOf(cell, extent.reports);
    const reports = result.counts.reports.filter((_, at) => read.includes(extent.reports[at]!));
    return { result: { ...result, counts: { ...result.counts, reports } } };
  }

  #firstTrial(cell: number): number {
    const { fromTrial = 0 } = this.extent;
    const { grid } = this.plan;
    const isFirst = fromTrial > 0 && cell === grid.cellOf(this.extent.from ?? 0);
    return isFirst ? grid.firstTrial(cell, fromTrial) : 0;
  }

  #isBehindPage(cell: number): boolean {
    return this.extent.rows?.endsBefore?.(this.plan.grid.conditionOf(cell)) === true;
  }

  /** Never rejects. */
  async #run(openTrial: OpenTrial): Promise<void> {
    this.#running++;
    openTrial.open.running++;
    this.#tell();
    try {
      openTrial.trialResult = await this.runTrial(openTrial.open.task, openTrial.trial, this.#stop.signal);
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

  /** Adds a trial to the sum of its cell. After the last trial that is needed, the cell gets its result. */
  #sumUp({ open, trial }: OpenTrial, trialResult: TrialResult): void {
    const { rows, fromTrial } = this.extent;
    const { cell } = open.condition;
    const { grid } = this.plan;
    const condition = grid.conditionOf(cell);
    const keepsRows =
      grid.controlOf(cell) > 0 || (rows?.keeps(condition, trial, rowsIn(trialResult)) ?? true);
    open.sum.add(trial, trialResult, keepsRows);
    if (this.#isFull) this.#tell();
    if (trial < this.plan.trials - 1 && !(this.#isFull && fromTrial !== undefined)) return;
    const result = open.sum.result();
    if (result.spikesOfAll !== undefined) this.baselines.conclude(cell, result);
    open.result = result;
  }

  #fail(reason: unknown): void {
    this.#failure ??= { reason };
    this.#stop.abort(reason);
    this.#wake();
  }
}

function rowsIn({ reports }: TrialResult): number {
  return reports.reduce((sum, report) => sum + (isEventResult(report) ? report.rows : 0), 0);
}
