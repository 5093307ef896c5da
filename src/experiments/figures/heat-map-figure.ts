/** A heat map for each of the most active groups, over two swept parameters. Maps of one report share a scale. */
import { ascending, max, range, sort, sum } from 'd3-array';
import type { SetAxis } from '../kinds/axes/set.js';
import { parameterLabel, settingText } from './condition-labels.js';
import { otherSettingsChoice, type FigureKind, type Findings, sentences } from './figure-kind.js';
import { rounded, type Cell, type Panel, type Section } from './figure.js';
import {
  findingsAt,
  type Entry,
  highestFirst,
  leftOut,
  linesOf,
  longOrder,
  type Measured,
  nameOf,
  rowsOf,
  sampleSize,
  withoutSilent,
} from './measured-entries.js';
import { meanAndSd } from './panels.js';

/** Maximum number of heat maps of a report. More would be too small to read. */
const MAX_MAPS = 6;

/** The two axes of all maps, each with its values in ascending order. */
interface MapAxes {
  readonly x: string;
  readonly y: string;
  readonly xs: readonly number[];
  readonly ys: readonly number[];
}

export function heatMapFigure(xAxis: SetAxis, yAxis: SetAxis, measure: Measured): FigureKind {
  const shown = [xAxis.set, yAxis.set];
  const valuesOf = ({ values }: SetAxis) => [...new Set(values)].sort(ascending);
  const axes = { x: xAxis.set, y: yAxis.set, xs: valuesOf(xAxis), ys: valuesOf(yAxis) };
  return {
    ...measure,
    choices: (findings) => [otherSettingsChoice(findings, shown)],
    rowOrder: longOrder(measure),
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
