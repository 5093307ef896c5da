/** The answer of an open experiment as text in 80 columns. */
import type { ExperimentDocument } from '../../answers/v2/document.js';
import type { ExperimentHead, ExperimentTotals, MeanSd } from '../../answers/v2/result.js';
import { groupLabel, valueLabel } from '../../plot/condition-labels.js';
import { bar } from '../bars.js';
import {
  groupIn,
  parameterOf,
  parametersText,
  screenOf,
  seriesOf,
  type CollectedAnswer,
  type CollectedCondition,
  type Series,
} from './collected-answer.js';
import { counted, fitted, LINE_WIDTH, wrapped } from '../text.js';

/** Rows of a sweep, and groups of a report: what is beyond stands in the files. */
const MOST_ROWS = 40;
const MOST_GROUPS = 12;
const RATE_WIDTH = 14;
const WIDEST_PARAMETER = 28;
const BAR_WIDTH = 16;
const STOPPED = 'stopped';

export function answerTable(answer: CollectedAnswer): string {
  const { head, conditions, totals } = answer;
  const isSweep = head.experiment.sweep !== undefined;
  const lines = [
    ...headingOf(head),
    '',
    ...(isSweep ? sweepTable(answer) : conditions.flatMap(conditionTable)),
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
  const room = Math.floor((LINE_WIDTH - 2 - width - RATE_WIDTH) / (RATE_WIDTH + 1));
  const shown = all.slice(0, Math.max(1, room));
  const isScreen = screenOf(experiment) !== undefined && conditions.length > 1;
  const rows = isScreen ? mostChanged(answer, shown[0]) : conditions;
  const line = (left: readonly string[], rates: readonly string[], responding: string) =>
    '  ' +
    [
      ...parameters.map((column, at) => fitted(left[at] ?? '', column.width)),
      ...rates.map((rate) => fitted(rate, RATE_WIDTH)),
      responding.padStart(RATE_WIDTH),
    ].join(' ');
  return [
    line(
      parameters.map(({ heading }) => heading),
      shown.map(({ name }) => name),
      'responding',
    ),
    line(
      [],
      shown.map(() => 'Hz'),
      'neurons',
    ),
    ...rows.slice(0, MOST_ROWS).map((condition) =>
      line(
        Object.values(condition.parameters).map(valueLabel),
        shown.map((series) => spreadText(groupIn(condition, series).rate_hz)),
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
  conditions: readonly CollectedCondition[],
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
    answer.conditions.some((condition) => (groupIn(condition, each).rate_hz?.mean ?? 0) > 0);
  return [...series.filter(isActive), ...series.filter((each) => !isActive(each))];
}

/** The baseline, then the conditions whose rate differs most from it; equal ones in their order. */
function mostChanged({ conditions }: CollectedAnswer, series: Series | undefined): CollectedCondition[] {
  const [first, ...others] = conditions;
  if (series === undefined || Object.values(first!.parameters)[0] !== null) return [...conditions];
  const rateOf = (condition: CollectedCondition) => groupIn(condition, series).rate_hz?.mean ?? 0;
  const change = (condition: CollectedCondition) => Math.abs(rateOf(condition) - rateOf(first!));
  return [first!, ...others.sort((a, b) => change(b) - change(a) || a.index - b.index)];
}

/** Of an experiment without a sweep: one block for each report, with a row for each group. */
function conditionTable(condition: CollectedCondition): string[] {
  const parameters = parametersText(condition);
  const total = condition.spikes === null ? STOPPED : `${spreadText(condition.spikes)} spikes`;
  const lines = [
    `${parameters === '' ? '' : `${parameters}: `}${total}; responding neurons: ${respondingText(condition)}`,
  ];
  for (const [report, groups] of Object.entries(condition.groups)) {
    const ranked = [...groups].sort((a, b) => (b.rate_hz?.mean ?? 0) - (a.rate_hz?.mean ?? 0));
    // A few groups stand in their own order, many by their rates.
    const rows = groups.length > MOST_GROUPS ? ranked.slice(0, MOST_GROUPS) : groups;
    const scale = ranked[0]?.rate_hz?.mean ?? 0;
    lines.push(
      '',
      `${fitted(report, 28)} ${'neurons'.padStart(7)} ${'responding'.padStart(10)}   Hz`,
      ...rows.map((group) =>
        [
          `  ${fitted(groupLabel(group), 26)}`,
          String(group.neurons).padStart(7),
          (group.responding === null ? '' : group.responding.mean.toFixed(1)).padStart(10),
          `  ${fitted(spreadText(group.rate_hz), RATE_WIDTH)}`,
          bar(group.rate_hz?.mean ?? 0, scale, BAR_WIDTH),
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
  const silent =
    unchanged.length === 1 ? 'One more group never spikes' : `${unchanged.length} more groups never spike`;
  return ['', ...wrapped(`${silent} in the baseline, so silencing changes nothing.`)];
}

function notesOf({ head, truncated, conditions }: CollectedAnswer): string[] {
  const stopped = conditions.filter(({ complete }) => !complete).length;
  const readsSides = Object.values(head.experiment.reports).some(({ group_by: labels }) =>
    labels.includes('side'),
  );
  return [
    ...(stopped === 0
      ? []
      : [`${counted(stopped, 'condition')} stopped at the limit on synaptic events; they have no rates.`]),
    ...(truncated.length === 0
      ? []
      : [`The service left out spikes beyond its limit in ${truncated.join(', ')}.`]),
    ...(readsSides ? [head.side_convention] : []),
  ];
}

function respondingText({ responding_neurons: responding }: CollectedCondition): string {
  return responding === null ? STOPPED : `${responding.mean.toFixed(1)} ± ${responding.sd.toFixed(1)}`;
}

/** Mean and standard deviation over the trials. */
function spreadText(spread: MeanSd | null): string {
  return spread === null ? STOPPED : `${spread.mean.toFixed(2).padStart(6)} ± ${spread.sd.toFixed(2)}`;
}
