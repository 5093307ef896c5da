/** Rates as bars with their standard deviation: the groups of a screen in their order, or those of one condition. */
import { scaleLinear } from 'd3-scale';
import type { MeanSd } from '../../../answers/v2/result.js';
import { type Palette, CHARACTER_PX, picture, shortened, svg, text } from './figure.js';
import { rounded } from './rounded-rate.js';

export interface Bar extends MeanSd {
  readonly label: string;
  /** Drawn as dots. */
  readonly trials?: readonly number[];
}

const ROW = 22;
const AXIS_HEIGHT = 44;
const MARGIN = 10;
const DIGIT_PX = 6.4;
const MOST_LABEL_WIDTH = 240;

/**
 * @param baseline drawn as a line across all bars; bars above it and below have colours of their own
 * @param axisLabel what the rates are of
 */
export function barsFigure(
  bars: readonly Bar[],
  baseline: MeanSd | undefined,
  axisLabel: string,
  width: number,
  palette: Palette,
): SVGSVGElement {
  const longest = Math.max(4, ...bars.map(({ label }) => label.length));
  const labelWidth = Math.min(MOST_LABEL_WIDTH, 0.36 * width, longest * CHARACTER_PX + MARGIN);
  const numbers = bars.map((bar) => numbersOf(bar, baseline));
  // Digits are narrower than letters.
  const numbersWidth = Math.max(...numbers.map(({ length }) => length), 0) * DIGIT_PX + 2 * MARGIN;
  const [left, right] = [labelWidth + MARGIN, width - numbersWidth];
  const bottom = MARGIN + ROW * bars.length;
  const rates = [...bars, ...(baseline === undefined ? [] : [baseline])];
  const highest = Math.max(
    1,
    ...rates.map(({ mean, sd }) => mean + sd),
    ...bars.flatMap(({ trials = [] }) => trials),
  );
  const x = scaleLinear([0, highest], [left, right]).nice(4);
  const children: Node[] = x
    .ticks(Math.max(2, Math.floor((right - left) / 70)))
    .flatMap((tick) => [
      svg('line', { x1: x(tick), x2: x(tick), y1: MARGIN, y2: bottom, stroke: palette.line }),
      text(String(tick), x(tick), bottom + 15, palette.muted, { 'text-anchor': 'middle' }),
    ]);
  bars.forEach((bar, at) => {
    const top = MARGIN + ROW * at;
    const middle = top + ROW / 2;
    const colour = colourOf(bar, baseline, palette);
    children.push(
      text(shortened(bar.label, labelWidth), labelWidth, middle + 4, palette.text, { 'text-anchor': 'end' }),
      svg(
        'rect',
        {
          class: 'bar',
          x: x(0),
          y: top + 4,
          width: x(bar.mean) - x(0),
          height: ROW - 8,
          fill: colour,
          'fill-opacity': 0.75,
        },
        svg('title', {}, `${bar.label}: ${rounded(bar.mean)} ± ${rounded(bar.sd)} Hz`),
      ),
      svg('path', {
        d: `M${x(Math.max(0, bar.mean - bar.sd)).toFixed(1)} ${middle}H${x(bar.mean + bar.sd).toFixed(1)}`,
        stroke: palette.text,
        'stroke-width': 1.2,
      }),
      ...(bar.trials ?? []).map((rate) =>
        svg('circle', {
          cx: x(rate),
          cy: middle,
          r: 2,
          fill: 'none',
          stroke: palette.text,
          'stroke-opacity': 0.7,
        }),
      ),
      text(numbers[at]!, right + MARGIN, middle + 4, palette.muted),
    );
  });
  if (baseline !== undefined) {
    children.push(
      svg('line', {
        class: 'baseline',
        x1: x(baseline.mean),
        x2: x(baseline.mean),
        y1: MARGIN - 4,
        y2: bottom + 2,
        stroke: palette.text,
        'stroke-dasharray': '4 3',
      }),
    );
  }
  children.push(
    text(
      shortened(axisLabel, width - 2 * MARGIN),
      Math.max(MARGIN, left - MARGIN),
      bottom + 34,
      palette.muted,
    ),
  );
  return picture(width, bottom + AXIS_HEIGHT, `${axisLabel}; the table has the numbers.`, palette, children);
}

function colourOf({ mean }: Bar, baseline: MeanSd | undefined, { series, muted }: Palette): string {
  if (baseline === undefined || mean < baseline.mean) return series[0]!;
  return mean > baseline.mean ? series[1]! : muted;
}

function numbersOf({ mean, sd }: Bar, baseline: MeanSd | undefined): string {
  const numbers = `${rounded(mean)} ± ${rounded(sd)}`;
  if (baseline === undefined) return numbers;
  const change = mean - baseline.mean;
  if (change === 0) return numbers;
  return `${numbers} (${change < 0 ? '−' : '+'}${rounded(Math.abs(change))})`;
}
