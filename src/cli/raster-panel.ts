/** A raster as a part of a figure. */
import { COLOURS } from '../plot/svg.js';

const HEIGHT = 340;
const SMALLEST_LABELLED_BAND = 9;
const SMALLEST_SPIKE = 2;
const STIMULATED = 'cell types with stimulated neurons';
const OTHERS = 'other cell types';
const [OTHER_COLOUR, STIMULATED_COLOUR] = COLOURS;

export const LEGEND = { title: null, orient: 'bottom', symbolType: 'square', labelLimit: 300 };

/** A part of a Vega-Lite description; the library checks the whole when it compiles it. */
export type Panel = Record<string, unknown>;

/** Neurons that stand together. */
export interface Band {
  readonly name: string;
  readonly isStimulated: boolean;
  readonly neurons: readonly number[];
}

export interface Raster {
  readonly title: string;
  readonly width: number;
  readonly durationMs: number;
  /** From the top; every neuron with a spike is in one of them. */
  readonly bands: readonly Band[];
  readonly spikes: readonly { readonly ms: number; readonly neuron: number }[];
}

/** Every spike as a short upright line. */
export function rasterPanel({ title, width, durationMs, bands: named, spikes }: Raster): Panel {
  let rowsAbove = 0;
  const bands = named.map((band) => {
    const from = rowsAbove;
    rowsAbove += band.neurons.length;
    return { ...band, from };
  });
  const rowOf = new Map(
    bands.flatMap(({ neurons, from }) => neurons.map((neuron, at) => [neuron, from + at])),
  );
  const kindOf = new Map(
    bands.flatMap(({ neurons, isStimulated }) =>
      neurons.map((neuron) => [neuron, isStimulated ? STIMULATED : OTHERS]),
    ),
  );
  const rows = Math.max(1, rowOf.size);
  // Where rows are thinner than a pixel, a spike still has to be seen.
  const halfHeight = Math.max(0.5, (SMALLEST_SPIKE * rows) / HEIGHT / 2);
  const ticks = spikes.flatMap(({ ms, neuron }) => {
    const [row, kind] = [rowOf.get(neuron)!, kindOf.get(neuron)!];
    // The row without a time ends the line, so that all spikes of a kind are one path.
    return [
      { ms, row: row + 0.5 - halfHeight, kind },
      { ms, row: row + 0.5 + halfHeight, kind },
      { ms: null, row, kind },
    ];
  });
  const labelled = bands.filter(({ neurons }) => (neurons.length / rows) * HEIGHT >= SMALLEST_LABELLED_BAND);
  const y = { type: 'quantitative', scale: { domain: [rows, 0], nice: false }, axis: null };
  return {
    width,
    height: HEIGHT,
    title: {
      text: title,
      fontSize: 11,
      fontWeight: 'normal',
      offset: 4,
    },
    layer: [
      {
        data: {
          values: labelled.flatMap(({ from, neurons }) => [{ row: from }, { row: from + neurons.length }]),
        },
        mark: { type: 'rule', color: '#e4e4e4' },
        encoding: { y: { field: 'row', ...y } },
      },
      {
        data: {
          values: labelled.map(({ name, from, neurons }) => ({ row: from + neurons.length / 2, name })),
        },
        mark: { type: 'text', align: 'right', baseline: 'middle', fontSize: 9, dx: -5, color: '#333333' },
        encoding: { x: { value: 0 }, y: { field: 'row', ...y }, text: { field: 'name' } },
      },
      {
        data: { values: ticks },
        mark: { type: 'line', strokeWidth: 0.9, invalid: 'break-paths-filter-domains' },
        encoding: {
          x: {
            field: 'ms',
            type: 'quantitative',
            scale: { domain: [0, durationMs], nice: false },
            axis: { title: 'time (ms)', grid: false },
          },
          y: { field: 'row', ...y },
          color: {
            field: 'kind',
            type: 'nominal',
            scale: { domain: [STIMULATED, OTHERS], range: [STIMULATED_COLOUR, OTHER_COLOUR] },
            legend: LEGEND,
          },
          order: { value: null },
        },
      },
    ],
  };
}
