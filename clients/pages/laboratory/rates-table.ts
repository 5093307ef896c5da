/** Shows the measures of all conditions, such as rates and latencies, as a table with the same rows as the CSV. */
import { parameterOf } from '../../../src/experiments/kinds/axis-kinds.js';
import type { GroupResult } from '../../../src/experiments/kinds/result-rows.js';
import type { ExperimentDocument } from '../../../src/experiments/document/document.js';
import { element, grouped, tableHead } from '../dom.js';
import type { Findings, FirstRows, FoundCondition } from '../../../src/experiments/figures/figure-kind.js';
import { rounded } from '../../../src/experiments/figures/figure.js';
import { activityOf, groupsIn, highestFirst } from '../../../src/experiments/figures/measured-entries.js';
import { measuredReports, measureOf } from '../../../src/experiments/figures/report-figures.js';
import {
  conditionLabel,
  controlText,
  groupLabel,
  parameterTitle,
  namedValue,
  withType,
} from '../../../src/experiments/figures/condition-labels.js';

/** @param most largest number of visible rows  @returns the number of all rows */
export function fillRatesTable(
  table: HTMLTableElement,
  experiment: ExperimentDocument,
  findings: Findings | undefined,
  most: number,
): number {
  const parameters = (experiment.sweep ?? []).map(parameterOf);
  const reports = measuredReports(experiment);
  const values = new Set(reports.map((report) => titleOfValue(experiment, report)));
  const value = values.size === 1 ? [...values][0]! : 'Mean ± population sd';
  const ofControls = experiment.controls === undefined ? [] : ['Controls'];
  const titles = [
    ...parameters.map(parameterTitle),
    'Report',
    'Group',
    value,
    ...ofControls,
    'Responding',
    'Neurons',
  ];
  const valueText = ({ complete }: FoundCondition, report: string, group: GroupResult): string => {
    const { of, unit } = measureOf(experiment, report);
    const found = of(group);
    if (found === null) return complete ? 'none' : 'stopped';
    return `${rounded(found.mean)} ± ${rounded(found.sd)}${values.size === 1 ? '' : ` ${unit}`}`;
  };
  const typeOf = findings?.typeOf ?? (() => undefined);
  const { shown, all } = findings === undefined ? { shown: [], all: 0 } : firstRows(findings, most);
  const rows = shown.map(({ condition, report, group }) => {
    const texts = [
      ...parameters.map((name) => conditionLabel(name, namedValue(condition.parameters[name]!, typeOf))),
      report,
      groupLabel(withType(group, typeOf)),
      valueText(condition, report, group),
      ...ofControls.map(() => controlText(group) || '–'),
      measureOf(experiment, report).respondingOf(group).replace(/\.0$/, '') || '–',
      grouped(group.neurons),
    ];
    return element('tr', {}, ...texts.map((text) => element('td', {}, text)));
  });
  table.replaceChildren(tableHead(titles), element('tbody', {}, ...rows));
  return all;
}

/** The first rows. Groups of a single condition are sorted by activity if they are too many, so that these rows say something. */
export function firstRows({ head: { experiment }, conditions }: Findings, most: number): FirstRows {
  const lists = conditions.flatMap((condition) =>
    measuredReports(experiment).map((report) => ({ condition, report, groups: groupsIn(condition, report) })),
  );
  const all = lists.reduce((sum, { groups }) => sum + groups.length, 0);
  const isRanked = all > most && experiment.sweep === undefined;
  let left = most;
  const shown = lists.flatMap(({ condition, report, groups }) => {
    const activity = (group: GroupResult) => activityOf(measureOf(experiment, report), group);
    const few = isRanked && left > 0 ? highestFirst(groups, left, activity) : groups.slice(0, left);
    left -= few.length;
    return few.map((group) => ({ condition, report, group }));
  });
  return { shown, all };
}

function titleOfValue(experiment: ExperimentDocument, report: string): string {
  const { label, unit } = measureOf(experiment, report);
  return `${label} (${unit})`;
}
