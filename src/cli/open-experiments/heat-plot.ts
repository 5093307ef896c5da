/** Heat maps of the rates over two swept parameters, in one row for each report. */
import type { SetAxis } from '../../answers/v2/document.js';
import { besideText, groupSuffix } from '../../plot/condition-labels.js';
import { HEAT_COLOURS, heatMapsOf, withoutSilent, type HeatMap, type HeatMaps } from '../../plot/heat-map.js';
import type { Panel } from '../raster-panel.js';
import type { CollectedAnswer } from './collected-answer.js';

const [SMALLEST_CELL, LARGEST_CELL] = [16, 60];
const MAP_SIZE = 300;
/** From this size on a cell has room for its rate. */
const LABELLED_CELL = 22;
const COLUMNS = 2;
/** Each report has one, for each value of further axes. */
const MOST_ROWS = 6;

/** @param axes of the maps; every value of the others has maps of its own */
export function heatPanels(
  { head, conditions }: CollectedAnswer,
  axes: readonly [SetAxis, SetAxis],
): readonly Panel[] {
  const parameters = axes.map(({ set }) => set);
  const besides = [
    ...new Set(conditions.map((condition) => besideText(condition.parameters, parameters))),
  ].slice(0, MOST_ROWS);
  const reports = Object.entries(head.experiment.reports).filter(
    ([, { type }]) => type === 'rate' || type === 'histogram',
  );
  return besides
    .flatMap((beside) => {
      const shown = conditions.filter((condition) => besideText(condition.parameters, parameters) === beside);
      const all = reports.map(([report]) => {
        const readings = shown.map((condition) => ({
          parameters: condition.parameters,
          groups: condition.groups[report]!,
        }));
        return heatMapsOf(report, axes, readings, groupSuffix);
      });
      return withoutSilent(all).map((maps) => rowOf(maps, beside));
    })
    .slice(0, MOST_ROWS);
}

function rowOf(maps: HeatMaps, beside: string): Panel {
  return {
    concat: maps.maps.map((map) => mapOf(map, maps, beside)),
    columns: COLUMNS,
    resolve: { scale: { color: 'shared' } },
  };
}

function mapOf({ name, cells }: HeatMap, { x, y, highestHz }: HeatMaps, beside: string): Panel {
  const size = Math.min(
    LARGEST_CELL,
    Math.max(SMALLEST_CELL, MAP_SIZE / Math.max(x.values.length, y.values.length)),
  );
  // A scale that ends where it begins has no colours.
  const highest = highestHz || 1;
  const values = cells.flatMap((cell) =>
    cell.rate === null
      ? []
      : [{ x: x.values[cell.x], y: y.values[cell.y], mean: cell.rate.mean, text: cellText(cell.rate.mean) }],
  );
  const axis = { labelAngle: 0, labelOverlap: true, ticks: false, domain: false };
  const color = {
    field: 'mean',
    type: 'quantitative',
    scale: {
      domain: HEAT_COLOURS.map((_, at) => (highest * at) / (HEAT_COLOURS.length - 1)),
      range: HEAT_COLOURS,
    },
    legend: { title: 'mean rate (Hz)', orient: 'right' },
  };
  return {
    width: size * x.values.length,
    height: size * y.values.length,
    title: {
      text: beside === '' ? name : `${name}, ${beside}`,
      fontSize: 11,
      fontWeight: 'normal',
      offset: 4,
    },
    data: { values },
    encoding: {
      x: { field: 'x', type: 'ordinal', scale: { domain: x.values }, axis: { title: x.label, ...axis } },
      y: {
        field: 'y',
        type: 'ordinal',
        scale: { domain: [...y.values].reverse() },
        axis: { title: y.label, ...axis },
      },
    },
    layer: [
      { mark: { type: 'rect' }, encoding: { color } },
      ...(size < LABELLED_CELL
        ? []
        : [
            {
              mark: { type: 'text', fontSize: 8 },
              encoding: {
                text: { field: 'text' },
                color: {
                  condition: { test: `datum.mean > ${highest / 2}`, value: '#ffffff' },
                  value: '#1c1e24',
                },
              },
            },
          ]),
    ],
  };
}

/** Three characters at most, as long as rates have three digits. */
function cellText(rateHz: number): string {
  return rateHz > 0 && rateHz < 9.95 ? rateHz.toFixed(1) : rateHz.toFixed(0);
}
