/**
 * Heat maps of mean rates over two swept parameters: what they show, for the page and the command line to draw.
 */
import type { ExperimentDocument, SetAxis } from '../answers/v2/document.js';
import type { GroupResult, MeanSd, ParameterValue } from '../answers/v2/result.js';
import { parameterLabel } from './condition-labels.js';

/** From silence to the highest rate, on white. They darken steadily, so a copy in grey reads the same. */
export const HEAT_COLOURS = ['#fff4dd', '#fdc873', '#f08a30', '#c24a10', '#7a2010', '#32090f'] as const;
/** Of one report. More would be too small to read. */
const MOST_MAPS = 6;

export interface HeatAxis {
  /** As the sweep names it. */
  readonly parameter: string;
  readonly label: string;
  /** Ascending. */
  readonly values: readonly number[];
}

export interface HeatCell {
  /** Place in the values of each axis. */
  readonly x: number;
  readonly y: number;
  /** In Hz; null where a trial was stopped. */
  readonly rate: MeanSd | null;
}

export interface HeatMap {
  /** Of the report and its group: `MN9 left`. */
  readonly name: string;
  /** Conditions that are not done have no cell. */
  readonly cells: readonly HeatCell[];
}

/** The maps of a report, one for each of its groups, on one scale of colours. */
export interface HeatMaps {
  readonly report: string;
  readonly x: HeatAxis;
  readonly y: HeatAxis;
  readonly highestHz: number;
  readonly maps: readonly HeatMap[];
  /** Groups that are left out, the least active ones. */
  readonly omitted: number;
}

/** What is read of a condition. */
export interface HeatReading {
  readonly parameters: Readonly<Record<string, ParameterValue>>;
  readonly groups: readonly GroupResult[];
}

/** @returns the first two parameters that take several values, the x axis first; nothing where there are fewer */
export function heatAxesOf({ sweep = [] }: ExperimentDocument): readonly [SetAxis, SetAxis] | undefined {
  const [x, y] = sweep.filter((axis): axis is SetAxis => 'set' in axis && axis.values.length > 1);
  return x === undefined || y === undefined ? undefined : [x, y];
}

/**
 * @param readings of the report, one for each condition; they differ in the two parameters alone
 * @param labelOf what a group is called; empty where the report is one group
 */
export function heatMapsOf(
  report: string,
  [xAxis, yAxis]: readonly [SetAxis, SetAxis],
  readings: readonly HeatReading[],
  labelOf: (group: GroupResult) => string,
): HeatMaps {
  const [x, y] = [axisOf(xAxis), axisOf(yAxis)];
  const cellsOfGroup = new Map<string, HeatCell[]>();
  for (const { parameters, groups } of readings) {
    const place = {
      x: x.values.indexOf(parameters[xAxis.set] as number),
      y: y.values.indexOf(parameters[yAxis.set] as number),
    };
    for (const group of groups) {
      const name = `${report} ${labelOf(group)}`.trim();
      const cells = cellsOfGroup.get(name) ?? [];
      cellsOfGroup.set(name, cells);
      cells.push({ ...place, rate: group.rate_hz });
    }
  }
  // A report of a whole brain by neuron has more groups than a function may have arguments.
  const all = [...cellsOfGroup].map(([name, cells]) => ({ map: { name, cells }, hz: highestOf(cells) }));
  const ranked = [...all].sort((a, b) => b.hz - a.hz);
  const most = new Set(ranked.slice(0, MOST_MAPS));
  return {
    report,
    x,
    y,
    highestHz: ranked[0]?.hz ?? 0,
    maps: all.filter((each) => most.has(each)).map(({ map }) => map),
    omitted: all.length - most.size,
  };
}

/** The reports that are worth a map: those that are not silent, or the first where all are. */
export function withoutSilent(all: readonly HeatMaps[]): readonly HeatMaps[] {
  const active = all.filter(({ highestHz }) => highestHz > 0);
  return active.length > 0 ? active : all.slice(0, 1);
}

function axisOf({ set, values }: SetAxis): HeatAxis {
  return { parameter: set, label: parameterLabel(set), values: [...new Set(values)].sort((a, b) => a - b) };
}

function highestOf(cells: readonly HeatCell[]): number {
  return cells.reduce((highest, { rate }) => Math.max(highest, rate?.mean ?? 0), 0);
}
