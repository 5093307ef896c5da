/** Which figure an answer is: a dose response, a heat map, a screen, or the activity of single conditions. */
import type { TopLevelSpec } from 'vega-lite';
import type { LabelledNeurons } from '../../answers/v2/formats/tables.js';
import { heatAxesOf } from '../../plot/heat-map.js';
import { COLOURS } from '../../plot/svg.js';
import type { Panel } from '../raster-panel.js';
import { histogramPanels, ratePanel, rasterPanels } from './activity-plot.js';
import { groupIn, screenOf, seriesOf, type CollectedAnswer, type Series } from './collected-answer.js';
import { dosePanels } from './dose-plot.js';
import { heatPanels } from './heat-plot.js';
import { screenPanels } from './screen-plot.js';
import { counted } from '../text.js';

/** Groups in one figure: more cannot be told apart, or would not fit on a page. */
const MOST_CURVES = COLOURS.length;
const MOST_SCREENS = 3;
const MOST_HISTOGRAMS = 12;
const MOST_RATE_PANELS = 4;

export function plotOf(answer: CollectedAnswer, neurons: LabelledNeurons): TopLevelSpec {
  const { head } = answer;
  const { name = 'Open experiment', duration_ms: durationMs, trials, sweep = [] } = head.experiment;
  const duration = sweep.some((axis) => 'set' in axis && axis.set === 'duration_ms')
    ? ''
    : ` of ${durationMs} ms`;
  const spec = {
    title: {
      text: name,
      subtitle: [`${counted(trials, 'trial')}${duration}, ${head.model}`, `experiment ${head.id}`],
    },
    vconcat: panelsOf(answer, neurons),
    resolve: { scale: { color: 'independent' } },
  };
  return spec as unknown as TopLevelSpec;
}

function panelsOf(answer: CollectedAnswer, neurons: LabelledNeurons): readonly Panel[] {
  const { head, conditions } = answer;
  const { sweep = [], reports } = head.experiment;
  const rates = mostActive(answer);
  const heatAxes = heatAxesOf(head.experiment);
  if (heatAxes !== undefined && rates.length > 0) return heatPanels(answer, heatAxes);
  const numeric = sweep.find((axis) => 'set' in axis && axis.values.length > 1);
  if (numeric !== undefined && 'set' in numeric && rates.length > 0) {
    return [dosePanels(answer, numeric, rates.slice(0, MOST_CURVES))];
  }
  if (screenOf(head.experiment) !== undefined && rates.length > 0) {
    return screenPanels(answer, rates.slice(0, MOST_SCREENS));
  }
  const histograms = rates.filter(({ report }) => reports[report]!.type === 'histogram');
  const bars = rates.filter(({ report }) => reports[report]!.type === 'rate');
  return [
    ...rasterPanels(answer, neurons),
    ...histogramPanels(answer, histograms.slice(0, MOST_HISTOGRAMS)),
    ...(bars.length === 0
      ? []
      : conditions.slice(0, MOST_RATE_PANELS).map((condition) => ratePanel(condition, bars))),
  ];
}

/** Groups by their highest rate in any condition; equal ones, such as silent ones, in their order. */
function mostActive(answer: CollectedAnswer): Series[] {
  const highest = (series: Series) =>
    answer.conditions.reduce(
      (most, condition) => Math.max(most, groupIn(condition, series).rate_hz?.mean ?? 0),
      0,
    );
  return seriesOf(answer)
    .map((series) => ({ series, hz: highest(series) }))
    .sort((a, b) => b.hz - a.hz)
    .map(({ series }) => series);
}
