/** The numbers of groups behind figures, by report and condition. */
import { descending, extent, group as grouped, max, sum } from 'd3-array';
import type { ExperimentDocument } from '../document/document.js';
import type { SetAxis } from '../kinds/axes/set.js';
import type { Measure } from '../kinds/report-kind.js';
import { groupKindOf } from '../kinds/report-kinds.js';
import type { RateGroup } from '../kinds/reports/rate.js';
import type { GroupResult } from '../kinds/result-rows.js';
import { groupLabel, groupSuffix, otherSettingsText, withType } from './condition-labels.js';
import {
  otherSettingsChoice,
  type Chosen,
  type Findings,
  type FoundCondition,
  type MeasuredRow,
} from './figure-kind.js';
import { counted } from './figure.js';
import { measuredReports, measureOf } from './report-figures.js';
import { own } from '../../engine/own.js';

/** Maximum number of rows of a table. Nobody reads longer ones. */
export const MAX_ROWS = 1000;

/** Reports with the same measure, which share a figure. */
export interface Measured extends Measure {
  readonly name: string;
  readonly table: string;
  readonly reports: readonly string[];
}

export function measuredIn(experiment: ExperimentDocument, measure: Measure): Measured {
  const reports = measuredReports(experiment).filter((report) => measureOf(experiment, report) === measure);
  const name = measure.label.charAt(0).toLowerCase() + measure.label.slice(1);
  const table = groupKindOf(experiment.reports[reports[0]!]!)!.tables[0]!.name;
  return { ...measure, name, table, reports };
}

/** The number of a group in a condition. */
export interface Entry extends MeasuredRow {
  /** null if there is no number. */
  readonly value: ReturnType<Measure['of']>;
  /** True for the mean of the group's controls. */
  readonly isOfControls?: true | undefined;
}

/** Numbers of a group and of its controls are adjacent, and have the same `group`. */
export function entriesOf(
  report: string,
  measure: Measured,
  { typeOf }: Findings,
  conditions: readonly FoundCondition[],
): Entry[] {
  return conditions.flatMap((condition) =>
    (own(condition.groups, report) ?? []).flatMap((group): Entry[] => {
      const entry = { report, condition, group: withType(group, typeOf), value: measure.of(group) };
      const { mean = null, sd = null, values = [] } = (group as Partial<RateGroup>).control ?? {};
      if (mean === null || sd === null) return [entry];
      return [entry, { ...entry, value: { mean, sd, trials: values }, isOfControls: true }];
    }),
  );
}

/** How strongly a group responds; the least number if it has no value. */
export function activityOf({ of, lowest }: Measure, group: GroupResult): number {
  const mean = of(group)?.mean ?? null;
  if (mean === null) return -Infinity;
  return lowest === undefined ? mean : -mean;
}

/** Sorts the most active groups first; ties keep their order. @param all each with the rows of a group */
export function mostActive<T extends MeasuredRow>(
  all: readonly (readonly T[])[],
  measure: Measure,
): (readonly T[])[] {
  return all
    .map((rows) => ({ rows, activity: max(rows, ({ group }) => activityOf(measure, group)) }))
    .sort((a, b) => descending(a.activity, b.activity))
    .map(({ rows }) => rows);
}

/** The beginnings of lists, in all at most a number of entries. Short lists are whole. */
export function firstOfEach<T>(lists: readonly (readonly T[])[], most: number): (readonly T[])[] {
  let each = Math.max(1, Math.floor(most));
  while (each > 1 && sum(lists, ({ length }) => Math.min(length, each)) > most) each--;
  return lists.map((list) => list.slice(0, each));
}

/**
 * The numbers of all reports of a figure. Numbers of a group are adjacent.
 * @param isRanked true to sort the most active groups of each report first. More rows than a table shows are sorted in any case,
 *   and those that it can show of each report come first.
 */
export function rowsOf(
  measure: Measured,
  findings: Findings,
  conditions: readonly FoundCondition[],
  isRanked = false,
): readonly MeasuredRow[] {
  const lists = measure.reports.map((report) => {
    const rows = entriesOf(report, measure, findings, conditions).filter(({ isOfControls }) => !isOfControls);
    return [...grouped(rows, ({ group }) => groupLabel(group)).values()];
  });
  const isLong = sum(lists, (groups) => sum(groups, ({ length }) => length)) > MAX_ROWS;
  if (!isLong && !isRanked) return lists.flat(2);
  const ranked = lists.map((groups) => mostActive(groups, measure));
  if (!isLong) return ranked.flat(2);
  const first = firstOfEach(ranked, MAX_ROWS / conditions.length);
  const others = ranked.map((groups, report) => groups.slice(first[report]!.length));
  return [...first, ...others].flat(2);
}

/** The order of rowsOf if they are too many for a table. */
export function longOrder({ lowest = 'most active' }: Measure): string {
  return `the ${lowest} groups of each report first`;
}

/** The conditions with the chosen values of the axes that the figure does not show. */
export function conditionsAt(
  findings: Findings,
  shown: readonly string[],
  chosen: Chosen,
): readonly FoundCondition[] {
  const beside = chosen(otherSettingsChoice(findings, shown));
  return findings.conditions.filter(({ parameters }) => otherSettingsText(parameters, shown) === beside);
}

export function seriesName(
  { group, condition, isOfControls }: Omit<Entry, 'value' | 'report'>,
  ownAxes: readonly string[],
) {
  const controls = isOfControls && `controls (n = ${(group as Partial<RateGroup>).control?.values.length})`;
  const names = [groupLabel(group), controls];
  return [...names, otherSettingsText(condition.parameters, ownAxes)].filter(Boolean).join(', ');
}

/** `n = 30 trials`, counting only trials with a number: a latency may lack some. */
export function sampleSize(entries: readonly Entry[]): string {
  const counts = entries
    .filter(({ isOfControls }) => !isOfControls)
    .flatMap((entry) => trialsOf(entry) ?? []);
  const [least = 0, most = 0] = extent(counts);
  return `n = ${least === most ? '' : `${least} to `}${counted(most, 'trial')}`;
}

/** @returns the number of trials, or controls, with a number; undefined if none has one */
export function trialsOf({ value }: Entry): number | undefined {
  return value?.trials.filter((each) => each !== null).length;
}

export function highestOf(entries: readonly Entry[]): number {
  return max(entries, ({ value }) => value?.mean) ?? 0;
}

export function valueOf({ parameters }: FoundCondition, { set }: SetAxis): number {
  return parameters[set] as number;
}

export function nameOf(
  report: string,
  { group, isOfControls }: Pick<Entry, 'group' | 'isOfControls'>,
): string {
  return `${report} ${groupSuffix(group)}`.trim() + (isOfControls ? ', controls' : '');
}

export const SPREAD = { label: '± population sd', paint: 'text' } as const;

/** All entries that are not silent; if all are, the first one. */
export function withoutSilent<T extends { readonly report: string; readonly highest: number }>(
  all: readonly T[],
) {
  const active = all.filter(({ highest }) => highest > 0);
  const drawn = active.length > 0 ? active : all.slice(0, 1);
  const silent = all.filter((each) => !drawn.includes(each)).map(({ report }) => report);
  return { drawn, silent: silent.length > 0 && `Silent: ${silent.join(', ')}.` };
}

export function leftOut(groups: number, which: string): string | false {
  if (groups === 1) return `1 ${which} group is left out; the table has it.`;
  return groups > 0 && `${groups} ${which} groups are left out; the table has them.`;
}
