/** From the outcomes of conditions to the events of an answer: the head, conditions, totals. */
import { CodedError } from '../../errors.js';
import type { ConditionExtent, ExperimentPlan } from '../plan/plan.js';
import { controlledReports } from '../plan/planned-reports.js';
import { runawayWarning, truncatedWarning } from '../plan/warnings.js';
import { Baselines } from './baselines.js';
import { conditionResult } from './condition-result.js';
import { ConditionRun, type RunOptions, type RunTrial } from './condition-run.js';
import type { ConditionOutcome, RunOutcome } from './outcomes.js';
import { firstRows, type Page, pageText } from './pages.js';
import type { ConditionParameters, ExperimentEvent } from './result.js';
import { inOneGo, type Turn } from './turn.js';

const MS_PER_SECOND = 1000;

/** How much of an experiment an answer has. */
export interface AnswerExtent extends ConditionExtent {
  /** The first condition of the answer; before it only baselines that decide on later ones are run. */
  readonly from: number;
  /** The trials whose rows the answer has; without it the rows of all. */
  readonly page?: Page;
  /** The first trial of the first condition; given where the answer has nothing but the rows of the page. */
  readonly fromTrial?: number;
}

/**
 * The conditions and controls whose outcomes an answer needs, ascending.
 * @param reports of the answer
 */
export function neededIndices(plan: ExperimentPlan, from: number, reports = plan.reports): number[] {
  return plan.grid.neededFrom(from, controlledReports(reports).length > 0);
}

/**
 * Yields the head, the conditions in the order of their index, and the totals. What it yields depends on the plan and
 * on the extent alone: neither on the order in which trials end nor on how many run at once. With `from` the conditions
 * are those of the whole experiment; the totals count what this answer ran and list what is unchanged from there on.
 * @throws what a trial rejects with; no further trial is begun then
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
    new ConditionRun(
      plan,
      baselines,
      neededIndices(plan, from, reports),
      runTrial,
      options,
      extent,
    ).outcomes();
  return eventsOf(plan, run, extent, { turn });
}

interface EventOptions {
  /** Results are computed in turns of the thread. */
  readonly turn?: Turn | undefined;
  /** Tells that some of the conditions that the answer needs may be missing. */
  readonly isPartial?: boolean;
  /** Takes from an outcome what the extent has of it. */
  readonly cut?: (outcome: RunOutcome['counts'], isOfControl: boolean) => RunOutcome['counts'];
}

type Outcomes = AsyncIterable<readonly [index: number, outcome: ConditionOutcome | undefined]>;

/**
 * The events that runExperiment yields for the same plan, from what a job kept.
 * @param outcomes those of neededIndices, in that order; undefined is left out, in a partial answer alone
 * @param tableRows rows that each table of a condition has at most where the extent cuts tables
 * @throws CodedError NOT_FOUND where an outcome of a complete answer is missing
 */
export function eventsOfOutcomes(
  plan: ExperimentPlan,
  outcomes: Outcomes,
  extent: AnswerExtent & {
    readonly tableRows: number;
    readonly isPartial: boolean;
    readonly turn?: Turn;
  },
): AsyncGenerator<ExperimentEvent, void, void> {
  const { reports, page, cutsTables, tableRows, isPartial, turn } = extent;
  const controlled = controlledReports(plan.reports);
  const cut: EventOptions['cut'] = (counts, isOfControl) => {
    const kept = isOfControl ? controlled : plan.reports;
    const read = { ...counts, reports: counts.reports.filter((_, at) => reports.includes(kept[at]!)) };
    if (isOfControl) return read;
    if (page !== undefined) return page.cut(read, plan.trials);
    return cutsTables ? firstRows(read, tableRows) : read;
  };
  return eventsOf(plan, () => outcomes, extent, { turn, isPartial, cut });
}

/** @param begin is called when the first condition is asked for */
async function* eventsOf(
  plan: ExperimentPlan,
  begin: () => Outcomes,
  { from, reports, page }: AnswerExtent,
  { turn = inOneGo, isPartial = false, cut = (counts) => counts }: EventOptions,
): AsyncGenerator<ExperimentEvent, void, void> {
  yield { kind: 'head', head: plan.head };
  let [brainMs, inputEvents, synapticEvents] = [0, 0, 0];
  const { grid } = plan;
  const controlsOfEach = controlledReports(reports).length > 0 ? grid.controls : 0;
  /** A condition that was run, and its controls so far. */
  let open:
    { readonly measured: RunOutcome['counts']; readonly controls: RunOutcome['counts'][] } | undefined;
  const unchanged: ConditionParameters[] = [];
  const runaways: number[] = [];
  const truncated: number[] = [];
  for await (const [index, outcome] of begin()) {
    // Counts and parameters of an answer have the number of the condition as their index.
    const [condition, control] = [grid.conditionOf(index), grid.controlOf(index)];
    // The job was ended, or had to make room for others, after its results began to be read.
    if (outcome === undefined && !isPartial) {
      throw new CodedError('NOT_FOUND', 'The results of the job were removed while they were being read.');
    }
    const isAnswered = condition >= from;
    if (outcome?.kind === 'unchanged' && isAnswered) {
      unchanged.push({ index: condition, parameters: outcome.parameters });
    }
    if (outcome?.kind !== 'run') continue;
    const { counts, cost } = outcome;
    if (control > 0) open?.controls.push(cut(counts, true));
    else
      open = isAnswered
        ? { measured: await turn(() => cut({ ...counts, index: condition }, false)), controls: [] }
        : undefined;
    if (page?.endsBefore(condition) === true) break;
    if (page?.isInTotals(condition) !== false) {
      brainMs += cost.brainMs;
      inputEvents += cost.inputEvents;
      synapticEvents += cost.synapticEvents;
      if (cost.isRunaway && isAnswered && control === 0) runaways.push(condition);
    }
    // A part of a job's results may lack controls.
    if (open?.measured.index !== condition || open.controls.length < controlsOfEach) continue;
    const { measured, controls } = open;
    const result = await turn(() => conditionResult(measured, reports, controls));
    if (Object.values(result.reports).some((report) => 'table' in report && report.truncated)) {
      truncated.push(condition);
    }
    yield { kind: 'condition', condition: result };
    if (page?.next !== undefined) break;
  }
  const warnings = [...plan.warnings];
  if (runaways.length > 0) warnings.push(runawayWarning(runaways));
  if (truncated.length > 0) warnings.push(truncatedWarning(truncated));
  const totals = {
    // Conditions behind the page stand on a later one.
    unchanged: unchanged
      .filter(({ index }) => page?.endsBefore(index) !== true)
      .map(({ parameters }) => parameters),
    cost: {
      brain_seconds: brainMs / MS_PER_SECOND,
      input_events: inputEvents,
      synaptic_events: synapticEvents,
    },
    warnings,
    cite: plan.cite,
    ...(page?.next !== undefined && { next_page: pageText(page.next) }),
    ...(isPartial && { partial: true as const }),
  };
  yield { kind: 'totals', totals };
}
