/** The answer of an open experiment as text in 80 columns. */
import type { ExperimentDocument } from '../../experiments/document/document.js';
import type { ExperimentHead, ExperimentTotals, GroupResult } from '../../experiments/run/result.js';
import type { MeanSd } from '../../mean-sd.js';
import type { FoundCondition } from '../../experiments/figures/figure-kind.js';
import { measureOf } from '../../experiments/figures/report-figures.js';
import { controlText, groupLabel, valueLabel } from '../../experiments/figures/condition-labels.js';
import {
  parameterOf,
  parametersText,
  screenOf,
  seriesOf,
  type CollectedAnswer,
  valueIn,
  type Series,
} from './collected-answer.js';
import { bar, counted, fitted, LINE_WIDTH, wrapped } from '../text.js';

/** Rows of a sweep, and groups of a report: what is beyond stands in the files. */
const MOST_ROWS = 40;
const MOST_GROUPS = 12;
const VALUE_WIDTH = 14;
const WIDEST_PARAMETER = 28;
const BAR_WIDTH = 16;
const STOPPED = 'stopped';
/** Stands where a group has no number: the time of the first spike of a silent one. */
const NONE = 'none';

export function answerTable(answer: CollectedAnswer): string {
  const { head, conditions, totals } = answer;
  const isSweep = head.experiment.sweep !== undefined;
  const lines = [
    ...headingOf(head),
    '  mean ± population sd over the trials',
    '',
    ...(isSweep
      ? sweepTable(answer)
      : conditions.flatMap((condition) => conditionTable(head.experiment, condition))),
    ...unchangedLines(totals),
    ...closingOf(totals, notesOf(answer)),
  ];
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

export function headingOf({ id, model, wiring, experiment }: ExperimentHead): string[] {
  const { name = 'Open experiment', duration_ms: durationMs, trials, seed, sweep } = experiment;
  const swept = (parameter: string) =>
    sweep?.some((axis) => parameterOf(axis) === parameter) ? 'swept' : undefined;
  return [
    name,
    `  ${counted(trials, 'trial')} of ${swept('duration_ms') ?? durationMs} ms, seed ${swept('seed') ?? seed}`,
    `  model ${model}, ${wiring} wiring`,
    `  experiment ${id}`,
  ];
}

/** Warnings, what to cite, notes: at the end, where they are read. */
export function closingOf(
  { warnings, cite }: Pick<ExperimentTotals, 'warnings' | 'cite'>,
  notes: readonly string[] = [],
): string[] {
  return [
    ...notes.flatMap((note) => ['', ...wrapped(note)]),
    ...(warnings.length === 0 ? [] : ['', 'Warnings']),
    ...warnings.flatMap(({ code, message }) => wrapped(`${code}: ${message}`, '  ', '    ')),
    '',
    'Please cite',
    ...cite.flatMap((source) => wrapped(source, '  ', '    ')),
  ];
}

/** One row for each condition, as many series as fit beside each other. */
function sweepTable(answer: CollectedAnswer): string[] {
  const { head, conditions } = answer;
  if (conditions.length === 0) return [];
  const { experiment } = head;
  const parameters = parameterColumns(experiment, conditions);
  const width = parameters.reduce((sum, column) => sum + column.width + 1, 0);
  const all = activeFirst(answer);
  const room = Math.floor((LINE_WIDTH - 2 - width - VALUE_WIDTH) / (VALUE_WIDTH + 1));
  const shown = all.slice(0, Math.max(1, room));
  const isScreen = screenOf(experiment) !== undefined && conditions.length > 1;
  const rows = isScreen ? mostChanged(answer, shown[0]) : conditions;
  const line = (left: readonly string[], rates: readonly string[], responding: string) =>
    '  ' +
    [
      ...parameters.map((column, at) => fitted(left[at] ?? '', column.width)),
      ...rates.map((rate) => fitted(rate, VALUE_WIDTH)),
      responding.padStart(VALUE_WIDTH),
    ].join(' ');
  return [
    line(
      parameters.map(({ heading }) => heading),
      shown.map(({ name }) => name),
      'responding',
    ),
    line(
      [],
      shown.map(({ measure }) => measure.unit),
      'neurons',
    ),
    ...rows.slice(0, MOST_ROWS).map((condition) =>
      line(
        Object.values(condition.parameters).map(valueLabel),
        shown.map((series) => spreadText(valueIn(condition, series), condition)),
        respondingText(condition),
      ),
    ),
    ...moreLines(rows.length - MOST_ROWS, 'condition', isScreen ? 'less changed, ' : ''),
    ...moreLines(all.length - shown.length, 'group'),
    ...(isScreen && shown.length > 0
      ? ['', `In the order of the change of ${shown[0]!.name}; the baseline is none.`]
      : []),
  ];
}

interface ParameterColumn {
  readonly heading: string;
  readonly width: number;
}

/** Short names: `sugar.rate_hz`, and `silence type` for the labels of groups. */
function parameterColumns(
  { sweep = [] }: ExperimentDocument,
  conditions: readonly FoundCondition[],
): ParameterColumn[] {
  return sweep.map((axis, at) => {
    const labels =
      'set' in axis ? [] : axis.group_by.map((label) => (label === 'neuron' ? 'root_id' : label));
    const heading = [parameterOf(axis).replace(/^inputs\./, ''), ...labels].join(' ');
    const values = conditions.map(({ parameters }) => valueLabel(Object.values(parameters)[at]!).length);
    const width = values.reduce((most, length) => Math.max(most, length), heading.length);
    return { heading, width: Math.min(WIDEST_PARAMETER, width) };
  });
}

/** In the order of the document, but those that stay silent in every condition last. */
function activeFirst(answer: CollectedAnswer): Series[] {
  const series = seriesOf(answer);
  const isActive = (each: Series) =>
    answer.conditions.some((condition) => (valueIn(condition, each)?.mean ?? 0) > 0);
  return [...series.filter(isActive), ...series.filter((each) => !isActive(each))];
}

/** The baseline, then the conditions whose rate differs most from it; equal ones in their order. */
function mostChanged({ conditions }: CollectedAnswer, series: Series | undefined): FoundCondition[] {
  const [first, ...others] = conditions;
  if (series === undefined || Object.values(first!.parameters)[0] !== null) return [...conditions];
  const meanIn = (condition: FoundCondition) => valueIn(condition, series)?.mean ?? 0;
  const change = (condition: FoundCondition) => Math.abs(meanIn(condition) - meanIn(first!));
  return [first!, ...others.sort((a, b) => change(b) - change(a) || a.index - b.index)];
}

/** Table of an experiment without a sweep: one block for each report, with a row for each group. */
function conditionTable(experiment: ExperimentDocument, condition: FoundCondition): string[] {
  const parameters = parametersText(condition);
  const total = condition.spikes === null ? STOPPED : `${spreadText(condition.spikes, condition)} spikes`;
  const lines = [
    `${parameters === '' ? '' : `${parameters}: `}${total}; responding neurons: ${respondingText(condition)}` +
      (condition.responding_any === null ? '' : `, ${condition.responding_any} in any trial`),
  ];
  for (const [report, groups] of Object.entries(condition.groups)) {
    const { of, unit, respondingOf } = measureOf(experiment, report);
    const meanOf = (group: GroupResult) => of(group)?.mean ?? 0;
    const ranked = [...groups].sort((a, b) => meanOf(b) - meanOf(a));
    // A few groups stand in their own order, many by their numbers.
    const rows = groups.length > MOST_GROUPS ? ranked.slice(0, MOST_GROUPS) : groups;
    const scale = meanOf(ranked[0]!);
    lines.push(
      '',
      `${fitted(report, 28)} ${'neurons'.padStart(7)} ${'responding'.padStart(10)}   ${unit}`,
      ...rows.map((group) =>
        [
          `  ${fitted(groupLabel(group), 26)}`,
          String(group.neurons).padStart(7),
          respondingOf(group).padStart(10),
          `  ${fitted(spreadText(of(group), condition), VALUE_WIDTH)}`,
          controlText(group) || bar(meanOf(group), scale, BAR_WIDTH),
        ].join(' '),
      ),
      ...moreLines(groups.length - rows.length, 'group', 'less active, '),
    );
  }
  return lines;
}

function moreLines(count: number, noun: string, what = ''): string[] {
  return count <= 0 ? [] : [`  … and ${counted(count, `more ${noun}`)}: ${what}--csv writes all of them.`];
}

function unchangedLines({ unchanged }: ExperimentTotals): string[] {
  if (unchanged.length === 0) return [];
  const left = unchanged.length === 1 ? 'One condition was' : `${unchanged.length} conditions were`;
  return [
    '',
    ...wrapped(
      `${left} not run: silencing a group without spikes, or overriding no connection, changes nothing.`,
    ),
  ];
}

function notesOf({ head, conditions }: CollectedAnswer): string[] {
  const stopped = conditions.filter(({ complete }) => !complete).length;
  const readsSides = Object.values(head.experiment.reports).some(({ group_by: labels }) =>
    labels.includes('side'),
  );
  return [
    ...(stopped === 0
      ? []
      : [
          `${counted(stopped, 'condition')} stopped at the limit on synaptic events; they have no numbers of groups.`,
        ]),
    ...(readsSides ? [head.side_convention] : []),
  ];
}

function respondingText({ responding_neurons: responding }: FoundCondition): string {
  return responding === null ? STOPPED : `${responding.mean.toFixed(1)} ± ${responding.sd.toFixed(1)}`;
}

/** Mean and population standard deviation over the trials. */
function spreadText(spread: MeanSd | null, { complete }: FoundCondition): string {
  if (spread === null) return complete ? NONE : STOPPED;
  return `${spread.mean.toFixed(2).padStart(6)} ± ${spread.sd.toFixed(2)}`;
}
