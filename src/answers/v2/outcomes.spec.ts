import type { ConditionResult } from './result.js';
import { decodeOutcome, encodeOutcome, sparseCounts, type ConditionOutcome } from './outcomes.js';

const columns = {
  trials: Uint8Array.of(0, 0, 255),
  steps: Uint16Array.of(1, 65_535, 0),
  // A part of a larger buffer, as tables that were cut are.
  neurons: Uint32Array.of(9, 4_294_967_295, 0, 7).subarray(1),
};
const result = {
  index: 3,
  parameters: { 'inputs.a.rate_hz': 0.1, silence: { type: '$column' } },
  complete: true,
  spikes: { mean: 0.30000000000000004, sd: 1e-4 },
  responding_neurons: null,
  synaptic_events: 2 ** 53 - 1,
  reports: {
    // Names that clients may give.
    $column: [{ neurons: 1, type: 'é "quoted"', responding: null, responding_any: 0, rate_hz: null }],
    bytes: { table: 'spikes', ...columns, truncated: false },
    '10': [],
    '2': [],
    constructor: [],
    given: {
      table: 'inputs',
      ...columns,
      inputs: Uint8Array.of(1, 0, 1),
      inputNames: ['a', 'b'],
      truncated: true,
    },
  },
} as unknown as ConditionResult;

const OUTCOMES: Record<string, ConditionOutcome> = {
  run: {
    kind: 'run',
    result,
    cost: { brainMs: 300, inputEvents: 12, synapticEvents: 2 ** 40, isRunaway: false },
    counts: { neurons: Uint32Array.of(2, 5), spikes: Uint32Array.of(1, 70_000) },
  },
  unchanged: { kind: 'unchanged', parameters: { silence: { root_id: '720575940611875570' } } },
  absent: { kind: 'absent' },
};

it.each(Object.keys(OUTCOMES))('an outcome comes back as it was, members in their order: %s', (name) => {
  const outcome = OUTCOMES[name]!;
  const decoded = decodeOutcome(encodeOutcome(outcome));
  expect(decoded).toEqual(outcome);
  expect(JSON.stringify(decoded)).toBe(JSON.stringify(outcome));
  expect(encodeOutcome(decoded)).toEqual(encodeOutcome(outcome));
});

it('counts keep only neurons that spiked', () => {
  expect(sparseCounts(Uint32Array.of(0, 3, 0, 0, 1))).toEqual({
    neurons: Uint32Array.of(1, 4),
    spikes: Uint32Array.of(3, 1),
  });
  expect(sparseCounts(new Uint32Array(3)).neurons).toHaveLength(0);
});
