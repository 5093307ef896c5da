/** The answer of an open experiment as text in 80 columns. */
import type { ExperimentDocument } from '../../experiments/document/document.js';
import {
  controlText,
  groupLabel,
  groupSuffix,
  valueLabel,
} from '../../experiments/figures/condition-labels.js';
import { counted } from '../../experiments/figures/figure.js';
import type { FoundCondition } from '../../experiments/figures/figure-kind.js';
import { measureOf } from '../../experiments/figures/report-figures.js';
import type { SweepAxis } from '../../experiments/kinds/axis-kinds.js';
import type {
  ConditionParameters,
  ExperimentHead,
  ExperimentTotals,
  GroupResult,
} from '../../experiments/run/result.js';
import type { MeanSd } from '../../mean-sd.js';
import { bar, fitted, LINE_WIDTH, linesText, wrapped } from '../text.js';
import type { CollectedAnswer } from './computed-answer.js';

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
  const { experiment } = head;
  return linesText([
    ...headingOf(head),
    '  mean ± population sd over the trials',
    '',
    ...(experiment.sweep === undefined
      ? conditions.flatMap((condition) => conditionTable(experiment, condition))
      : conditions.length > 0
        ? sweepTable(answer)
        : []),
    ...paragraphs([unchangedText(totals), stoppedText(conditions), sidesText(head)]),
    ...closingOf(totals),
  ]);
}

export function headingOf({ id, model, wiring, experiment }: ExperimentHead): string[] {
  const { name = 'Open experiment', duration_ms: durationMs, trials, seed, sweep = [] } = experiment;
  const swept = (parameter: string) => sweep.some((axis) => parameterOf(axis) === parameter) && 'swept';
  return [
    name,
    `  ${counted(trials, 'trial')} of ${swept('duration_ms') || durationMs} ms, seed ${swept('seed') || seed}`,
    `  model ${model}, ${wiring} wiring`,
    `  experiment ${id}`,
  ];
}

/** Warnings and what to cite: at the end, where they are read. */
export function closingOf({ warnings, cite }: Pick<ExperimentTotals, 'warnings' | 'cite'>): string[] {
  return [
    ...(warnings.length === 0 ? [] : ['', 'Warnings']),
    ...warnings.flatMap(({ code, message }) => wrapped(`${code}: ${message}`, '  ', '    ')),
    '',
    'Please cite',
    ...cite.flatMap((source) => wrapped(source, '  ', '    ')),
  ];
}

/** `inputs.sugar.rate_hz=100, silence=CB0889`; empty without a sweep. */
export function parametersText({ parameters }: ConditionParameters): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name}=${valueLabel(value)}`)
    .join(', ');
}

/** The name of a swept parameter or of the axis of groups, as `parameters` of a condition has it. */
function parameterOf(axis: SweepAxis): string {
  return 'set' in axis ? axis.set : axis.as;
}

/** A group of a report in all conditions. Groups of a report are the same in each. */
interface Series {
  /** `mn9 left` */
  readonly name: string;
  readonly unit: string;
  /** @returns null where the group has no number */
  valueIn(condition: FoundCondition): MeanSd | null;
}

/** In the order of the document, but those that stay silent in every condition last. */
function seriesOf({ head, conditions }: CollectedAnswer): Series[] {
  const series = Object.entries(conditions[0]!.groups).flatMap(([report, groups]) => {
    const { unit, of } = measureOf(head.experiment, report);
    return groups.map((each, group): Series => ({
      name: `${report} ${groupSuffix(each)}`.trim(),
      unit,
      valueIn: (condition) => of(condition.groups[report]![group]!),
    }));
  });
  const isActive = ({ valueIn }: Series) =>
    conditions.some((condition) => (valueIn(condition)?.mean ?? 0) > 0);
  return [...series.filter(isActive), ...series.filter((each) => !isActive(each))];
}

/** One row for each condition, as many series as fit beside each other. */
function sweepTable(answer: CollectedAnswer): string[] {
  const { head, conditions } = answer;
  const { sweep = [] } = head.experiment;
  const parameters = sweep.map((axis, at) => parameterColumn(axis, at, conditions));
  const width = parameters.reduce((sum, column) => sum + column.width + 1, 0);
  const all = seriesOf(answer);
  const room = Math.floor((LINE_WIDTH - 2 - width - VALUE_WIDTH) / (VALUE_WIDTH + 1));
  const shown = all.slice(0, Math.max(1, room));
  const isScreen = sweep.length === 1 && 'each' in sweep[0]! && conditions.length > 1;
  const rows = isScreen ? mostChanged(conditions, shown[0]) : conditions;
  const line = (left: readonly string[], rates: readonly string[], responding: string) =>
    '  ' +
    [
      ...parameters.map((column, at) => fitted(left[at] ?? '', column.width)),
      ...rates.map((rate) => fitted(rate, VALUE_WIDTH)),
      responding.padStart(VALUE_WIDTH),
    ].join(' ');
  const headings = parameters.map(({ heading }) => heading);
  const names = shown.map(({ name }) => name);
  const units = shown.map(({ unit }) => unit);
  return [
    line(headings, names, 'responding'),
    line([], units, 'neurons'),
    ...rows.slice(0, MOST_ROWS).map((condition) => {
      const values = shown.map(({ valueIn }) => spreadText(valueIn(condition), condition));
      return line(Object.values(condition.parameters).map(valueLabel), values, respondingText(condition));
    }),
    ...moreLines(rows.length - MOST_ROWS, 'condition', isScreen ? 'less changed, ' : ''),
    ...moreLines(all.length - shown.length, 'group'),
    ...(isScreen && shown.length > 0
      ? ['', `In the order of the change of ${names[0]}; the baseline is none.`]
      : []),
  ];
}

/** Short names: `sugar.rate_hz`, and `silence type` for the labels of groups. */
function parameterColumn(axis: SweepAxis, at: number, conditions: readonly FoundCondition[]) {
  const labels = 'set' in axis ? [] : axis.group_by.map((label) => (label === 'neuron' ? 'root_id' : label));
  const heading = [parameterOf(axis).replace(/^inputs\./, ''), ...labels].join(' ');
  const values = conditions.map(({ parameters }) => valueLabel(Object.values(parameters)[at]!).length);
  const width = values.reduce((most, length) => Math.max(most, length), heading.length);
  return { heading, width: Math.min(WIDEST_PARAMETER, width) };
}

/** The baseline, then the conditions whose rate differs most from it; equal ones in their order. */
function mostChanged(conditions: readonly FoundCondition[], series: Series | undefined): FoundCondition[] {
  const [first, ...others] = conditions;
  if (series === undefined || Object.values(first!.parameters)[0] !== null) return [...conditions];
  const meanIn = (condition: FoundCondition) => series.valueIn(condition)?.mean ?? 0;
  const change = (condition: FoundCondition) => Math.abs(meanIn(condition) - meanIn(first!));
  return [first!, ...others.sort((a, b) => change(b) - change(a) || a.index - b.index)];
}

/** Table of an experiment without a sweep: one block for each report, with a row for each group. */
function conditionTable(experiment: ExperimentDocument, condition: FoundCondition): string[] {
  const { spikes, responding_any: inAny } = condition;
  const total = spikes === null ? STOPPED : `${spreadText(spikes, condition)} spikes`;
  const any = inAny === null ? '' : `, ${inAny} in any trial`;
  const blocks = Object.entries(condition.groups).flatMap(([report, groups]) => {
    const { of, unit, respondingOf } = measureOf(experiment, report);
    const meanOf = (group: GroupResult) => of(group)?.mean ?? 0;
    const ranked = [...groups].sort((a, b) => meanOf(b) - meanOf(a));
    // A few groups stand in their own order, many by their numbers.
    const rows = groups.length > MOST_GROUPS ? ranked.slice(0, MOST_GROUPS) : groups;
    const scale = meanOf(ranked[0]!);
    return [
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
    ];
  });
  return [`${total}; responding neurons: ${respondingText(condition)}${any}`, ...blocks];
}

function moreLines(count: number, noun: string, what = ''): string[] {
  return count <= 0 ? [] : [`  … and ${counted(count, `more ${noun}`)}: ${what}--csv writes all of them.`];
}

/** Each after an empty line, but those that are empty. */
function paragraphs(texts: readonly string[]): string[] {
  return texts.flatMap((text) => (text === '' ? [] : ['', ...wrapped(text)]));
}

function unchangedText({ unchanged: { length } }: ExperimentTotals): string {
  if (length === 0) return '';
  const left = length === 1 ? 'One condition was' : `${length} conditions were`;
  return `${left} not run: silencing a group without spikes, or overriding no connection, changes nothing.`;
}

function stoppedText(conditions: readonly FoundCondition[]): string {
  const stopped = conditions.filter(({ complete }) => !complete).length;
  if (stopped === 0) return '';
  return `${counted(stopped, 'condition')} stopped at the limit on synaptic events; they have no numbers of groups.`;
}

function sidesText({ experiment, side_convention: sides }: ExperimentHead): string {
  const reports = Object.values(experiment.reports);
  return reports.some(({ group_by: labels }) => labels.includes('side')) ? sides : '';
}

function respondingText({ responding_neurons: responding }: FoundCondition): string {
  return responding === null ? STOPPED : `${responding.mean.toFixed(1)} ± ${responding.sd.toFixed(1)}`;
}

/** Mean and population standard deviation over the trials. */
function spreadText(spread: MeanSd | null, { complete }: FoundCondition): string {
  if (spread === null) return complete ? NONE : STOPPED;
  return `${spread.mean.toFixed(2).padStart(6)} ± ${spread.sd.toFixed(2)}`;
}
