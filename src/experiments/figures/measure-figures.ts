/** Figures of numbers of groups: bars, curves, heat maps, screens. */
import { ascending, count, group as grouped, max, range, sum } from 'd3-array';
import type { ExperimentDocument } from '../document/document.js';
import type { SetAxis } from '../kinds/axes/set.js';
import type { Measure } from '../kinds/report-kind.js';
import type { GroupResult } from '../kinds/result-rows.js';
import { parameterLabel } from './condition-labels.js';
import { type FigureKind, type Findings, type FoundCondition, sentences, wide } from './figure-kind.js';
import { counted, MAX_SERIES, type LegendEntry } from './figure.js';
import { heatMapFigure } from './heat-map-figure.js';
import {
  activityOf,
  controlsOf,
  entriesOf,
  type Entry,
  CONTROLS_NOTE,
  firstOfEach,
  groupsIn,
  hasControls,
  highestFirst,
  isSilent,
  leftOut,
  type Lines,
  linesOf,
  longOrder,
  MAX_ROWS,
  type Measured,
  measuredIn,
  nameOf,
  rowsOf,
  sampleSize,
  seriesName,
  SPREAD,
  valueOf,
  withoutSilent,
} from './measured-entries.js';
import { barsPanel, curvesPanel, meanBar, type Bar, type Series } from './panels.js';
import { screenFigures } from './screen-figure.js';

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
      rows: (findings) => rowsOf(measure, { ...findings, conditions: findings.conditions.toSorted(inOrder) }),
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
        const lines = linesOf(report, measure, findings, [axis.set]);
        const drawn = mostChanging(lines, measure);
        const series = drawn.map((line) => seriesOf(lines.entriesOf(line), axis));
        const { highest, sizes } = lines;
        const hasGaps = drawn.some((line, at) => series[at]!.points.length < lines.conditionsOf(line).length);
        return { report, sizes, series, hasGaps, all: highest.length, highest: max(highest) ?? -Infinity };
      });
      const { drawn, silent } = withoutSilent(measure, all);
      const n = sampleSize(drawn.flatMap(({ sizes }) => [...sizes]));
      const panels = drawn
        .filter(({ series }) => series.length > 0)
        .map(({ report, series }) => curvesPanel(`${report} (${unit})`, series, xLabel, unit, n));
      if (panels.length === 0) return undefined;
      return {
        label: `${panels.map(({ title }) => title).join(', ')} over ${xLabel}; the table has the numbers.`,
        sections: [{ panels, smallestWidth: 420, largestWidth: 840 }],
        note: sentences(
          'Lines are means over the trials, bands one population standard deviation.',
          hasControls(measure, findings) && CONTROLS_NOTE,
          drawn.some(({ hasGaps }) => hasGaps) &&
            'Conditions that were stopped, or in which no trial has the number, have no point.',
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
function mostChanging({ highest, lowest }: Lines, measure: Measured): readonly number[] {
  const all = range(highest.length);
  if (all.length <= MAX_SERIES) return all;
  const active = all.filter((line) => !isSilent(measure, highest[line]!));
  const changeOf = (line: number) => highest[line]! - lowest[line]!;
  const ranked = active.length > 0 ? active : all;
  return highestFirst(ranked, MAX_SERIES, changeOf, (line) => highest[line]!).sort(ascending);
}

function seriesOf(entries: readonly Entry[], axis: SetAxis): Series {
  return {
    label: seriesName(
      entries[0]!,
      [axis.set],
      entries.map(({ value }) => count(value!.trials)),
    ),
    // Controls have the colour of the line that they belong to.
    likeLine: seriesName({ ...entries[0]!, isOfControls: undefined }, [axis.set]),
    points: entries
      .map(({ condition, value }) => ({ x: valueOf(condition, axis), mean: value!.mean, sd: value!.sd }))
      .sort((a, b) => a.x - b.x),
  };
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
    rows: (findings) => rowsOf(measure, findings, barredGroups(measure, findings).isCut),
    draw(findings) {
      const { shown, isCut, all, silent } = barredGroups(measure, findings);
      if (shown.length === 0) return undefined;
      const entries = shown.flat();
      const maxTrials = max(entries, (entry) => (entry.isOfControls ? 0 : count(entry.value!.trials))) ?? 0;
      const bars = entries.map((entry): Bar => {
        const rings = entry.value!.trials.filter((each) => each !== null);
        const n = rings.length === maxTrials && !entry.isOfControls ? undefined : rings.length;
        const name = nameOf(entry.report, entry);
        return { ...meanBar(name, entry.value!, measure.unit, n), rings, paint: 0 };
      });
      const label = `${measure.label} (${measure.unit})`;
      const legend: LegendEntry[] = [
        { label: `mean, n = ${counted(maxTrials, 'trial')}`, paint: 0, sample: 'bar' },
        SPREAD,
        {
          label: hasControls(measure, findings) ? 'one trial, or control' : 'one trial',
          paint: 'text',
          sample: 'ring',
        },
      ];
      const which = `${measure.lowest ?? 'most active'}${measure.reports.length > 1 ? ' of each report' : ''}`;
      return {
        label: `${label}; the table has the numbers.`,
        sections: [wide([barsPanel('', bars, label, [0, 1], legend)])],
        note: sentences(
          'Bars are means over the trials, with one population standard deviation; each ring is a trial.',
          hasControls(measure, findings) && `${CONTROLS_NOTE} Each of their rings is a control.`,
          isCut &&
            `The ${shown.length} ${which} of ${all} groups are drawn, the ${measure.lowest ?? 'most active'} first; ` +
              `${all > MAX_ROWS ? 'the data files have' : 'the table has'} all.`,
          !isCut && leftOut(silent, 'silent'),
        ),
      };
    },
  };
}

/** The groups that bars show, each with the numbers of its controls: all that are active or, if they are too many, the most active. */
function barredGroups(measure: Measured, findings: Findings) {
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
