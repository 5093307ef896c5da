import { buildConnectome } from '../../src/tools/compiler/build-connectome.js';
import { encodeConnectome, openConnectome } from '../../src/engine/connectome/format.js';
import type { ExperimentDocument } from '../../src/experiments/document/document.js';
import type { AnsweredCondition, ExperimentEvent } from '../../src/experiments/document/result.js';
import type { EventTable } from '../../src/experiments/kinds/result-rows.js';
import { smallBrain } from './small-brain.js';

/** In the order of the connectome: type, side, id. */
export const LEFT = '720575940600000009';
export const RIGHT = '720575940600000001';
export const UNTYPED = '720575940600000005';

/** Three neurons, one without a type, one whose type would be quoted in CSV. */
export const connectomeBytes = encodeConnectome(
  buildConnectome(
    smallBrain(
      [
        { id: LEFT, type: 'A,"1"', side: 'left' },
        { id: RIGHT, type: 'A,"1"', side: 'right' },
        { id: UNTYPED, type: '', side: 'center' },
      ],
      [[LEFT, RIGHT, 5]],
    ),
    { signRule: 'predicted', populations: { stimuli: [], channels: [] } },
  ),
);
export const connectome = openConnectome(connectomeBytes.buffer);

const REPORT = { node_set: '*', group_by: [], start_ms: 0, end_ms: 20 } as const;

const INPUT = { node_set: '*', module: 'poisson', rate_hz: 100, delay_ms: 0, duration_ms: 20 } as const;

export const experiment: ExperimentDocument = {
  name: '=dose, "μ"',
  node_sets: {},
  inputs: {
    a: INPUT,
    b: INPUT,
  },
  silence: [],
  duration_ms: 20,
  trials: 2,
  seed: 42,
  reports: {
    cells: { ...REPORT, type: 'rate', group_by: ['neuron', 'side'] },
    '-all': { ...REPORT, type: 'histogram', start_ms: 0.3, bin_ms: 10.1 },
    raster: { ...REPORT, type: 'spikes' },
    events: { ...REPORT, type: 'inputs' },
    potentials: { ...REPORT, type: 'membrane', dt_ms: 10 },
  },
  sweep: [
    { set: 'inputs.a.rate_hz', values: [0.5] },
    { each: '*', group_by: ['type', 'side'], as: 'silence' },
  ],
  on_missing: 'error',
};

/** Neurons are given by their place in the connectome. */
export function spikeTable(
  rows: readonly (readonly [trial: number, step: number, neuron: number])[],
  truncated = false,
): EventTable {
  return {
    table: 'spikes',
    trials: Uint8Array.from(rows, ([trial]) => trial),
    steps: Uint16Array.from(rows, ([, step]) => step),
    neurons: Uint32Array.from(rows, ([, , neuron]) => neuron),
    columns: [],
    truncated,
  };
}

type Rows = Parameters<typeof spikeTable>[0];

export function inputTable(rows: Rows, inputs: ArrayLike<number>): EventTable {
  const column = { name: 'input', type: 'label', labels: ['a', 'b'] } as const;
  return { ...spikeTable(rows), table: 'inputs', columns: [{ column, values: Uint8Array.from(inputs) }] };
}

function membraneTable(rows: Rows, ...potentials: readonly number[]): EventTable {
  const column = { name: 'v_mv', type: 'double' } as const;
  return {
    ...spikeTable(rows),
    table: 'membrane',
    columns: [{ column, values: Float64Array.from(potentials) }],
  };
}

const NOTHING = { spikes: null, responding_neurons: null, responding_any: null, synaptic_events: 9 } as const;

/** The baseline, and a condition that was stopped. */
export const conditions: readonly AnsweredCondition[] = [
  {
    index: 0,
    parameters: { 'inputs.a.rate_hz': 0.5, silence: null },
    complete: true,
    spikes: { mean: 1.5, sd: 0.5 },
    responding_neurons: { mean: 1.5, sd: 0.5 },
    responding_any: 2,
    synaptic_events: 3,
    reports: {
      cells: [
        {
          root_id: LEFT,
          side: 'left',
          neurons: 1,
          responding: { mean: 1, sd: 0 },
          responding_any: 1,
          rate_hz: { mean: 75, sd: 25, trials: [100, 50] },
        },
        {
          root_id: RIGHT,
          side: 'right',
          neurons: 1,
          responding: { mean: 0, sd: 0 },
          responding_any: 0,
          rate_hz: { mean: 0, sd: 0, trials: [0, 0] },
        },
      ],
      '-all': [
        {
          neurons: 3,
          responding: { mean: 1.5, sd: 0.5 },
          responding_any: 2,
          rate_hz: { mean: 25.0001, sd: 8.3333, trials: [33.3334, 16.6668] },
          bins_hz: [16.5, 0],
        },
      ],
      raster: spikeTable([
        [0, 1, 0],
        [0, 123, 2],
        [1, 199, 0],
      ]),
      events: inputTable([[0, 7, 1]], [1]),
      // As long as doubles get: one with fewer digits is another.
      potentials: membraneTable(
        [
          [0, 100, 0],
          [0, 100, 2],
          [1, 100, 0],
          [1, 100, 2],
        ],
        -52,
        -44.900000000000006,
        -51.99999999999999,
        16.749999999999996,
      ),
    },
  },
  {
    index: 1,
    parameters: { 'inputs.a.rate_hz': 0.5, silence: { type: 'A,"1"', side: 'left' } },
    complete: false,
    stopped_at_ms: 3.2,
    reason: 'EVENT_BUDGET',
    ...NOTHING,
    reports: {
      cells: [
        { root_id: LEFT, side: 'left', neurons: 1, responding: null, responding_any: null, rate_hz: null },
      ],
      '-all': [{ neurons: 3, responding: null, responding_any: null, rate_hz: null, bins_hz: null }],
      raster: spikeTable([[0, 2, 1]], true),
      events: inputTable([], []),
      potentials: membraneTable([]),
    },
  },
];

export function eventsOf(
  document: ExperimentDocument,
  results: readonly AnsweredCondition[],
): readonly ExperimentEvent[] {
  return [
    {
      kind: 'head',
      head: {
        id: '0123456789abcdef0123456789abcdef',
        model: 'fafb-783-measured-predicted-000000000000',
        wiring: 'measured',
        side_convention: 'of the classification',
        experiment: document,
        resolved: {},
      },
    },
    ...results.map((condition) => ({ kind: 'condition', condition }) as const),
    {
      kind: 'totals',
      totals: {
        unchanged: [],
        cost: { brain_seconds: 0.08, input_events: 1, synaptic_events: 12 },
        warnings: [],
        cite: ['Somebody 2000'],
      },
    },
  ];
}
