/** The numbers of groups behind figures, by report and condition. */
import { extent, group as grouped, max } from 'd3-array';
import type { ExperimentDocument } from '../document/document.js';
import type { SetAxis } from '../kinds/axes/set.js';
import type { Measure } from '../kinds/report-kind.js';
import { groupKindOf } from '../kinds/report-kinds.js';
import type { RateGroup } from '../kinds/reports/rate.js';
import { groupLabel, groupSuffix, otherSettingsText } from './condition-labels.js';
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

export function entriesOf(report: string, measure: Measured, conditions: readonly FoundCondition[]): Entry[] {
  return conditions.flatMap((condition) =>
    (own(condition.groups, report) ?? []).flatMap((group): Entry[] => {
      const entry = { report, condition, group, value: measure.of(group) };
      const { mean = null, sd = null, values = [] } = (group as Partial<RateGroup>).control ?? {};
      if (mean === null || sd === null) return [entry];
      return [entry, { ...entry, value: { mean, sd, trials: values }, isOfControls: true }];
    }),
  );
}

/** The numbers of all reports of a figure. Numbers of a group are adjacent. */
export function rowsOf(measure: Measured, conditions: readonly FoundCondition[]): MeasuredRow[] {
  return measure.reports.flatMap((report) => {
    const rows = entriesOf(report, measure, conditions).filter(({ isOfControls }) => !isOfControls);
    return [...grouped(rows, ({ group }) => groupLabel(group)).values()].flat();
  });
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
