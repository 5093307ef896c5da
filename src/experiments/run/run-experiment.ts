/** Turns results of cells into the events of an answer: the head, the conditions, the totals. */
import { MS_PER_SECOND } from '../../engine/stimulus/protocol.js';
import { CodedError } from '../../engine/errors.js';
import type { ConditionExtent, ExperimentPlan } from '../plan/plan.js';
import { MAX_Q } from '../kinds/controls.js';
import { controlledReports } from '../plan/planned-reports.js';
import {
  resumedWarning,
  runawayWarning,
  truncatedWarning,
  widenedWarning,
  fewSetsWarning,
} from '../plan/warnings.js';
import { Baselines } from './baselines.js';
import { answeredCondition } from './answered-condition.js';
import { ConditionRun, type RunOptions, type RunTrial } from './condition-run.js';
import type { ConditionResult, RunConditionResult } from './condition-result.js';
import { firstRows, type Page, pageText } from './pages.js';
import type {
  AnsweredCondition,
  ConditionParameters,
  ExperimentEvent,
  ExperimentTotals,
} from '../document/result.js';
import { Screen } from './screen.js';
import { inOneGo, type Turn } from './turn.js';

/** The part of an experiment that an answer has. */
export interface AnswerExtent extends ConditionExtent {
  /** The first condition of the answer. Of earlier ones, only baselines that decide later ones are run. */
  readonly from: number;
  /** Decides which trials' rows the answer has; without it, all. */
  readonly page?: Page;
  /** The first trial of the first condition. Set only if the answer has nothing but the rows of the page. */
  readonly fromTrial?: number;
}

/**
 * The cells whose results an answer needs, ascending.
 * @param reports those of the answer
 */
export function neededCells(plan: ExperimentPlan, from: number, reports = plan.reports): number[] {
  return plan.grid.neededFrom(from, controlledReports(reports).length > 0);
}

/**
 * Runs an experiment and yields the head, the conditions in order, and the totals.
 *
 * The events depend only on the plan and the extent, not on the order in which trials end or on the number that run at once.
 * With `from`, conditions have the same numbers and results as in the whole experiment. The totals then count the cost of
 * this answer, and list unchanged conditions only from there on.
 * @throws the error of the first trial that rejects; no further trial begins then
 */
export function runExperiment(
  plan: ExperimentPlan,
  runTrial: RunTrial,
  { from = 0, reports = plan.reports, ...options }: RunOptions & Partial<AnswerExtent>,
): AsyncGenerator<ExperimentEvent, void, void> {
  const { page, turn } = options;
  const extent = { ...options, from, reports, ...(page && { rows: page }) };
  const baselines = new Baselines(plan);
  const run = () =>
    new ConditionRun(plan, baselines, neededCells(plan, from, reports), runTrial, options, extent).results();
  return eventsOf(plan, run, extent, { turn });
}

interface EventOptions {
  /** Computes results in turns of the thread. */
  readonly turn?: Turn | undefined;
  /** True if results may be missing, because the job is not finished. */
  readonly isPartial?: boolean;
  /** Cuts a result to the reports and rows of the extent. */
  readonly cut?: (result: RunConditionResult['counts'], isOfControl: boolean) => RunConditionResult['counts'];
}

type Results = AsyncIterable<readonly [cell: number, result: ConditionResult | undefined]>;

/**
 * Yields the same events as runExperiment, from the stored results of a job.
 * @param results those of neededCells, in that order; undefined if one is missing
 * @param extent tableRows is the maximum number of rows of a table in a condition, if cutsTables is set
 * @throws CodedError NOT_FOUND if a result is missing and the answer is not partial
 */
export function eventsOfResults(
  plan: ExperimentPlan,
  results: Results,
  extent: AnswerExtent & {
    readonly tableRows: number;
    readonly isPartial: boolean;
    readonly turn?: Turn;
  },
): AsyncGenerator<ExperimentEvent, void, void> {
  const { reports, page, cutsTables, tableRows, isPartial, turn } = extent;
  const controlled = controlledReports(plan.reports);
  const cut: EventOptions['cut'] = (counts, isOfControl) => {
    const storedReports = isOfControl ? controlled : plan.reports;
    const wanted = {
      ...counts,
      reports: counts.reports.filter((_, at) => reports.includes(storedReports[at]!)),
    };
    if (isOfControl) return wanted;
    if (page !== undefined) return page.cut(wanted, plan.trials);
    return cutsTables ? firstRows(wanted, tableRows) : wanted;
  };
  return eventsOf(plan, () => results, extent, { turn, isPartial, cut });
}

/** @param begin called when the reader asks for the first condition */
async function* eventsOf(
  plan: ExperimentPlan,
  begin: () => Results,
  { from, reports, page }: AnswerExtent,
  { turn = inOneGo, isPartial = false, cut = (counts) => counts }: EventOptions,
): AsyncGenerator<ExperimentEvent, void, void> {
  yield { kind: 'head', head: plan.head };
  const { grid } = plan;
  // A page after the first one goes on where another one ended, and clients add the two up.
  const totals = new Totals(plan, page, page?.hasEarlierPages === true ? 0 : from);
  const controlled = controlledReports(reports);
  const controlsIn = (condition: number) => (controlled.length > 0 ? grid.controlsOf(condition) : 0);
  /** The last condition that was run and is not yet yielded, and its controls so far. */
  let pending:
    | {
        readonly measured: RunConditionResult['counts'];
        /** By the number of the control; undefined for one that has the same neurons as an earlier one. */
        readonly controls: (RunConditionResult['counts'] | undefined)[];
      }
    | undefined;
  /** Numbers of the controls that are done. Some that are not run come before their condition. */
  const controlsDone = new Map<number, number>();
  for await (const [cell, result] of begin()) {
    // In an answer, the `index` of counts and parameters is the condition and not the cell.
    const [condition, control] = [grid.conditionOf(cell), grid.controlOf(cell)];
    // The job was ended, or was removed to make room, while its results were being read.
    if (result === undefined && !isPartial) {
      throw new CodedError('NOT_FOUND', 'The results of the job were removed while they were being read.');
    }
    const isAnswered = condition >= from;
    if (result?.kind === 'unchanged' && isAnswered) {
      totals.unchanged.push({ index: condition, parameters: result.parameters });
    }
    if (control > 0 && result !== undefined) {
      controlsDone.set(condition, (controlsDone.get(condition) ?? 0) + 1);
    }
    if (result?.kind === 'run') {
      const { counts } = result;
      if (isAnswered) totals.addShort(condition, result.matched);
      if (control === 0) {
        const controls = new Array<undefined>(controlsIn(condition));
        pending = isAnswered
          ? { measured: await turn(() => cut({ ...counts, index: condition }, false)), controls }
          : undefined;
      } else if (pending?.measured.index === condition) pending.controls[control - 1] = cut(counts, true);
      if (page?.endsBefore(condition) === true) break;
      totals.addCost(cell, result, isAnswered);
    }
    // An unfinished job may lack some controls.
    const isDone = (controlsDone.get(condition) ?? 0) >= controlsIn(condition);
    if (pending?.measured.index !== condition || !isDone) continue;
    const { measured, controls } = pending;
    pending = undefined;
    const answered = await turn(() => answeredCondition(measured, reports, controls));
    await turn(() => totals.addAnswered(answered, controls, controlled));
    yield { kind: 'condition', condition: answered };
    if (page?.next !== undefined) break;
  }
  yield { kind: 'totals', totals: totals.answer(isPartial) };
}

/** The totals of an answer, which grow with its cells. */
class Totals {
  readonly unchanged: ConditionParameters[] = [];
  /** Conditions with controls for which too few neurons matched, and what too few had. */
  readonly #short = { conditions: new Set<number>(), bins: new Set<string>() };
  /** Conditions with controls that have fewer neurons than the group, and how many these have. */
  readonly #fewer = new Map<number, string>();
  /** Conditions with few different sets of matched neurons. */
  readonly #few: number[] = [];
  readonly #screen: Screen | undefined;
  readonly #runaways: number[] = [];
  readonly #truncated: number[] = [];
  readonly #matchedSets = new Set<string>();
  readonly #cost = { brainMs: 0, inputEvents: 0, synapticEvents: 0 };

  constructor(
    private readonly plan: ExperimentPlan,
    private readonly page: Page | undefined,
    private readonly from: number,
  ) {
    const { matchedAxis, controls } = plan.grid;
    if (matchedAxis >= 0 && controls > 0) this.#screen = new Screen();
  }

  /** @param isAnswered true if the answer has the condition of the cell */
  addCost(cell: number, { cost, matched }: RunConditionResult, isAnswered: boolean): void {
    const { grid } = this.plan;
    const condition = grid.conditionOf(cell);
    if (this.page?.isInTotals(condition) === false || !this.#isFirstOf(cell, matched)) return;
    this.#cost.brainMs += cost.brainMs;
    this.#cost.inputEvents += cost.inputEvents;
    this.#cost.synapticEvents += cost.synapticEvents;
    if (cost.isRunaway && isAnswered && grid.controlOf(cell) === 0) this.#runaways.push(condition);
  }

  /** @param matched of a result; results of an earlier version lack `short` */
  addShort(condition: number, { short = [], fewer }: Partial<RunConditionResult['matched']> = {}): void {
    if (short.length > 0) this.#short.conditions.add(condition);
    for (const bin of short) this.#short.bins.add(bin);
    if (fewer !== undefined) this.#fewer.set(condition, fewer);
  }

  /** @param controls of the condition  @param controlled the reports that are compared with them */
  addAnswered(
    answered: AnsweredCondition,
    controls: readonly unknown[],
    controlled: ExperimentPlan['reports'],
  ): void {
    const { index, reports } = answered;
    this.#screen?.add(answered, controlled);
    const sets = controls.filter((control) => control !== undefined).length;
    // So many controls may have the same neurons that p cannot be low, although there are enough controls.
    if (sets < controls.length && 1 + sets <= 1 / MAX_Q) this.#few.push(index);
    const isTruncated = Object.values(reports).some((report) => 'table' in report && report.truncated);
    if (isTruncated) this.#truncated.push(index);
  }

  answer(isPartial: boolean): ExperimentTotals {
    const { plan, page } = this;
    const isWhole = this.from === 0 && page?.next === undefined && page?.hasEarlierPages !== true;
    const { conditions, bins } = this.#short;
    const { brainMs, inputEvents, synapticEvents } = this.#cost;
    const isMatching = (plan.controls?.match ?? []).length > 0;
    const canMatchLess = isMatching && this.#few.some((condition) => !this.#fewer.has(condition));
    return {
      // Later pages list the conditions after this one.
      unchanged: this.unchanged
        .filter(({ index }) => page?.endsBefore(index) !== true)
        .map(({ parameters }) => parameters),
      cost: {
        brain_seconds: brainMs / MS_PER_SECOND,
        input_events: inputEvents,
        synaptic_events: synapticEvents,
      },
      warnings: [
        ...plan.warnings,
        ...(bins.size > 0 ? [widenedWarning([...conditions], [...bins], this.#fewer)] : []),
        ...(this.#few.length > 0 ? [fewSetsWarning(this.#few, canMatchLess)] : []),
        ...(this.#runaways.length > 0 ? [runawayWarning(this.#runaways, plan.connectome.neuronCount)] : []),
        ...(this.#truncated.length > 0 ? [truncatedWarning(this.#truncated)] : []),
        ...(this.from > 0 ? [resumedWarning(this.from)] : []),
      ],
      cite: plan.cite,
      // q corrects for the comparisons of all conditions.
      ...(isWhole && !isPartial && this.#screen && { screen: this.#screen.result() }),
      ...(page?.next !== undefined && { next_page: pageText(page.next) }),
      ...(isPartial && { partial: true as const }),
    };
  }

  /** An answer counts the cost of one cell of those with the same neurons; a control like its baseline costs nothing. */
  #isFirstOf(cell: number, matched: RunConditionResult['matched']): boolean {
    if (matched?.set === undefined) return true;
    const name = this.plan.grid.nameOfSet(cell, matched.set);
    return matched.set !== '' && !this.#matchedSets.has(name) && this.#matchedSets.add(name) !== undefined;
  }
}
