import type { SetAxis } from '../answers/v2/document.js';
import type { GroupResult } from '../answers/v2/result.js';
import { heatMapsOf, type HeatReading } from './heat-map.js';

const AXES: readonly [SetAxis, SetAxis] = [
  { set: 'inputs.sugar.rate_hz', values: [100, 50] },
  { set: 'duration_ms', values: [20, 40] },
];

/** A report by neuron; the rate of each is its number times the rate of the input. */
function readingsOf(neurons: number): HeatReading[] {
  return [50, 100].flatMap((rateHz) =>
    [20, 40].map((durationMs) => ({
      parameters: { 'inputs.sugar.rate_hz': rateHz, duration_ms: durationMs },
      groups: Array.from({ length: neurons }, (_, neuron): GroupResult => ({
        root_id: String(neuron),
        neurons: 1,
        responding: null,
        responding_any: null,
        rate_hz: { mean: neuron * rateHz, sd: 0, trials: [] },
      })),
    })),
  );
}

const labelOf = ({ root_id: id }: GroupResult) => id!;

it('maps have the most active groups, in their order, and a cell for each condition', () => {
  const { maps, omitted, highestHz, x, y } = heatMapsOf('cells', AXES, readingsOf(8), labelOf);
  expect(maps.map(({ name }) => name)).toEqual([2, 3, 4, 5, 6, 7].map((neuron) => `cells ${neuron}`));
  expect([omitted, highestHz, x.values, y.values]).toEqual([2, 700, [50, 100], [20, 40]]);
  expect(maps[0]!.cells.map(({ x, y, rate }) => [x, y, rate?.mean])).toEqual([
    [0, 0, 100],
    [0, 1, 100],
    [1, 0, 200],
    [1, 1, 200],
  ]);
});

it('takes a report of a whole brain by neuron', () => {
  const neurons = 139_255;
  const { maps, omitted, highestHz } = heatMapsOf('cells', AXES, readingsOf(neurons), labelOf);
  expect([maps.length, omitted, highestHz]).toEqual([6, neurons - 6, 100 * (neurons - 1)]);
});
