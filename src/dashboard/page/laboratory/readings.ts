/** What the figures and the table show of an experiment: the rates of its conditions, in the order of the answer. */
import type { EachAxis, ExperimentDocument, ReportDocument, SetAxis } from '../../../answers/v2/document.js';
import type { GroupResult, MeanSd, ParameterValue } from '../../../answers/v2/result.js';
import type { ConditionLine } from '../service/open-experiments.js';
import { groupLabel, parameterLabel, valueLabel } from './labels.js';

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
    const others = otherValues(condition.parameters, [parameter]);
    for (const group of groupsOf(condition, report)) {
      if (group.rate_hz === null) continue;
      const label = [groupLabel(group), ...others].join(', ');
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
      const label = [groupLabel(group), ...otherValues(condition.parameters, [])].join(', ');
      // The middle of a bin stands for it.
      const points = group.bins_hz.map((mean, bin) => ({ x: startMs + (bin + 0.5) * binMs!, mean }));
      return [{ label, points }];
    }),
  );
}

/** The values of the axes beside that of a screen, as one text for each choice. */
export function choicesBeside(conditions: readonly ConditionLine[], axis: EachAxis): string[] {
  return [...new Set(conditions.map((condition) => otherValues(condition.parameters, [axis.as]).join(', ')))];
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
    if (otherValues(condition.parameters, [axis.as]).join(', ') !== choice) continue;
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

function otherValues(parameters: Readonly<Record<string, ParameterValue>>, but: readonly string[]): string[] {
  return Object.entries(parameters)
    .filter(([name]) => !but.includes(name))
    .map(([name, value]) => `${parameterLabel(name)} ${valueLabel(value)}`);
}
