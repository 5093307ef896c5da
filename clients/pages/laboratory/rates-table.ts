/** The rates of all conditions as a table, the same rows as in the CSV. */
import type { ExperimentDocument } from '../../../answers/v2/document.js';
import { element, grouped } from '../dom.js';
import type { ConditionLine } from '../service/open-experiments.js';
import { groupLabel, parameterLabel, valueLabel } from '../../../plot/condition-labels.js';
import { rounded } from './rounded-rate.js';
import { groupsOf, rateReports } from './readings.js';

/** More rows make a page slow; the files have all. */
const MOST_ROWS = 300;

/** @returns how many rows there are in all, and how many the table shows */
export function fillRatesTable(
  table: HTMLTableElement,
  experiment: ExperimentDocument,
  conditions: readonly ConditionLine[],
): { readonly rows: number; readonly shown: number } {
  const parameters = (experiment.sweep ?? []).map((axis) => ('set' in axis ? axis.set : axis.as));
  const titles = [...parameters.map(titleOf), 'Report', 'Group', 'Rate (Hz)', 'Responding', 'Neurons'];
  const reports = rateReports(experiment);
  const rows = conditions.flatMap((condition) =>
    reports.flatMap((report) => groupsOf(condition, report).map((group) => ({ condition, report, group }))),
  );
  const shown = rows.slice(0, MOST_ROWS);
  table.replaceChildren(
    element('thead', {}, element('tr', {}, ...titles.map((title) => element('th', { scope: 'col' }, title)))),
    element(
      'tbody',
      {},
      ...shown.map(({ condition, report, group }) =>
        element(
          'tr',
          {},
          ...parameters.map((name) => element('td', {}, valueLabel(condition.parameters[name]!))),
          element('td', {}, report),
          element('td', {}, groupLabel(group)),
          element(
            'td',
            {},
            group.rate_hz === null
              ? 'stopped'
              : `${rounded(group.rate_hz.mean)} ± ${rounded(group.rate_hz.sd)}`,
          ),
          element(
            'td',
            {},
            group.responding === null ? '–' : String(Number(group.responding.mean.toFixed(1))),
          ),
          element('td', {}, grouped(group.neurons)),
        ),
      ),
    ),
  );
  return { rows: rows.length, shown: shown.length };
}

function titleOf(parameter: string): string {
  return parameter === 'silence' ? 'Silenced' : parameterLabel(parameter);
}
