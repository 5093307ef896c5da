/** Figures of numbers of groups: bars, curves, heat maps, screens. */
import { ascending, count, group as grouped, max, range, sort, sum } from 'd3-array';
import type { ExperimentDocument } from '../document/document.js';
import type { SetAxis } from '../kinds/axes/set.js';
import type { Measure } from '../kinds/report-kind.js';
import { parameterLabel, settingText } from './condition-labels.js';
import {
  type FigureKind,
  type Findings,
  type FoundCondition,
  otherSettingsChoice,
  sentences,
  wide,
} from './figure-kind.js';
import { type Cell, counted, type LegendEntry, type Panel, rounded, type Section } from './figure.js';
import {
  barredGroups,
  CONTROLS_NOTE,
  type Entry,
  findingsAt,
  hasControls,
  highestFirst,
  leftOut,
  linesOf,
  MAX_ROWS,
  type Measured,
  measuredIn,
  mostChanging,
  nameOf,
  rowsOf,
  sampleSize,
  seriesName,
  SPREAD,
  valueOf,
  withoutSilent,
} from './measured-entries.js';
import { type Bar, barsPanel, curvesPanel, meanAndSd, meanBar, type Series } from './panels.js';
import { screenFigures } from './screen-figure.js';

/** Maximum number of heat maps of a report. More would be too small to read. */
const MAX_MAPS = 6;

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

/** The two axes of all maps, each with its values in ascending order. */
interface MapAxes {
  readonly x: string;
  readonly y: string;
  readonly xs: readonly number[];
  readonly ys: readonly number[];
}

/** A heat map for each of the most active groups, over two swept parameters. Maps of one report share a scale. */
function heatMapFigure(xAxis: SetAxis, yAxis: SetAxis, measure: Measured): FigureKind {
  const shown = [xAxis.set, yAxis.set];
  const valuesOf = ({ values }: SetAxis) => [...new Set(values)].sort(ascending);
  const axes = { x: xAxis.set, y: yAxis.set, xs: valuesOf(xAxis), ys: valuesOf(yAxis) };
  return {
    ...measure,
    choices: (findings) => [otherSettingsChoice(findings, shown)],
    rows: (findings, chosen) => rowsOf(measure, findingsAt(findings, shown, chosen)),
    draw(findings, chosen) {
      const beside = chosen(otherSettingsChoice(findings, shown));
      const drawable = findingsAt(findings, shown, chosen);
      const all = measure.reports.map((report) => mapsOf(report, axes, measure, drawable, beside));
      const { drawn, silent } = withoutSilent(measure, all);
      const omitted = sum(drawn, (maps) => maps.omitted);
      return {
        label: `${measure.label} of ${drawn.flatMap(({ names }) => names).join(', ')} over ${parameterLabel(axes.x)} and ${parameterLabel(axes.y)}.`,
        sections: drawn.map(({ section }) => section),
        note: sentences(
          'Colours and numbers are means over the trials; ±, where there is room for it, is the population standard deviation.',
          drawn.some((maps) => maps.haveControls) && 'Maps of controls show means over the controls.',
          silent,
          leftOut(omitted, measure.lowest === undefined ? 'less active' : 'other'),
        ),
        hint: 'Point at a cell, tap it or go there with the arrow keys for its numbers.',
      };
    },
  };
}

function mapsOf(report: string, axes: MapAxes, measure: Measured, findings: Findings, beside: string) {
  const { x, y, xs, ys } = axes;
  const lines = linesOf(report, measure, findings, [x, y], true);
  const all = range(lines.highest.length);
  const strengthOf = (line: number) =>
    measure.lowest === undefined ? lines.highest[line]! : -lines.lowest[line]!;
  const maps = highestFirst(all, MAX_MAPS, strengthOf).map((line) => {
    const entries = lines.entriesOf(line);
    return { line, entries, name: nameOf(report, entries[0]!) };
  });
  const highest = max(lines.highest) ?? -Infinity;
  const scaleEnd = Math.max(0, highest);
  const section: Section = {
    panels: sort(maps, ({ line }) => line).map(({ name, entries }): Panel => {
      const cells = cellsOf(name, entries, axes, measure, scaleEnd);
      return {
        title: [name, beside].filter(Boolean).join(', '),
        height: ys.length * Math.max(16, Math.min(60, 150 / ys.length)),
        x: { label: parameterLabel(x), bands: xs.map((value) => ({ label: String(value) })) },
        y: { label: parameterLabel(y), bands: ys.map((value) => ({ label: String(value) })).reverse() },
        marks: [{ mark: 'cells', name: `${name}, ${measure.name}`, cells }],
      };
    }),
    smallestWidth: 340,
    largestWidth: Math.min(560, Math.max(230, 80 * (xs.length + 1))),
    scale: {
      label: `${measure.label} of ${report} (${measure.unit}), ${sampleSize(lines.sizes)}`,
      highest: scaleEnd,
    },
  };
  const names = maps.map(({ name }) => name);
  const haveControls = maps.some(({ entries }) => entries[0]!.isOfControls);
  return { report, section, highest, names, haveControls, omitted: all.length - maps.length };
}

/** @param highest the highest mean of the report */
function cellsOf(
  name: string,
  entries: readonly Entry[],
  { x, y, xs, ys }: MapAxes,
  measure: Measured,
  highest: number,
): Cell[] {
  return entries.map(({ condition: { parameters, complete }, value }) => {
    const number = value === null ? (complete ? 'none' : 'stopped') : `${meanAndSd(value)} ${measure.unit}`;
    const settings = [x, y].map((set) => settingText(set, parameters[set]!)).join(', ');
    return {
      x: xs.indexOf(parameters[x] as number),
      // The highest value of the axis is on top.
      y: ys.length - 1 - ys.indexOf(parameters[y] as number),
      share: value && value.mean / (highest || 1),
      text: value === null ? '' : value.mean < 9.95 ? rounded(value.mean) : value.mean.toFixed(0),
      ...(value !== null && { detail: `± ${rounded(value.sd)}` }),
      title: `${name}: ${number} (${settings})`,
    };
  });
}
