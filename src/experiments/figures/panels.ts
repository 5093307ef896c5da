/** Panels of means and their spread: curves with a band, bars in rows. */
import { extent, max } from 'd3-array';
import {
  DASHES,
  type LegendEntry,
  legendOfLines,
  MAX_SERIES,
  rounded,
  type Mark,
  type Paint,
  type Panel,
} from './figure.js';
import type { MeanSd } from '../kinds/mean-sd.js';

const ROW_PX = 22;
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
    y: { label: '', domain: [0, max([1, ...points.map(({ mean, sd = 0 }) => mean + sd)])!], hasGrid: true },
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

/** A bar in a row of its own. */
export interface Bar {
  readonly label: string;
  readonly note: string;
  readonly title?: string;
  /** By default `bar`. */
  readonly name?: string;
  readonly ends: readonly [number, number];
  readonly paint: Paint;
  /** The ends of a line across the bar; none if it is empty. */
  readonly spread?: readonly number[];
  /** Values of the trials. */
  readonly rings?: readonly number[];
}

/** @param n sample size, if it differs from that of others  @param change from the baseline; undefined if it is not known */
export function meanBar(label: string, value: MeanSd, unit: string, n?: number, change = 0) {
  const { mean, sd } = value;
  const numbers = meanAndSd(value);
  const by = change === 0 ? '' : ` (${change < 0 ? '−' : '+'}${rounded(Math.abs(change))})`;
  return {
    label,
    note: `${numbers}${by}${n === undefined ? '' : `, n = ${n}`}`,
    title: `${label}: ${numbers} ${unit}`,
    ends: [0, mean],
    spread: [Math.max(0, mean - sd), mean + sd],
  } as const;
}

/** @param shown values that the axis has in any case  @param baseline a line across all bars */
export function barsPanel(
  title: string,
  bars: readonly Bar[],
  label: string,
  shown: readonly number[],
  legend: readonly LegendEntry[],
  baseline?: number,
): Panel {
  const marks = bars.flatMap(({ name = 'bar', title: ofBar, ends, paint, ...bar }, row): Mark[] => {
    const rect = { mark: 'rect', name, x: ends, y: [row + 0.18, row + 0.82], paint, title: ofBar } as const;
    const [spread = [], rings = []] = [bar.spread, bar.rings].map((values) =>
      values?.map((value) => [value, row + 0.5] as const),
    );
    return [
      rect,
      ...(spread.length > 0 ? [{ mark: 'line', points: spread, paint: 'text' } as const] : []),
      { mark: 'dots', isRing: true, points: rings, paint: 'text' },
    ];
  });
  if (baseline !== undefined) {
    const points = [0, bars.length].map((row) => [baseline, row] as const);
    marks.push({ mark: 'line', name: 'baseline', points, paint: 'text', dash: '4 3' });
  }
  const values = bars.flatMap(({ ends, spread = [], rings = [] }) => [...ends, ...spread, ...rings]);
  return {
    title,
    height: ROW_PX * Math.max(1, bars.length),
    x: { label, domain: extent([...shown, ...values]) as [number, number], hasGrid: true },
    y: { label: '', bands: bars.map((bar) => ({ label: bar.label, note: bar.note })) },
    marks,
    legend,
  };
}

export function meanAndSd({ mean, sd }: MeanSd): string {
  return `${rounded(mean)} ± ${rounded(sd)}`;
}
