/** The numbers of groups behind figures, by report and condition. Of up to millions, only those that are drawn become entries. */
import { ascending, count, extent, max, range, sort, sum } from 'd3-array';
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
  type FirstRows,
  type FoundCondition,
  type MeasuredRow,
} from './figure-kind.js';
import { MAX_SERIES } from './figure.js';
import { changeOfMean } from './paired-difference.js';
import { measuredReports, measureOf } from './report-figures.js';
import { own } from '../../engine/own.js';

/** Maximum number of bars of a figure. */
const MAX_BARS = 40;
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

type Value = ReturnType<Measure['of']>;

/** The number of a group in a condition. */
export interface Entry extends MeasuredRow {
  /** null if there is no number. */
  readonly value: Value;
  /** True for the mean of the group's controls. */
  readonly isOfControls?: true | undefined;
}

/** The groups of a report: the same ones in all conditions. */
export function groupsIn(condition: FoundCondition | undefined, report: string): readonly GroupResult[] {
  return own(condition?.groups, report) ?? [];
}

/** The number of a group and, if there is one, that of its controls. Both have the same `group`. */
export function entriesOf(row: MeasuredRow, measure: Measured, { typeOf }: Findings): Entry[] {
  const entry = { ...row, group: withType(row.group, typeOf), value: measure.of(row.group) };
  const value = controlsOf(row.group);
  return value === null ? [entry] : [entry, { ...entry, value, isOfControls: true }];
}

/** Tells whether some group of a figure is compared with controls. */
export function hasControls({ reports }: Measured, { conditions }: Findings): boolean {
  return reports.some((report) => groupsIn(conditions[0], report).some((group) => 'control' in group));
}

export function controlsOf(group: GroupResult): Value {
  const { mean = null, sd = null, values = [] } = (group as Partial<RateGroup>).control ?? {};
  return mean === null || sd === null ? null : { mean, sd, trials: values };
}

/** Lines of numbers, each of a group or of its controls, in the order of their first numbers. */
export type Lines = ReturnType<typeof linesOf>;

/**
 * @param ownAxes axes of the figure. A group has a line for each combination of values of the others
 * @param keepsMissing true if lines have entries without a number, and some may have nothing else
 */
export function linesOf(
  report: string,
  measure: Measured,
  findings: Findings,
  ownAxes: readonly string[],
  keepsMissing = false,
) {
  const { conditions } = findings;
  const texts = conditions.map(({ parameters }) => otherSettingsText(parameters, ownAxes));
  const width = 2 * groupsIn(conditions[0], report).length;
  const starts = new Map(texts.map((text, at) => [text, at * width]));
  const [keys, highest, lowest]: [number[], number[], number[]] = [[], [], []];
  /** The line of each key plus 1; 0 before its first number. Even keys are of groups, odd ones of their controls. */
  const lineOf = new Uint32Array(conditions.length * width);
  const add = (key: number, mean: number | undefined): void => {
    if (mean === undefined && !keepsMissing) return;
    const line = (lineOf[key] ||= keys.push(key)) - 1;
    highest[line] = Math.max(highest[line] ?? -Infinity, mean ?? -Infinity);
    lowest[line] = Math.min(lowest[line] ?? Infinity, mean ?? Infinity);
  };
  /** Numbers of trials. */
  const sizes = new Set<number>();
  conditions.forEach((condition, at) => {
    let key = starts.get(texts[at]!)!;
    for (const group of groupsIn(condition, report)) {
      const value = measure.of(group);
      const controls = controlsOf(group);
      if (value !== null) sizes.add(count(value.trials));
      add(key, value?.mean);
      if (controls !== null) add(key + 1, controls.mean);
      key += 2;
    }
  });
  /** The conditions of a line, also those without its number. */
  const conditionsOf = (line: number) =>
    conditions.filter((_, at) => starts.get(texts[at]!) === keys[line]! - (keys[line]! % width));
  const entriesOfLine = (line: number): Entry[] => {
    const key = keys[line]!;
    return conditionsOf(line)
      .map((condition) => ({ report, condition, group: groupsIn(condition, report)[(key % width) >> 1]! }))
      .flatMap((row) => entriesOf(row, measure, findings).slice(key % 2, (key % 2) + 1))
      .filter(({ value }) => value !== null || keepsMissing);
  };
  return { highest, lowest, sizes, conditionsOf, entriesOf: entriesOfLine };
}

/** How strongly a group responds; the least number if it has no value. */
export function activityOf({ of, lowest }: Pick<Measure, 'of' | 'lowest'>, group: GroupResult): number {
  const mean = of(group)?.mean ?? null;
  if (mean === null) return -Infinity;
  return lowest === undefined ? mean : -mean;
}

/**
 * How much a group's number changes in a condition, for a ranking. If nothing in any trial has the number any more, such
 * as a first spike, the change is the largest. It is the least if the condition was stopped. Without a number before the
 * change, the group's activity counts. Without a trial to compare, it is 0.
 */
export function changeOf(
  measure: Pick<Measure, 'of' | 'lowest'>,
  before: GroupResult,
  after: GroupResult,
  isComplete: boolean,
): number {
  const [from, to] = [measure.of(before), measure.of(after)];
  if (from === null) return activityOf(measure, after);
  if (to === null) return isComplete ? Infinity : -Infinity;
  return Math.abs(changeOfMean(to, from) ?? 0);
}

/** Selects those with the highest numbers, the highest first. Equal ones are in the order of `ofEqual`, then in their own. */
export function highestFirst<T>(all: readonly T[], most: number, of: (one: T) => number, ofEqual = of): T[] {
  // A sort of plain numbers is fast, and leaves few to compare.
  const numbers = all.map(of);
  const least = new Float64Array(numbers).sort().at(-most) ?? -Infinity;
  const candidates = all.filter((_, at) => numbers[at]! >= least);
  const order = [of, ofEqual].map((number) => (one: T) => -number(one));
  return sort(candidates, ...order).slice(0, most);
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
export function rowsOf(measure: Measured, { conditions, typeOf }: Findings, isRanked = false): FirstRows {
  const { reports } = measure;
  const all = conditions.length * sum(reports, (report) => groupsIn(conditions[0], report).length);
  const most = MAX_ROWS / conditions.length;
  const lists = reports.map((report) => {
    const columns = conditions.map((condition) => groupsIn(condition, report));
    const groups = range(columns[0]?.length ?? 0);
    if (!isRanked && all <= MAX_ROWS) return groups;
    const activity = (at: number) => max(columns, (column) => activityOf(measure, column[at]!))!;
    return highestFirst(groups, Math.ceil(most), activity);
  });
  const first = firstOfEach(lists, most);
  const others = lists.map((groups, report) => groups.slice(first[report]!.length));
  const shown = [...first, ...others].flatMap((groups, at) => {
    const report = reports[at % reports.length]!;
    return groups.flatMap((group) =>
      conditions.map((condition): MeasuredRow => {
        return { report, condition, group: withType(groupsIn(condition, report)[group]!, typeOf) };
      }),
    );
  });
  const order = `the ${measure.lowest ?? 'most active'} groups of each report first`;
  return { shown: shown.slice(0, MAX_ROWS), all, order };
}

/** Findings of the conditions with the chosen values of the axes that the figure does not show. */
export function findingsAt(findings: Findings, shown: readonly string[], chosen: Chosen): Findings {
  const beside = chosen(otherSettingsChoice(findings, shown));
  const isChosen = ({ parameters }: FoundCondition) => otherSettingsText(parameters, shown) === beside;
  return { ...findings, conditions: findings.conditions.filter(isChosen) };
}

/** @param sizes of a series of controls: the number of controls of each condition */
export function seriesName(
  { group, condition, isOfControls }: Omit<Entry, 'value' | 'report'>,
  ownAxes: readonly string[],
  sizes: readonly number[] = [],
) {
  const controls = isOfControls && `controls (n = ${rangeText(sizes)})`;
  const names = [groupLabel(group), controls];
  return [...names, otherSettingsText(condition.parameters, ownAxes)].filter(Boolean).join(', ');
}

/** `n = 30 trials`. @param sizes numbers of trials, counting only trials with a number: a latency may lack some */
export function sampleSize(sizes: Iterable<number>): string {
  const range = rangeText(sizes);
  return `n = ${range} trial${range === '1' ? '' : 's'}`;
}

function rangeText(sizes: Iterable<number>): string {
  const [least = 0, most = 0] = extent(sizes);
  return least === most ? String(most) : `${least} to ${most}`;
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

/** Stands below a figure with controls. */
export const CONTROLS_NOTE = 'Those of controls are means over the controls.';

export const SPREAD = { label: '± population sd', paint: 'text' } as const;

/** Tells whether a mean is that of a silent group. A time of 0 is the fastest response; a silent group has none. */
export function isSilent({ lowest }: Measure, mean: number): boolean {
  return lowest === undefined ? mean <= 0 : mean < 0;
}

/**
 * All entries that are not silent; if all are, the first one.
 * @param all each with its highest mean; negative if there is none
 */
export function withoutSilent<T extends { readonly report: string; readonly highest: number }>(
  measure: Measure,
  all: readonly T[],
) {
  const active = all.filter(({ highest }) => !isSilent(measure, highest));
  const drawn = active.length > 0 ? active : all.slice(0, 1);
  const silent = all.filter((each) => !drawn.includes(each)).map(({ report }) => report);
  return { drawn, silent: silent.length > 0 && `Silent: ${silent.join(', ')}.` };
}

export function leftOut(groups: number, which: string): string | false {
  if (groups === 1) return `1 ${which} group is left out; the table has it.`;
  return groups > 0 && `${groups} ${which} groups are left out; the table has them.`;
}

/** Selects as many lines as readers can tell apart: those that change most; of equal changes, the higher ones. Skips silent lines, unless all are. */
export function mostChanging({ highest, lowest }: Lines, measure: Measured): readonly number[] {
  const all = range(highest.length);
  if (all.length <= MAX_SERIES) return all;
  const active = all.filter((line) => !isSilent(measure, highest[line]!));
  const changeOf = (line: number) => highest[line]! - lowest[line]!;
  const ranked = active.length > 0 ? active : all;
  return highestFirst(ranked, MAX_SERIES, changeOf, (line) => highest[line]!).sort(ascending);
}

/** The groups that bars show, each with the numbers of its controls: all that are active or, if they are too many, the most active. */
export function barredGroups(measure: Measured, findings: Findings) {
  const [condition] = findings.conditions;
  const groupsOf = measure.reports.map((report) => groupsIn(condition, report));
  /** The higher mean of a group and its controls; negative if there is none. */
  const highestIn = (group: GroupResult) =>
    Math.max(measure.of(group)?.mean ?? -1, controlsOf(group)?.mean ?? -1);
  const lists = groupsOf.map((groups) => groups.filter((group) => highestIn(group) >= 0));
  // Controls stay beside their group even if they are silent.
  const activeOnly = lists.map((groups) => groups.filter((group) => !isSilent(measure, highestIn(group))));
  const countOf = (all: typeof lists) => sum(all, ({ length }) => length);
  const isAllSilent = countOf(activeOnly) === 0;
  const drawable = isAllSilent ? lists : activeOnly;
  const most = hasControls(measure, findings) ? MAX_BARS / 2 : MAX_BARS;
  const isCut = countOf(drawable) > most;
  const ranked = drawable.map((groups) =>
    isCut ? highestFirst(groups, most, (group) => activityOf(measure, group)) : groups,
  );
  const shown = firstOfEach(ranked, most)
    .flatMap((groups, at) =>
      groups.map((group) => ({ report: measure.reports[at]!, condition: condition!, group })),
    )
    .slice(0, most)
    .map((row) => entriesOf(row, measure, findings).filter(({ value }) => value !== null));
  const all = countOf(lists);
  return { shown, isCut, all, silent: isAllSilent ? 0 : all - countOf(activeOnly) };
}
