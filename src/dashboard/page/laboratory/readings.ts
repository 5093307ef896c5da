/** What the figures and the table show of an experiment: the rates of its conditions, in the order of the answer. */
import type { EachAxis, ExperimentDocument, ReportDocument, SetAxis } from '../../../answers/v2/document.js';
import type { GroupResult, MeanSd } from '../../../answers/v2/result.js';
import { SIDES } from '../../../connectome/connectome.js';
import type { TableColumns } from '../../../answers/v2/formats/table-columns.js';
import { besideText, groupLabel, valueLabel } from '../../../plot/condition-labels.js';
import type { NeuronIndex } from '../service/neuron-labels.js';
import type { ConditionLine } from '../service/open-experiments.js';
import type { RasterBand, RasterMarks } from './raster-figure.js';

export interface Point {
  readonly x: number;
  readonly mean: number;
  /** Nothing where it is not known. */
  readonly sd?: number;
}

/** Points of one line of a dose curve, in the order of the parameter. */
export interface Series {
  readonly label: string;
  readonly points: readonly Point[];
}

/** A group of a screen in place of the baseline's. */
export interface Ranked extends MeanSd {
  readonly label: string;
}

export interface Ranking {
  /** Nothing while its condition is not done, or was stopped. */
  readonly baseline: MeanSd | undefined;
  /** The largest change first; where neurons are stimulated, the highest rate first. */
  readonly entries: readonly Ranked[];
}

export function setAxisOf({ sweep = [] }: ExperimentDocument): SetAxis | undefined {
  return sweep.find((axis): axis is SetAxis => 'set' in axis);
}

export function eachAxisOf({ sweep = [] }: ExperimentDocument): EachAxis | undefined {
  return sweep.find((axis): axis is EachAxis => 'each' in axis);
}

/** Names of the reports that have rates. */
export function rateReports({ reports }: ExperimentDocument): string[] {
  return Object.keys(reports).filter((name) => ['rate', 'histogram'].includes(reports[name]!.type));
}

/** Names of the reports that are tables, the input events first: they come before the spikes. */
export function tableReports({ reports }: ExperimentDocument): string[] {
  return (['inputs', 'spikes'] as const).flatMap((table) =>
    Object.keys(reports).filter((name) => reports[name]!.type === table),
  );
}

/** The rows of a report that is a table. */
export function columnsOf({ reports }: ConditionLine, report: string): TableColumns | undefined {
  const columns = reports[report];
  return columns === undefined || Array.isArray(columns) ? undefined : (columns as TableColumns);
}

/** The groups of a report in a condition; none of a report that is a table. */
export function groupsOf({ reports }: ConditionLine, report: string): readonly GroupResult[] {
  const groups = reports[report];
  return Array.isArray(groups) ? groups : [];
}

/** Names of the groups of a report, in the order of the answer. */
export function groupNames(conditions: readonly ConditionLine[], report: string): string[] {
  return [...new Set(conditions.flatMap((condition) => groupsOf(condition, report).map(groupLabel)))];
}

/** The rates of a report over the values of a parameter: one series for each group and value of the other axes. */
export function doseSeries(
  conditions: readonly ConditionLine[],
  parameter: string,
  report: string,
): Series[] {
  const series = new Map<string, Point[]>();
  for (const condition of conditions) {
    const others = besideText(condition.parameters, [parameter]);
    for (const group of groupsOf(condition, report)) {
      if (group.rate_hz === null) continue;
      const label = [groupLabel(group), others].filter(Boolean).join(', ');
      const points = series.get(label) ?? [];
      series.set(label, points);
      points.push({
        x: condition.parameters[parameter] as number,
        mean: group.rate_hz.mean,
        sd: group.rate_hz.sd,
      });
    }
  }
  return [...series].map(([label, points]) => ({ label, points: points.sort((a, b) => a.x - b.x) }));
}

/** The rates of a histogram in its bins: one series for each condition and group. There is no spread over trials. */
export function timeSeries(
  conditions: readonly ConditionLine[],
  report: string,
  document: ReportDocument,
): Series[] {
  const { start_ms: startMs, bin_ms: binMs } = document;
  return conditions.flatMap((condition) =>
    groupsOf(condition, report).flatMap((group) => {
      if (group.bins_hz == null) return [];
      const label = [groupLabel(group), besideText(condition.parameters, [])].filter(Boolean).join(', ');
      // The middle of a bin stands for it.
      const points = group.bins_hz.map((mean, bin) => ({ x: startMs + (bin + 0.5) * binMs!, mean }));
      return [{ label, points }];
    }),
  );
}

/**
 * The values of the axes beside those that a figure shows, as one text for each choice.
 * @param shown parameters of the figure's own axes
 */
export function choicesBeside(conditions: readonly ConditionLine[], shown: readonly string[]): string[] {
  return [...new Set(conditions.map(({ parameters }) => besideText(parameters, shown)))];
}

/** @param choice one of choicesBeside */
export function rankingOf(
  conditions: readonly ConditionLine[],
  axis: EachAxis,
  choice: string,
  report: string,
  group: string,
): Ranking {
  let baseline: MeanSd | undefined;
  const entries: Ranked[] = [];
  for (const condition of conditions) {
    if (besideText(condition.parameters, [axis.as]) !== choice) continue;
    const rate = groupsOf(condition, report).find((each) => groupLabel(each) === group)?.rate_hz;
    if (rate == null) continue;
    const value = condition.parameters[axis.as]!;
    if (value === null) baseline = { mean: rate.mean, sd: rate.sd };
    else entries.push({ label: valueLabel(value), mean: rate.mean, sd: rate.sd });
  }
  const change = ({ mean }: Ranked): number => Math.abs(mean - (baseline?.mean ?? 0));
  const rank = axis.as === 'silence' ? change : ({ mean }: Ranked): number => mean;
  return { baseline, entries: entries.sort((a, b) => rank(b) - rank(a)) };
}

export interface RasterRows {
  readonly bands: readonly RasterBand[];
  readonly marks: readonly RasterMarks[];
  /** With at least one event. */
  readonly neurons: number;
  readonly events: number;
  /** How many events are drawn: all, or every second, third, ... one. */
  readonly drawn: number;
}

/**
 * A row for each neuron, or for each trial of each neuron, of those that have an event.
 * @param trials that are shown; with several each neuron has a row for each
 * @param mostMarks of the figure; with more events every n-th is drawn
 */
export function rasterRows(
  columns: TableColumns,
  trials: readonly number[],
  inputNames: readonly string[],
  neurons: NeuronIndex | undefined,
  mostMarks: number,
): RasterRows {
  const rowOfTrial = new Map(trials.map((trial, row) => [trial, row]));
  const events = columns.trial.flatMap((trial, event) => (rowOfTrial.has(trial) ? [event] : []));
  const ids = inOrder(new Set(events.map((event) => columns.root_id[event]!)), neurons);
  const rowOfNeuron = new Map(ids.map((id, row) => [id, trials.length * row]));
  const stride = Math.max(1, Math.ceil(events.length / mostMarks));
  const drawn = events.filter((_, at) => at % stride === 0);
  const names = columns.input === undefined ? [''] : inputNames;
  const marks = names.map((label): RasterMarks => {
    const own =
      columns.input === undefined ? drawn : drawn.filter((event) => columns.input![event] === label);
    return {
      label,
      timesMs: own.map((event) => columns.t_ms[event]!),
      rows: own.map(
        (event) => rowOfNeuron.get(columns.root_id[event]!)! + rowOfTrial.get(columns.trial[event]!)!,
      ),
    };
  });
  return {
    bands: bandsOf(ids, trials.length, neurons),
    marks: marks.filter(({ rows }) => rows.length > 0),
    neurons: ids.length,
    events: events.length,
    drawn: drawn.length,
  };
}

/** Neurons of one type and side stand together, where that is known. */
function inOrder(ids: ReadonlySet<string>, neurons: NeuronIndex | undefined): string[] {
  if (neurons === undefined) return [...ids].sort();
  return [...ids].sort((a, b) => neurons.indexOf(a) - neurons.indexOf(b));
}

/** A band for each type and side, or for each neuron where that is not known. */
function bandsOf(
  ids: readonly string[],
  rowsOfNeuron: number,
  neurons: NeuronIndex | undefined,
): RasterBand[] {
  const labelOf = (id: string): string => {
    if (neurons === undefined) return id;
    const neuron = neurons.indexOf(id);
    const type = neurons.metadata.types[neurons.typeIndices[neuron]!]!.name;
    return `${type || 'untyped'} ${SIDES[neurons.sides[neuron]!]!}`.trim();
  };
  const bands: RasterBand[] = [];
  let before: string | undefined;
  for (const id of ids) {
    const label = labelOf(id);
    if (label !== before) bands.push({ label, rows: rowsOfNeuron });
    // Trials of a neuron are not to be taken for neurons of a type.
    else if (rowsOfNeuron > 1) bands.push({ label: '', rows: rowsOfNeuron });
    else bands[bands.length - 1] = { label, rows: bands.at(-1)!.rows + 1 };
    before = label;
  }
  return bands;
}
