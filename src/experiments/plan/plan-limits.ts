/** Refuses experiments that are too expensive. The message tells which smaller experiment would be allowed. */
import { MS_PER_SECOND } from '../../engine/stimulus/protocol.js';
import { CodedError } from '../../engine/errors.js';
import { pointerTo } from '../../engine/schema/json-path.js';
import { kindOf } from '../kinds/report-kinds.js';
import { rounded } from '../kinds/mean-sd.js';
import type { ExperimentLimits } from './experiment-limits.js';
import type { ExperimentPlan } from './plan.js';
import type { PlanCost } from './plan-cost.js';
import type { Work } from './prices.js';

/** Labels, counts, means and standard deviations of a group count as this many numbers. */
const NUMBERS_OF_ROW = 10;

/** The amount that limits.groupNumbers limits. */
export function groupNumbersOf({ groups = 0, groupNumbers = 0 }: Work): number {
  return groupNumbers + groups * NUMBERS_OF_ROW;
}

/** @throws CodedError TOO_EXPENSIVE */
export function checkLimits(plan: ExperimentPlan, limits: ExperimentLimits): void {
  const work = plan.cost.work();
  checkBrainTime(plan, limits, work);
  checkInputEvents(plan, limits);
  checkGroups(limits, work);
  checkOverrides(plan, limits);
  checkRecordings(plan, limits, work);
}

type WholeWork = ReturnType<PlanCost['work']>;

function checkBrainTime({ cost, trials, grid }: ExperimentPlan, limits: ExperimentLimits, work: WholeWork) {
  const { brainSeconds: most, brainSecondsOfJob = 0 } = limits;
  const brainSeconds = work.brainMs / MS_PER_SECOND;
  if (brainSeconds <= most) return;
  const fitting = Math.floor((most * trials) / brainSeconds);
  const conditions = cost.conditions.filter((condition) => condition !== undefined).length;
  throw tooExpensive(
    `The experiment has ${quantity(brainSeconds, 'brain second')} (${quantity(conditions, 'condition')} x ${quantity(trials, 'trial')}); ` +
      `at most ${most} are allowed.`,
    (fitting >= 1
      ? `With ${quantity(fitting, 'trial')} it would fit.`
      : 'Fewer conditions or a shorter trial would fit.') +
      (brainSeconds <= brainSecondsOfJob ? ' As a job (Prefer: respond-async) it fits as it is.' : ''),
    fitting >= 1
      ? '/trials'
      : grid.conditions > 1
        ? '/sweep'
        : grid.controls > 0
          ? '/controls'
          : '/duration_ms',
  );
}

/** If several cells exceed the limit, names the worst one. */
function checkInputEvents({ cost, grid }: ExperimentPlan, limits: ExperimentLimits) {
  const { inputEventsPerTrial, inputEventsPerBrainSecond = 0 } = limits;
  let worst = { cell: -1, events: 0, allowed: 1 };
  cost.conditions.forEach((condition, cell) => {
    const { inputEvents: events, brainMs } = condition?.trial ?? { inputEvents: 0, brainMs: 0 };
    const allowed = Math.max(inputEventsPerTrial, (inputEventsPerBrainSecond * brainMs) / MS_PER_SECOND);
    if (events / allowed > worst.events / worst.allowed) worst = { cell, events, allowed };
  });
  const { cell, events, allowed } = worst;
  if (events <= allowed) return;
  throw tooExpensive(
    `A trial of condition ${grid.conditionOf(cell)} has ${Math.round(events)} input events on average; at most ${allowed} are allowed.`,
    `With ${share(allowed, events)} of the neurons, of the rates or of the duration it would fit.`,
    '/inputs',
  );
}

function checkGroups({ groupNumbers: most }: ExperimentLimits, work: WholeWork) {
  const numbers = groupNumbersOf(work);
  if (numbers <= most) return;
  throw tooExpensive(
    `The reports of the answer have ${numbers} numbers of groups (for each condition and group one for each ` +
      `trial, bin and control, and ${NUMBERS_OF_ROW} for the rest of its row); at most ${most} are allowed.`,
    `With ${share(most, numbers)} of the conditions, groups or trials they would fit.`,
    '/reports',
  );
}

function checkOverrides(
  { cost, grid }: ExperimentPlan,
  { overriddenPairs: most = Infinity }: ExperimentLimits,
) {
  cost.conditions.forEach((condition, cell) => {
    const pairs = condition?.preparation.editedPairs ?? 0;
    if (pairs <= most) return;
    throw tooExpensive(
      `The overrides of condition ${grid.conditionOf(cell)} name ${pairs} connections; at most ${most} are allowed.`,
      'With smaller sets of neurons they would fit; constants change the weights of all connections.',
      '/connection_overrides',
    );
  });
}

function checkRecordings({ cost, reports }: ExperimentPlan, limits: ExperimentLimits, work: WholeWork) {
  for (const { name, document, neurons } of reports) {
    const { mostNeurons = Infinity } = kindOf(document);
    if (neurons.length <= mostNeurons) continue;
    throw tooExpensive(
      `The report ${name} reads the membrane potential of ${neurons.length} neurons; at most ${mostNeurons} are allowed.`,
      'With a smaller node set, or with several reports, they would fit.',
      pointerTo(['reports', name, 'node_set']),
    );
  }
  const { samples } = work;
  const { samples: most } = limits;
  if (samples <= most) return;
  // One report at a time, outside the loop over cells, because there may be many cells.
  const amounts = reports.map((report) => {
    const samplesAt = cost.samplesOf([report]);
    return cost.conditions.reduce((sum, _, cell) => sum + samplesAt(cell), 0);
  });
  const largest = reports[amounts.indexOf(Math.max(...amounts))];
  throw tooExpensive(
    `The answer has ${samples} membrane potentials (one for each neuron and sample in each trial of each condition); at ` +
      `most ${most} are allowed.`,
    `With ${share(most, samples)} of the samples, as a longer dt_ms or a shorter window gives, or of the ` +
      'neurons, trials or conditions, they would fit.',
    pointerTo(['reports', largest!.name]),
  );
}

function tooExpensive(cost: string, whatFits: string, path: string): CodedError {
  return new CodedError('TOO_EXPENSIVE', `${cost} ${whatFits}`, { path });
}

/** The allowed share of a larger whole, in percent. */
function share(allowed: number, whole: number): string {
  const percent = Math.floor((100 * allowed) / whole);
  return percent > 0 ? `${percent} %` : 'less than 1 %';
}

function quantity(count: number, noun: string): string {
  return `${rounded(count)} ${noun}${count === 1 ? '' : 's'}`;
}
