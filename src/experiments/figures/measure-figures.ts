/** Figures of numbers of groups: bars, curves, heat maps, screens. */
import { group as grouped, max, min, sum } from 'd3-array';
import type { ExperimentDocument } from '../document/document.js';
import type { SetAxis } from '../kinds/axes/set.js';
import type { Measure } from '../kinds/report-kind.js';
import { parameterLabel } from './condition-labels.js';
import { type FigureKind, type Findings, type FoundCondition, sentences, wide } from './figure-kind.js';
import { counted, MAX_SERIES, type LegendEntry } from './figure.js';
import { heatMapFigure } from './heat-map-figure.js';
import {
  entriesOf,
  type Entry,
  firstOfEach,
  highestOf,
  leftOut,
  longOrder,
  MAX_ROWS,
  type Measured,
  measuredIn,
  mostActive,
  nameOf,
  rowsOf,
  sampleSize,
  seriesName,
  SPREAD,
  trialsOf,
  valueOf,
  withoutSilent,
} from './measured-entries.js';
import { barsPanel, curvesPanel, type Bar, type Series } from './panels.js';
import { screenFigures } from './screen-figure.js';
import { own } from '../../engine/own.js';

const MAX_BARS = 40;

export function measureFigures(experiment: ExperimentDocument, of: Measure): FigureKind[] {
  const measure = measuredIn(experiment, of);
  const axes = experiment.sweep ?? [];
  const each = axes.find((axis) => 'each' in axis);
  if (each !== undefined) return screenFigures(each, measure, experiment.trials);
  const sets = axes.filter((axis) => 'set' in axis);
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
      rowOrder: longOrder(measure),
      rows: (findings) => rowsOf(measure, findings, [...findings.conditions].sort(inOrder)),
    },
  ];
}

/** Curves over a swept parameter: a series for each group and each value of the other axes. */
function curvesFigure(axis: SetAxis, measure: Measured): FigureKind {
  const { unit } = measure;
  const xLabel = parameterLabel(axis.set);
  return {
    ...measure,
    draw(findings) {
      const all = measure.reports.map((report) => {
        const entries = entriesOf(report, measure, findings, findings.conditions).filter(
          ({ value }) => value !== null,
        );
        const named = grouped(entries, (entry) => seriesName(entry, [axis.set]));
        const series = Array.from(named, ([label, entriesOfLine]): Series => ({
          label,
          // Controls have the colour of the line that they belong to.
          likeLine: seriesName({ ...entriesOfLine[0]!, isOfControls: undefined }, [axis.set]),
          points: entriesOfLine
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

/** Selects as many lines as readers can tell apart: those that change most; of equal changes, the higher ones. Skips silent lines, unless all are. */
function mostChanging(series: readonly Series[]): readonly Series[] {
  if (series.length <= MAX_SERIES) return series;
  const ranked = series.map((each) => {
    const highest = max(each.points, ({ mean }) => mean) ?? 0;
    return { each, highest, change: highest - (min(each.points, ({ mean }) => mean) ?? 0) };
  });
  const active = ranked.filter(({ highest }) => highest > 0);
  const chosen = (active.length > 0 ? active : ranked)
    .sort((a, b) => b.change - a.change || b.highest - a.highest)
    .slice(0, MAX_SERIES)
    .map(({ each }) => each);
  return series.filter((each) => chosen.includes(each));
}

/** A note that names identical lines, if there are any. */
function equalSeries(series: readonly Series[]): string | false {
  const named = grouped(series, ({ points }) => JSON.stringify(points));
  const equal = [...named.values()].filter((alike) => alike.length > 1);
  return equal.map((alike) => `Equal: ${alike.map(({ label }) => label).join('; ')}.`).join(' ') || false;
}

function groupsFigure(measure: Measured): FigureKind {
  return {
    ...measure,
    rowOrder: longOrder(measure),
    rows: (findings) =>
      rowsOf(measure, findings, findings.conditions.slice(0, 1), barredGroups(measure, findings).isCut),
    draw(findings) {
      const { shown, isCut, all, silent, hasControls } = barredGroups(measure, findings);
      if (shown.length === 0) return undefined;
      const entries = shown.flat();
      const maxTrials = max(entries, (entry) => (entry.isOfControls ? 0 : trialsOf(entry))) ?? 0;
      const bars = entries.map((entry): Bar => {
        const { mean, sd, trials } = entry.value!;
        const values = trials.filter((each) => each !== null);
        const n = values.length === maxTrials && !entry.isOfControls ? {} : { n: values.length };
        return { label: nameOf(entry.report, entry), mean, sd, trials: values, ...n };
      });
      const label = `${measure.label} (${measure.unit})`;
      const legend: LegendEntry[] = [
        { label: `mean, n = ${counted(maxTrials, 'trial')}`, paint: 0, sample: 'bar' },
        SPREAD,
        { label: hasControls ? 'one trial, or control' : 'one trial', paint: 'text', sample: 'ring' },
      ];
      const which = `${measure.lowest ?? 'most active'}${measure.reports.length > 1 ? ' of each report' : ''}`;
      return {
        label: `${label}; the table has the numbers.`,
        sections: [wide([barsPanel('', bars, undefined, label, measure.unit, legend)])],
        note: sentences(
          'Bars are means over the trials, with one population standard deviation; each ring is a trial.',
          hasControls &&
            'Those of controls are means over the controls, and each of their rings is a control.',
          isCut &&
            `The ${shown.length} ${which} of ${all} groups are drawn, the ${measure.lowest ?? 'most active'} first; ` +
              `${all > MAX_ROWS ? 'the data files have' : 'the table has'} all.`,
          !isCut && leftOut(silent, 'silent'),
        ),
      };
    },
  };
}

/** Divides entries, those of a group adjacent, into those of each group. */
function ofGroups(entries: readonly Entry[]): Entry[][] {
  const groups: Entry[][] = [];
  let last: Entry | undefined;
  for (const entry of entries) {
    if (entry.group === last?.group) groups.at(-1)!.push(entry);
    else groups.push([entry]);
    last = entry;
  }
  return groups;
}

/** The groups that bars show, each with the numbers of its controls: all that are active or, if they are too many, the most active. */
function barredGroups(measure: Measured, findings: Findings) {
  const conditions = findings.conditions.slice(0, 1);
  const lists = measure.reports.map((report) => {
    const entries = entriesOf(report, measure, findings, conditions).filter(({ value }) => value !== null);
    return ofGroups(entries);
  });
  // Controls stay beside their group even if they are silent.
  const activeOnly = lists.map((groups) =>
    groups.filter((entries) => entries.some(({ value }) => value!.mean > 0)),
  );
  const countOf = (all: typeof lists) => sum(all, ({ length }) => length);
  const isSilent = countOf(activeOnly) === 0;
  const drawable = isSilent ? lists : activeOnly;
  const hasControls = measure.reports.some((report) =>
    own(conditions[0]?.groups, report)?.some((group) => 'control' in group),
  );
  const most = hasControls ? MAX_BARS / 2 : MAX_BARS;
  const isCut = countOf(drawable) > most;
  const ranked = () => drawable.map((groups) => mostActive(groups, measure));
  const shown = isCut ? firstOfEach(ranked(), most).flat().slice(0, most) : drawable.flat();
  const all = countOf(lists);
  return { shown, isCut, all, silent: isSilent ? 0 : all - countOf(activeOnly), hasControls };
}
