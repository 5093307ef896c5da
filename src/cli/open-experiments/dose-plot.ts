/** Rates over the values of a swept parameter: mean, and a band of one standard deviation to either side. */
import type { SetAxis } from '../../answers/v2/document.js';
import { besideText, parameterLabel } from '../../plot/condition-labels.js';
import { LEGEND, type Panel } from '../raster-panel.js';
import { groupIn, type CollectedAnswer, type CollectedCondition, type Series } from './collected-answer.js';

const WIDTH = 560;
const HEIGHT = 300;
/** Of the panels where there are several. */
const NARROW = 220;
const COLUMNS = 3;
const MOST_PANELS = 12;

/** @param axis whose values are the x axis; every value of the others is a panel of its own */
export function dosePanels(answer: CollectedAnswer, axis: SetAxis, series: readonly Series[]): Panel {
  const panelOf = (condition: CollectedCondition) => besideText(condition.parameters, [axis.set]);
  const panels = [...new Set(answer.conditions.map(panelOf))].slice(0, MOST_PANELS);
  const values = answer.conditions
    .filter((condition) => panels.includes(panelOf(condition)))
    .flatMap((condition) =>
      series.flatMap((each) => {
        const rate = groupIn(condition, each).rate_hz;
        if (rate === null) return [];
        const { mean, sd } = rate;
        const x = condition.parameters[axis.set] as number;
        return [
          {
            x,
            mean,
            low: Math.max(0, mean - sd),
            high: mean + sd,
            series: each.name,
            panel: panelOf(condition),
          },
        ];
      }),
    );
  const x = {
    field: 'x',
    type: 'quantitative',
    axis: { title: parameterLabel(axis.set), grid: false },
    scale: { zero: false, nice: false },
  };
  const layer = [
    {
      mark: { type: 'area', opacity: 0.2 },
      encoding: { y: { field: 'low', type: 'quantitative' }, y2: { field: 'high' } },
    },
    {
      mark: { type: 'line', strokeWidth: 1.5, point: true },
      encoding: { y: { field: 'mean', type: 'quantitative', axis: { title: 'rate (Hz)' } } },
    },
  ];
  const color = {
    field: 'series',
    type: 'nominal',
    sort: series.map(({ name }) => name),
    legend: LEGEND,
  };
  if (panels.length === 1) {
    return { data: { values }, width: WIDTH, height: HEIGHT, encoding: { x, color }, layer };
  }
  return {
    data: { values },
    facet: { field: 'panel', type: 'nominal', sort: panels, header: { title: null } },
    columns: COLUMNS,
    spec: { width: NARROW, height: NARROW, encoding: { x, color }, layer },
  };
}
