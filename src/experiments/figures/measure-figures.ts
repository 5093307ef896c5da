/** Figures of the numbers of groups: bars, curves, heat maps, screens. */
import { ascending, extent, group as grouped, max, min, sum } from 'd3-array';
import type { ExperimentDocument } from '../document/document.js';
import type { EachAxis } from '../kinds/axes/each.js';
import type { SetAxis } from '../kinds/axes/set.js';
import { editKindOf } from '../kinds/edit-kinds.js';
import type { Measure } from '../kinds/report-kind.js';
import { groupKindOf } from '../kinds/report-kinds.js';
import type { RateGroup } from '../kinds/reports/rate.js';
import {
  conditionLabel,
  otherSettingsText,
  groupLabel,
  groupSuffix,
  parameterLabel,
  settingText,
} from './condition-labels.js';
import {
  otherSettingsChoice,
  type Choice,
  type Chosen,
  type FigureKind,
  type Findings,
  type FoundCondition,
  type MeasuredRow,
  sentences,
  wide,
} from './figure-kind.js';
import {
  counted,
  MAX_SERIES,
  rounded,
  type Cell,
  type LegendEntry,
  type Panel,
  type Section,
} from './figure.js';
import { barsPanel, curvesPanel, meanAndSd, type Bar, type Series } from './panels.js';
import { measuredReports, measureOf } from './report-figures.js';

const MAX_BARS = 40;
/** Heat maps of one report at most; more would be too small to read. */
const MAX_MAPS = 6;

/** Reports whose numbers are drawn in one figure. */
interface Measured extends Measure {
  readonly name: string;
  readonly table: string;
  readonly reports: readonly string[];
}

function measuredIn(experiment: ExperimentDocument, measure: Measure): Measured {
  const reports = measuredReports(experiment).filter((report) => measureOf(experiment, report) === measure);
  const name = measure.label.charAt(0).toLowerCase() + measure.label.slice(1);
  const table = groupKindOf(experiment.reports[reports[0]!]!)!.tables[0]!.name;
  return { ...measure, name, table, reports };
}

export function measureFigures(experiment: ExperimentDocument, of: Measure): FigureKind[] {
  const measure = measuredIn(experiment, of);
  const axes = experiment.sweep ?? [];
  const each = axes.find((axis): axis is EachAxis => 'each' in axis);
  if (each !== undefined) return [screenFigure(each, measure)];
  const sets = axes.filter((axis): axis is SetAxis => 'set' in axis);
  const [x, y] = sets.filter(({ values }) => values.length > 1);
  if (x !== undefined && y !== undefined) {
    const curvesOfMap = curvesFigure(x, { ...measure, name: `${measure.name} as curves` });
    return [heatMapFigure(x, y, measure), curvesOfMap];
  }
  const dose = x ?? sets[0];
  if (dose === undefined) return [groupsFigure(measure)];
  const inOrder = (a: FoundCondition, b: FoundCondition) => valueOf(a, dose) - valueOf(b, dose);
  return [
    {
      ...curvesFigure(dose, measure),
      rows: ({ conditions }) => rowsOf(measure, [...conditions].sort(inOrder)),
    },
  ];
}

/** The number of a group in a condition. */
interface Entry extends MeasuredRow {
  /** null where there is none. */
  readonly value: ReturnType<Measure['of']>;
  /** True for the mean of its controls. */
  readonly isOfControls?: true;
}

function entriesOf(report: string, measure: Measured, conditions: readonly FoundCondition[]): Entry[] {
  return conditions.flatMap((condition) =>
    (condition.groups[report] ?? []).flatMap((group): Entry[] => {
      const own = { report, condition, group, value: measure.of(group) };
      const { mean = null, sd = null, values = [] } = (group as Partial<RateGroup>).control ?? {};
      if (mean === null || sd === null) return [own];
      return [own, { ...own, value: { mean, sd, trials: values }, isOfControls: true }];
    }),
  );
}

/** Numbers of all reports of a figure, those of a group together. */
function rowsOf(measure: Measured, conditions: readonly FoundCondition[]): MeasuredRow[] {
  return measure.reports.flatMap((report) => {
    const rows = entriesOf(report, measure, conditions).filter(({ isOfControls }) => !isOfControls);
    return [...grouped(rows, ({ group }) => groupLabel(group)).values()].flat();
  });
}

/** A map for each of the most active groups of a report, those of a report on one scale. */
function heatMapFigure(xAxis: SetAxis, yAxis: SetAxis, measure: Measured): FigureKind {
  const shown = [xAxis.set, yAxis.set];
  const [xs, ys] = [xAxis, yAxis].map(({ values }) => [...new Set(values)].sort(ascending)) as [
    number[],
    number[],
  ];
  const panelOf = (name: string, beside: string, entries: readonly Entry[], highest: number): Panel => ({
    title: [name, beside].filter(Boolean).join(', '),
    height: ys.length * Math.max(16, Math.min(60, 150 / ys.length)),
    x: { label: parameterLabel(xAxis.set), bands: xs.map((value) => ({ label: String(value) })) },
    y: { label: parameterLabel(yAxis.set), bands: ys.map((value) => ({ label: String(value) })).reverse() },
    marks: [
      {
        mark: 'cells',
        name: `${name}, ${measure.name}`,
        cells: entries.map(({ condition: { parameters, complete }, value }): Cell => {
          const number =
            value === null ? (complete ? 'none' : 'stopped') : `${meanAndSd(value)} ${measure.unit}`;
          const place = shown.map((set) => settingText(set, parameters[set]!)).join(', ');
          return {
            x: xs.indexOf(parameters[xAxis.set] as number),
            // The highest value is on top.
            y: ys.length - 1 - ys.indexOf(parameters[yAxis.set] as number),
            share: value && value.mean / (highest || 1),
            text: value === null ? '' : value.mean < 9.95 ? rounded(value.mean) : value.mean.toFixed(0),
            ...(value !== null && { detail: `± ${rounded(value.sd)}` }),
            title: `${name}: ${number} (${place})`,
          };
        }),
      },
    ],
  });
  const mapsOf = (report: string, conditions: readonly FoundCondition[], beside: string) => {
    const entries = entriesOf(report, measure, conditions);
    const all = Array.from(
      grouped(entries, (entry) => nameOf(report, entry)),
      ([name, own]) => ({
        name,
        own,
        highest: highestOf(own),
      }),
    );
    const ranked = [...all].sort((a, b) => b.highest - a.highest);
    const most = new Set(ranked.slice(0, MAX_MAPS));
    const highest = ranked[0]?.highest ?? 0;
    const section: Section = {
      panels: all
        .filter((each) => most.has(each))
        .map(({ name, own }) => panelOf(name, beside, own, highest)),
      smallestWidth: 340,
      largestWidth: Math.min(560, Math.max(230, 80 * (xs.length + 1))),
      scale: { label: `${measure.label} of ${report} (${measure.unit}), ${sampleSize(entries)}`, highest },
    };
    const names = [...most].map(({ name }) => name);
    return { report, section, highest, names, omitted: all.length - most.size };
  };
  return {
    ...measure,
    choices: (findings) => [otherSettingsChoice(findings, shown)],
    rows: (findings, chosen) => rowsOf(measure, conditionsAt(findings, shown, chosen)),
    draw(findings, chosen) {
      const beside = chosen(otherSettingsChoice(findings, shown));
      const conditions = conditionsAt(findings, shown, chosen);
      const all = measure.reports.map((report) => mapsOf(report, conditions, beside));
      const { drawn, silent } = withoutSilent(all);
      const omitted = sum(drawn, (maps) => maps.omitted);
      return {
        label: `${measure.label} of ${drawn.flatMap(({ names }) => names).join(', ')} over ${parameterLabel(xAxis.set)} and ${parameterLabel(yAxis.set)}.`,
        sections: drawn.map(({ section }) => section),
        note: sentences(
          'Colours and numbers are means over the trials; ±, where there is room for it, is the population standard deviation.',
          silent,
          leftOut(omitted, 'less active'),
        ),
        hint: 'Point at a cell, tap it or go there with the arrow keys for its numbers.',
      };
    },
  };
}

/** Values over those of a parameter: a series for each group and value of the other axes. */
function curvesFigure(axis: SetAxis, measure: Measured): FigureKind {
  const { unit } = measure;
  const xLabel = parameterLabel(axis.set);
  return {
    ...measure,
    draw({ conditions }) {
      const all = measure.reports.map((report) => {
        const entries = entriesOf(report, measure, conditions).filter(({ value }) => value !== null);
        const named = grouped(entries, (entry) => seriesName(entry, [axis.set]));
        const series = Array.from(named, ([label, own]): Series => ({
          label,
          points: own
            .map(({ condition, value }) => ({
              x: valueOf(condition, axis),
              mean: value!.mean,
              sd: value!.sd,
            }))
            .sort((a, b) => a.x - b.x),
        }));
        const shown = mostChanging(series);
        return { report, entries, series: shown, all: series.length, highest: highestOf(entries) };
      });
      const { drawn, silent } = withoutSilent(all);
      const n = sampleSize(drawn.flatMap(({ entries }) => entries));
      const panels = drawn
        .filter(({ series }) => series.length > 0)
        .map(({ report, series }) =>
          curvesPanel(`${report} (${unit})`, series, xLabel, unit, { n, hasTickAtEachX: true }),
        );
      if (panels.length === 0) return undefined;
      return {
        label: `${panels.map(({ title }) => title).join(', ')} over ${xLabel}; the table has the numbers.`,
        sections: [{ panels, smallestWidth: 420, largestWidth: 840 }],
        note: sentences(
          'Lines are means over the trials, bands one population standard deviation.',
          ...drawn.map(({ series }) => equalSeries(series)),
          silent,
          ...drawn.map(
            ({ report, series: { length }, all: of }) =>
              of > length &&
              `Of ${report} the ${length} of ${of} lines that change most are drawn; the table has all.`,
          ),
        ),
      };
    },
  };
}

/** Conditions with the chosen values of the axes that a figure does not show. */
function conditionsAt(
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

/** As many lines as can be told apart, in their order: those that change most, the higher ones of equals. A silent one only where all are. */
function mostChanging(series: readonly Series[]): readonly Series[] {
  if (series.length <= MAX_SERIES) return series;
  const ranked = series.map((each) => {
    const highest = max(each.points, ({ mean }) => mean) ?? 0;
    return { each, highest, change: highest - (min(each.points, ({ mean }) => mean) ?? 0) };
  });
  const active = ranked.filter(({ highest }) => highest > 0);
  const most = (active.length > 0 ? active : ranked)
    .sort((a, b) => b.change - a.change || b.highest - a.highest)
    .slice(0, MAX_SERIES)
    .map(({ each }) => each);
  return series.filter((each) => most.includes(each));
}

/** Names lines that lie on each other. */
function equalSeries(series: readonly Series[]): string | false {
  const named = grouped(series, ({ points }) => JSON.stringify(points));
  const equal = [...named.values()].filter((own) => own.length > 1);
  return equal.map((own) => `Equal: ${own.map(({ label }) => label).join('; ')}.`).join(' ') || false;
}

/** `n = 30 trials`: those that have the number; a latency may have fewer. */
function sampleSize(entries: readonly Entry[]): string {
  const counts = entries
    .filter(({ isOfControls }) => !isOfControls)
    .flatMap((entry) => trialsOf(entry) ?? []);
  const [least = 0, most = 0] = extent(counts);
  return `n = ${least === most ? '' : `${least} to `}${counted(most, 'trial')}`;
}

/** @returns trials, or controls, that have a number; nothing where none has */
function trialsOf({ value }: Entry): number | undefined {
  return value?.trials.filter((each) => each !== null).length;
}

const SPREAD = { label: '± population sd', paint: 'text' } as const;

function screenFigure({ as }: EachAxis, measure: Measured): FigureKind {
  const edited = editKindOf(as)?.groups;
  const reportChoice: Choice = { name: 'report', label: 'Report', values: measure.reports, inFile: 3 };
  const groupChoice = ({ conditions }: Findings, report: string): Choice => {
    const names = new Set(conditions.flatMap(({ groups }) => (groups[report] ?? []).map(groupLabel)));
    return { name: 'group', label: 'Group', values: [...names], inFile: 3 };
  };
  /** The baseline, then the largest change or the highest number; those without a number last. */
  const ranked = (findings: Findings, chosen: Chosen) => {
    const report = chosen(reportChoice);
    const group = chosen(groupChoice(findings, report));
    const all = entriesOf(report, measure, conditionsAt(findings, [as], chosen)).filter(
      (each) => groupLabel(each.group) === group && !each.isOfControls,
    );
    const baseline = all.find(({ condition }) => condition.parameters[as] === null);
    const rank = ({ value }: Entry) =>
      value === null ? -1 : edited ? Math.abs(value.mean - (baseline?.value?.mean ?? 0)) : value.mean;
    const others = all.filter((entry) => entry !== baseline).sort((a, b) => rank(b) - rank(a));
    return { baseline, entries: baseline === undefined ? others : [baseline, ...others] };
  };
  return {
    ...measure,
    choices: (findings, chosen) => [
      reportChoice,
      groupChoice(findings, chosen(reportChoice)),
      otherSettingsChoice(findings, [as]),
    ],
    rows: (findings, chosen) => ranked(findings, chosen).entries,
    draw(findings, chosen) {
      const report = chosen(reportChoice);
      const group = chosen(groupChoice(findings, report));
      const beside = chosen(otherSettingsChoice(findings, [as]));
      const { baseline, entries: all } = ranked(findings, chosen);
      const entries = all.filter((entry) => entry !== baseline && entry.value !== null);
      if (entries.length === 0 && baseline?.value == null) return undefined;
      const shown = entries.slice(0, MAX_BARS);
      const barOf = ({ condition, value }: Entry): Bar => ({
        label: conditionLabel(as, condition.parameters[as]!),
        mean: value!.mean,
        sd: value!.sd,
      });
      const bars = [...(baseline?.value ? [baseline] : []), ...shown].map(barOf);
      const none = settingText(as, null);
      const n = sampleSize(entries);
      const legend: LegendEntry[] =
        baseline?.value == null
          ? [{ label: `mean, ${n}`, paint: 0, sample: 'bar' }, SPREAD]
          : [
              { label: `lower than with ${none}, ${n}`, paint: 0, sample: 'bar' },
              { label: 'higher', paint: 1, sample: 'bar' },
              SPREAD,
              { label: none, paint: 'text', dash: '4 3' },
            ];
      const what = group === 'all' ? report : `${report} ${group}`;
      const label = `${measure.label} of ${what} (${measure.unit}), with a group ${edited?.done ?? 'stimulated'}`;
      const { unchanged } = findings;
      return {
        label: `${label}; the table has the numbers.`,
        sections: [
          wide([
            barsPanel(
              beside,
              bars,
              baseline?.value ? barOf(baseline) : undefined,
              label,
              measure.unit,
              legend,
            ),
          ]),
        ],
        note: sentences(
          'Bars are means over the trials, with one population standard deviation.',
          edited ? 'The largest change comes first.' : 'The highest comes first.',
          entries.length > shown.length &&
            `${shown.length} of ${entries.length} groups are drawn; the table has all.`,
          unchanged > 0 &&
            `Conditions that were not run: ${unchanged}, as ${edited?.unchanged ?? 'their groups change nothing'}.`,
        ),
      };
    },
  };
}

function groupsFigure(measure: Measured): FigureKind {
  return {
    ...measure,
    rows: ({ conditions }) => rowsOf(measure, conditions.slice(0, 1)),
    draw({ conditions }) {
      const entries = measure.reports
        .flatMap((report) => entriesOf(report, measure, conditions.slice(0, 1)))
        .filter(({ value }) => value !== null);
      const most = max(entries, (entry) => (entry.isOfControls ? 0 : trialsOf(entry))) ?? 0;
      const bars = entries.map((entry): Bar => {
        const { mean, sd, trials } = entry.value!;
        const values = trials.filter((each) => each !== null);
        const n = values.length === most && !entry.isOfControls ? {} : { n: values.length };
        return { label: nameOf(entry.report, entry), mean, sd, trials: values, ...n };
      });
      // Controls are read beside the group that they belong to, also where they are silent.
      const activeGroups = new Set(entries.filter(({ value }) => value!.mean > 0).map(({ group }) => group));
      const active = bars.filter((_, at) => activeGroups.has(entries[at]!.group));
      const hasControls = measure.reports.some((report) =>
        conditions[0]?.groups[report]?.some((group) => 'control' in group),
      );
      const shown = (active.length === 0 ? bars : active).slice(0, MAX_BARS);
      if (shown.length === 0) return undefined;
      const silent = active.length === 0 ? 0 : bars.length - active.length;
      const label = `${measure.label} (${measure.unit})`;
      const legend: LegendEntry[] = [
        { label: `mean, n = ${counted(most, 'trial')}`, paint: 0, sample: 'bar' },
        SPREAD,
        { label: hasControls ? 'one trial, or control' : 'one trial', paint: 'text', sample: 'ring' },
      ];
      return {
        label: `${label}; the table has the numbers.`,
        sections: [wide([barsPanel('', shown, undefined, label, measure.unit, legend)])],
        note: sentences(
          'Bars are means over the trials, with one population standard deviation; each ring is a trial.',
          hasControls &&
            'Those of controls are means over the controls, and each of their rings is a control.',
          leftOut(silent, 'silent'),
          active.length > shown.length &&
            `${shown.length} of ${active.length} groups are drawn; the table has all.`,
        ),
      };
    },
  };
}

/** Those that are worth a panel: all that are not silent, or the first where all are. */
function withoutSilent<T extends { readonly report: string; readonly highest: number }>(all: readonly T[]) {
  const active = all.filter(({ highest }) => highest > 0);
  const drawn = active.length > 0 ? active : all.slice(0, 1);
  const silent = all.filter((each) => !drawn.includes(each)).map(({ report }) => report);
  return { drawn, silent: silent.length > 0 && `Silent: ${silent.join(', ')}.` };
}

function highestOf(entries: readonly Entry[]): number {
  return max(entries, ({ value }) => value?.mean) ?? 0;
}

function valueOf({ parameters }: FoundCondition, { set }: SetAxis): number {
  return parameters[set] as number;
}

function nameOf(report: string, { group, isOfControls }: Pick<Entry, 'group' | 'isOfControls'>): string {
  return `${report} ${groupSuffix(group)}`.trim() + (isOfControls ? ', controls' : '');
}

function leftOut(groups: number, which: string): string | false {
  if (groups === 1) return `1 ${which} group is left out; the table has it.`;
  return groups > 0 && `${groups} ${which} groups are left out; the table has them.`;
}
