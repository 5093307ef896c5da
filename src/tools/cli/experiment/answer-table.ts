/** Formats the answer of an open experiment as text in 80 columns. */
import { count, sort } from 'd3-array';
import type { ExperimentDocument } from '../../../experiments/document/document.js';
import {
  groupLabel,
  groupSuffix,
  scopeOfQ,
  valueLabel,
} from '../../../experiments/figures/condition-labels.js';
import { comparisonsOf } from '../../../experiments/figures/controls-figure.js';
import { chanceText, counted } from '../../../experiments/figures/figure.js';
import { LINES_NOTE, typesOfRow } from '../../../experiments/figures/driver-lines.js';
import type { Findings, FoundCondition } from '../../../experiments/figures/figure-kind.js';
import { activityOf, changeOf, highestFirst } from '../../../experiments/figures/measured-entries.js';
import { measuredReports, measureOf } from '../../../experiments/figures/report-figures.js';
import { axisKindOf, parameterOf, type SweepAxis } from '../../../experiments/kinds/axis-kinds.js';
import type {
  ConditionParameters,
  ExperimentHead,
  ExperimentTotals,
} from '../../../experiments/document/result.js';
import { labelMember } from '../../../experiments/kinds/groups.js';
import type { Measure } from '../../../experiments/kinds/report-kind.js';
import type { GroupResult } from '../../../experiments/kinds/result-rows.js';
import type { MeanSd } from '../../../experiments/kinds/mean-sd.js';
import { bar, fitted, LINE_WIDTH, linesText, wrapped } from '../text.js';
import type { CollectedAnswer } from './computed-answer.js';

/** Largest numbers of rows of a sweep and of groups of a report. The files have the rest. */
const MAX_ROWS = 40;
const MAX_GROUPS = 12;
const VALUE_WIDTH = 14;
const WIDEST_PARAMETER = 28;
const BAR_WIDTH = 15;
/** Width of a group with its condition, beside its controls. */
const COMPARED_WIDTH = 30;
const STOPPED = 'stopped';
const ALL_IN_CSV = '--csv writes all of them';
/** Shown if a group has no number, such as the first spike of a silent group. */
const NONE = 'none';

/** Driver lines, and the cell types that have them. */
type Lines = Required<Pick<Findings, 'driverLines' | 'typeOf'>>;

/**
 * @param all says where all rows are if the table has only some
 * @param lines with a list of driver lines, the cell types of each table have theirs below it
 */
export function answerTable(answer: CollectedAnswer, all = ALL_IN_CSV, lines?: Lines): string {
  const { head, conditions, totals } = answer;
  const { experiment } = head;
  const mayLack = measuredReports(experiment).some((report) => measureOf(experiment, report).lowest);
  return linesText([
    ...headingOf(head),
    `  mean ± population sd over the trials${mayLack ? ' that have the number' : ''}`,
    '',
    ...(experiment.sweep === undefined
      ? conditions.flatMap((condition) => conditionTable(experiment, condition, all, lines))
      : conditions.length > 0
        ? sweepTable(answer, all, lines)
        : []),
    ...controlsTable(answer, all),
    ...screenLines(totals, all === ALL_IN_CSV ? '--json and --html have all of them' : all),
    // An empty line before each text.
    ...[lines && LINES_NOTE, unchangedText(totals), stoppedText(conditions), sidesText(head)].flatMap(
      (text) => (text ? ['', ...wrapped(text)] : []),
    ),
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

/** Warnings and citations. They come last, because users read the end of an output. */
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

type Spread = MeanSd & Partial<Pick<NonNullable<ReturnType<Measure['of']>>, 'trials'>>;

/** One group of a report in all conditions. Every condition has the same groups. */
interface Series {
  /** `mn9 left` */
  readonly name: string;
  readonly unit: string;
  /** @returns null if the group has no number */
  valueIn(condition: FoundCondition): Spread | null;
  /** @returns a number for a ranking; see changeOf */
  changeIn(condition: FoundCondition, baseline: FoundCondition): number;
}

/** In the order of the document, except that series without activity in any condition come last. */
function seriesOf({ head, conditions }: CollectedAnswer): Series[] {
  const series = Object.entries(conditions[0]!.groups).flatMap(([report, groups]) => {
    const measure = measureOf(head.experiment, report);
    return groups.map((each, at): Series => {
      const groupIn = ({ groups: found }: FoundCondition) => found[report]![at]!;
      return {
        name: `${report} ${groupSuffix(each)}`.trim(),
        unit: measure.unit,
        valueIn: (condition) => measure.of(groupIn(condition)),
        changeIn: (condition, baseline) =>
          changeOf(measure, groupIn(baseline), groupIn(condition), condition.complete),
      };
    });
  });
  const isActive = ({ valueIn }: Series) =>
    conditions.some((condition) => (valueIn(condition)?.mean ?? 0) > 0);
  return [...series.filter(isActive), ...series.filter((each) => !isActive(each))];
}

/** One row for each condition, with as many series as fit into the width. */
function sweepTable(answer: CollectedAnswer, where: string, lines: Lines | undefined): string[] {
  const { head, conditions } = answer;
  const { sweep = [] } = head.experiment;
  const parameters = sweep.map((axis, at) => parameterColumn(axis, at, conditions));
  const width = parameters.reduce((sum, column) => sum + column.width + 1, 0);
  const all = seriesOf(answer);
  const room = Math.floor((LINE_WIDTH - 2 - width - VALUE_WIDTH) / (VALUE_WIDTH + 1));
  const shown = all.slice(0, Math.max(1, room));
  const isScreen =
    sweep.length === 1 && axisKindOf(sweep[0]!).labelsOf !== undefined && conditions.length > 1;
  const hasBaseline = shown[0] !== undefined && shown[0].valueIn(conditions[0]!) !== null;
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
    ...rows.slice(0, MAX_ROWS).map((condition) => {
      const values = shown.map(({ valueIn }) => spreadText(valueIn(condition), condition));
      return line(Object.values(condition.parameters).map(valueLabel), values, respondingText(condition));
    }),
    ...moreLines(
      rows.length - MAX_ROWS,
      'condition',
      where,
      isScreen && hasBaseline ? 'less changed or stopped, ' : '',
    ),
    ...moreLines(all.length - shown.length, 'group', where),
    ...(isScreen && shown.length > 0
      ? ['', `In the order of ${hasBaseline ? 'the change of ' : ''}${names[0]}; the baseline is none.`]
      : []),
    ...orderList(
      rows
        .slice(0, MAX_ROWS)
        .flatMap(({ parameters, groups }) =>
          Object.values(groups).flatMap((each) => each.map((group) => ({ parameters, group }))),
        ),
      lines,
    ),
  ];
}

/** Headings are short: `sugar.rate_hz`, or `silence type` for an axis of groups. */
function parameterColumn(axis: SweepAxis, at: number, conditions: readonly FoundCondition[]) {
  const labels = axisKindOf(axis).labelsOf?.(axis).map(labelMember) ?? [];
  const heading = [parameterOf(axis).replace(/^inputs\./, ''), ...labels].join(' ');
  const values = conditions.map(({ parameters }) => valueLabel(Object.values(parameters)[at]!).length);
  const width = values.reduce((most, length) => Math.max(most, length), heading.length);
  return { heading, width: Math.min(WIDEST_PARAMETER, width) };
}

/** The baseline, then the other conditions by the size of their difference from it; ties keep their order. */
function mostChanged(conditions: readonly FoundCondition[], series: Series | undefined): FoundCondition[] {
  const [first, ...others] = conditions;
  if (series === undefined || Object.values(first!.parameters)[0] !== null) return [...conditions];
  return [
    first!,
    ...sort(
      others,
      (each) => -series.changeIn(each, first!),
      ({ index }) => index,
    ),
  ];
}

/** Table of an experiment without a sweep: one block for each report, with a row for each group. */
function conditionTable(
  experiment: ExperimentDocument,
  condition: FoundCondition,
  all: string,
  lines: Lines | undefined,
): string[] {
  const { spikes, responding_any: inAny } = condition;
  const total = spikes === null ? STOPPED : `${spreadText(spikes, condition)} spikes`;
  const any = inAny === null ? '' : `, ${inAny} in any trial`;
  const blocks = Object.entries(condition.groups).flatMap(([report, groups]) => {
    const measure = measureOf(experiment, report);
    const { of, unit, respondingOf, lowest } = measure;
    const meanOf = (group: GroupResult) => of(group)?.mean ?? 0;
    const ranked = () => highestFirst(groups, MAX_GROUPS, (group) => activityOf(measure, group));
    // Few groups keep their order; many are sorted by value, so that the largest are visible.
    const rows = groups.length > MAX_GROUPS ? ranked() : groups;
    const scale = Math.max(0, ...rows.map(meanOf));
    return [
      '',
      `${fitted(report, 28)} ${'neurons'.padStart(7)} ${'responding'.padStart(10)}   ${unit}`,
      ...rows.map((group) =>
        [
          `  ${fitted(groupLabel(group), 26)}`,
          String(group.neurons).padStart(7),
          respondingOf(group).padStart(10),
          `  ${fitted(spreadText(of(group), condition), VALUE_WIDTH)}`,
          bar(meanOf(group), scale, BAR_WIDTH),
        ].join(' '),
      ),
      ...moreLines(groups.length - rows.length, 'group', all, lowest ? '' : 'less active, '),
      ...orderList(
        rows.map((group) => ({ parameters: {}, group })),
        lines,
      ),
    ];
  });
  return [`${total}; responding neurons: ${respondingText(condition)}${any}`, ...blocks];
}

/** A row for each group that is compared with controls, in each condition. */
function controlsTable({ head, conditions }: CollectedAnswer, where: string): string[] {
  const { shown, all } = comparisonsOf({ conditions, typeOf: () => undefined }, MAX_ROWS);
  if (shown.length === 0) return [];
  const line = (name: string, rate: string, controls: string, p: string, q: string) =>
    `  ${fitted(name, COMPARED_WIDTH)} ${fitted(rate, VALUE_WIDTH)} ${fitted(controls, VALUE_WIDTH)} ${p.padStart(8)} ${q.padStart(8)}`;
  const numbers = ({ mean, sd }: MeanSd) => `${hundredths(mean).padStart(6)} ± ${hundredths(sd)}`;
  const of = ['group', ...Object.keys(shown[0]!.parameters).map((name) => name.replace(/^inputs\./, ''))];
  return [
    '',
    line(of.join(', '), 'Hz', 'controls (Hz)', 'p', 'q'),
    ...shown.map(({ name, parameters, rate, control: { mean, sd, p, q } }) =>
      line(
        [name, ...Object.values(parameters).map(valueLabel)].join(', '),
        numbers(rate),
        mean === null || sd === null ? NONE : numbers({ mean, sd }),
        chanceText(p),
        chanceText(q),
      ),
    ),
    ...moreLines(all - shown.length, 'group', where, 'higher p or nearer to their controls, '),
    '',
    ...wrapped(scopeOfQ(head.experiment)),
  ];
}

/** The cell types of the rows of a table, in the order of their first rows, with their driver lines. */
function orderList(
  rows: readonly (Pick<ConditionParameters, 'parameters'> & { readonly group: GroupResult })[],
  lines: Lines | undefined,
): string[] {
  if (lines === undefined) return [];
  const { driverLines, typeOf } = lines;
  const types = new Set(rows.flatMap(({ parameters, group }) => typesOfRow(parameters, group, typeOf)));
  const listed = [...types].flatMap((type) =>
    wrapped(`${type.padEnd(20)} ${driverLines.textFor([type])}`, '  ', ' '.repeat(23)),
  );
  return ['', 'Driver lines', ...(listed.length === 0 ? ['  No row has a cell type.'] : listed)];
}

function moreLines(count: number, noun: string, all: string, what = ''): string[] {
  return count <= 0 ? [] : [`  … and ${counted(count, `more ${noun}`)}: ${what}${all}.`];
}

/** The groups that matched controls leave of a screen. */
function screenLines({ screen }: ExperimentTotals, all: string): string[] {
  if (screen === undefined) return [];
  const rows = screen.found.map((each) => {
    const where = [parametersText(each), each.report, ...Object.values(each.group)].filter(Boolean).join(' ');
    return `  ${fitted(where, LINE_WIDTH - 26)} p ${chanceText(each.p)}, q ${chanceText(each.q)}`;
  });
  return [
    '',
    `Of ${counted(screen.tests, 'comparison')} with matched controls, ${rows.length} have q of at most 0.05.`,
    ...rows.slice(0, MAX_ROWS),
    ...moreLines(rows.length - MAX_ROWS, 'comparison', all),
  ];
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

/** Mean and population standard deviation, over the trials that have the number. */
function spreadText(spread: Spread | null, { complete }: FoundCondition): string {
  if (spread === null) return complete ? NONE : STOPPED;
  const { mean, sd, trials = [] } = spread;
  const isOfOne = trials.length > 1 && count(trials) === 1;
  return `${hundredths(mean).padStart(6)}${isOfOne ? '  n = 1' : ` ± ${hundredths(sd)}`}`;
}

/** A large group has a low rate, which is not that of a silent one. */
function hundredths(value: number): string {
  return value > 0 && value < 0.005 ? '<0.01' : value.toFixed(2);
}
