/** Panels of means and their spread: curves with a band, bars with a line. */
import { extent, max } from 'd3-array';
import {
  DASHES,
  type LegendEntry,
  legendOfLines,
  MAX_SERIES,
  rounded,
  type Mark,
  type Panel,
} from './figure.js';
import type { MeanSd } from '../kinds/mean-sd.js';

export const ROW_PX = 22;
const CURVES_PX = 190;

/** A line. A point without `sd` has no known spread. */
export interface Series {
  readonly label: string;
  readonly points: readonly { readonly x: number; readonly mean: number; readonly sd?: number }[];
  /** Label of the line whose colour it has, by default its own. */
  readonly likeLine?: string;
}

/**
 * Draws means as lines. The first series has a band of one population standard deviation to either side.
 * @param n sample size in words, such as `n = 30 trials`, if the x are the values of a sweep; each then gets a tick
 */
export function curvesPanel(
  title: string,
  all: readonly Series[],
  xLabel: string,
  unit: string,
  n?: string,
): Panel {
  const shown = all.slice(0, MAX_SERIES);
  const points = shown.flatMap((series) => series.points);
  // Equal means would hide each other's dots; see `below`.
  const below = shown.map(({ points: ofSeries }, series) =>
    ofSeries.map(
      ({ x, mean }) =>
        shown
          .slice(series + 1)
          .filter((later) => later.points.some((each) => each.x === x && each.mean === mean)).length,
    ),
  );
  const paints = shown.map(({ label, likeLine = label }, at) => {
    const like = shown.findIndex((each) => each.label === likeLine);
    return like < 0 ? at : like;
  });
  const marks = shown.flatMap(({ label, points: ofSeries }, at): Mark[] => {
    const paint = paints[at]!;
    const titleOf = ({ x, mean, sd }: Series['points'][number]) =>
      `${label} at ${x}: ${sd === undefined ? rounded(mean) : meanAndSd({ mean, sd })} ${unit}`;
    const ends = ofSeries.map(({ x, mean, sd = 0 }) => [x, Math.max(0, mean - sd), mean + sd] as const);
    const means = ofSeries.map(({ x, mean }) => [x, mean] as const);
    const dots = ofSeries.map((point) => [point.x, point.mean, titleOf(point)] as const);
    return [
      ...(ofSeries.some(({ sd = 0 }) => sd > 0) ? [{ mark: 'area', points: ends, paint } as const] : []),
      { mark: 'line', name: 'mean', points: means, paint, dash: DASHES[at]! },
      { mark: 'dots', points: dots, paint, ...(n !== undefined && { below: below[at]! }) },
    ];
  });
  const ticks = [...new Set(points.map(({ x }) => x))].sort((a, b) => a - b);
  return {
    title,
    height: CURVES_PX,
    x: {
      label: xLabel,
      domain: extent(points, ({ x }) => x) as [number, number],
      ...(n !== undefined && { ticks }),
    },
    y: { label: '', domain: [0, highestOf(points)], hasGrid: true },
    marks,
    legend: [
      ...legendOfLines(shown.map(({ label }) => label)).map((entry, at) => ({
        ...entry,
        paint: paints[at]!,
      })),
      ...(n === undefined
        ? []
        : [{ label: `mean ± population sd, ${n}`, paint: 'muted', sample: 'band' } as const]),
    ],
  };
}

export interface Bar extends MeanSd {
  readonly label: string;
  /** Values of the trials, drawn as rings. */
  readonly trials?: readonly number[];
  /** Sample size, if it differs from that of the others. */
  readonly n?: number;
  /** Its change from the baseline, if there is one; undefined if it is not known. */
  readonly change?: number | undefined;
}

/** @param baseline drawn as a line across all bars; bars above and below it have different colours */
export function barsPanel(
  title: string,
  bars: readonly Bar[],
  baseline: Bar | undefined,
  label: string,
  unit: string,
  legend: readonly LegendEntry[],
): Panel {
  const marks = bars.flatMap((bar, row): Mark[] => {
    const { mean, sd, trials = [], change = baseline === undefined ? -1 : 0 } = bar;
    const middle = row + 0.5;
    const paint = change === 0 ? 'muted' : change < 0 ? 0 : 1;
    const [x, y] = [[0, mean] as const, [row + 0.18, row + 0.82] as const];
    const spread = [Math.max(0, mean - sd), mean + sd].map((end) => [end, middle] as const);
    return [
      { mark: 'rect', name: 'bar', x, y, paint, title: `${bar.label}: ${meanAndSd(bar)} ${unit}` },
      { mark: 'line', points: spread, paint: 'text' },
      { mark: 'dots', isRing: true, points: trials.map((value) => [value, middle]), paint: 'text' },
    ];
  });
  if (baseline !== undefined) {
    const points = [0, bars.length].map((row) => [baseline.mean, row] as const);
    marks.push({ mark: 'line', name: 'baseline', points, paint: 'text', dash: '4 3' });
  }
  const trials = bars.flatMap((bar) => bar.trials ?? []).map((mean) => ({ mean }));
  const highest = highestOf([...bars, ...trials, ...(baseline ? [baseline] : [])]);
  return {
    title,
    height: ROW_PX * bars.length,
    x: { label, domain: [0, highest], hasGrid: true },
    y: { label: '', bands: bars.map((bar) => ({ label: bar.label, note: noteOf(bar) })) },
    marks,
    legend,
  };
}

function noteOf(bar: Bar): string {
  const { change = 0 } = bar;
  const by = change === 0 ? '' : ` (${change < 0 ? '−' : '+'}${rounded(Math.abs(change))})`;
  return `${meanAndSd(bar)}${by}${bar.n === undefined ? '' : `, n = ${bar.n}`}`;
}

export function meanAndSd({ mean, sd }: MeanSd): string {
  return `${rounded(mean)} ± ${rounded(sd)}`;
}

function highestOf(values: readonly { readonly mean: number; readonly sd?: number }[]): number {
  return Math.max(1, max(values, ({ mean, sd = 0 }) => mean + sd) ?? 1);
}
