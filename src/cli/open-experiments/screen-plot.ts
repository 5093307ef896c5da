/** A screen as ranked bars: the conditions that differ most from the baseline, and the baseline as a line. */
import { valueLabel } from '../../plot/condition-labels.js';
import { COLOURS, MUTED_COLOUR } from '../../plot/svg.js';
import type { Panel } from '../raster-panel.js';
import { groupIn, type CollectedAnswer, type CollectedCondition, type Series } from './collected-answer.js';

const WIDTH = 420;
const ROW_HEIGHT = 12;
const MOST_BARS = 40;

/** @param series one panel for each */
export function screenPanels({ conditions }: CollectedAnswer, series: readonly Series[]): Panel[] {
  return series.map((each) => screenPanel(conditions, each));
}

function screenPanel(conditions: readonly CollectedCondition[], series: Series): Panel {
  const bars = conditions.flatMap((condition) => {
    const rate = groupIn(condition, series).rate_hz;
    if (rate === null) return [];
    const [value] = Object.values(condition.parameters);
    const { mean, sd } = rate;
    const isBaseline = value === null;
    return [{ label: valueLabel(value!), isBaseline, mean, low: Math.max(0, mean - sd), high: mean + sd }];
  });
  const baselineHz = bars.find(({ isBaseline }) => isBaseline)?.mean;
  const change = ({ mean }: { mean: number }) => Math.abs(mean - (baselineHz ?? 0));
  const shown = bars
    .filter(({ isBaseline }) => !isBaseline)
    .sort((a, b) => change(b) - change(a))
    .slice(0, MOST_BARS)
    .sort((a, b) => b.mean - a.mean);
  const ranked = [...bars.filter(({ isBaseline }) => isBaseline), ...shown];
  const left = bars.length - ranked.length;
  const y = {
    field: 'label',
    type: 'nominal',
    sort: ranked.map(({ label }) => label),
    axis: { title: null },
  };
  return {
    width: WIDTH,
    height: ROW_HEIGHT * ranked.length,
    title: {
      text:
        series.name + (left > 0 ? `: the ${shown.length} that change it most, of ${bars.length - 1}` : ''),
      fontSize: 11,
      fontWeight: 'normal',
      offset: 4,
    },
    layer: [
      {
        data: { values: ranked },
        mark: { type: 'bar' },
        encoding: {
          x: { field: 'mean', type: 'quantitative', axis: { title: 'rate (Hz)' } },
          y,
          color: {
            field: 'isBaseline',
            type: 'nominal',
            scale: { domain: [false, true], range: [COLOURS[0], MUTED_COLOUR] },
            legend: null,
          },
        },
      },
      {
        data: { values: ranked },
        mark: { type: 'rule', strokeWidth: 1 },
        encoding: { x: { field: 'low', type: 'quantitative' }, x2: { field: 'high' }, y },
      },
      ...(baselineHz === undefined
        ? []
        : [
            {
              data: { values: [{ baselineHz }] },
              mark: { type: 'rule', color: COLOURS[1], strokeDash: [4, 3] },
              encoding: { x: { field: 'baselineHz', type: 'quantitative' } },
            },
          ]),
    ],
  };
}
