import { deflateRawSync } from 'node:zlib';
import type { ReportCounts } from '../kinds/report-kind.js';
import { planOf } from '../../../test/support/open-experiments.js';
import { smallConnectome } from '../../../test/support/small-connectome.js';
import { encodeConnectome, openConnectome } from '../../engine/connectome/format.js';
import type { ConditionResult } from './condition-result.js';
import { decodeResult, encodeResult } from '../../workers/thread/result-bytes.js';
import type { ExperimentEvent } from '../document/result.js';
import { countedSpikes, type ConditionCounts } from './condition-counts.js';
import { eventsOfResults } from './run-experiment.js';

const rows = {
  trials: Uint8Array.of(0, 0, 255),
  steps: Uint16Array.of(1, 65_535, 0),
  // A part of a larger buffer, as tables that were cut are.
  neurons: Uint32Array.of(9, 4_294_967_295, 0, 7).subarray(1),
};
const counts: ConditionCounts = {
  index: 3,
  parameters: { 'inputs.a.rate_hz': 0.1, silence: { type: '$column', side: 'é "quoted"' } },
  stoppedAtStep: 7,
  spikes: [2 ** 40, 0],
  responding: [3, 0],
  respondingInAny: 3,
  synapticEvents: 2 ** 53 - 1,
  reports: [
    { table: 'spikes', ...rows, columns: [], truncated: false },
    {
      startStep: 0,
      endStep: 300,
      groups: Uint32Array.of(5, 0),
      spikes: Uint32Array.of(1, 0, 2, 3),
      responding: Uint32Array.of(1, 0, 1, 1),
      respondingInAny: Uint32Array.of(1, 2),
      histogram: { binSteps: 100, spikes: Float64Array.of(0, 1, 0, 2 ** 40, 0, 1) },
    } as ReportCounts,
    {
      table: 'inputs',
      ...rows,
      columns: [
        {
          column: { name: 'input', type: 'label', labels: ['a', '$column'] },
          values: Uint8Array.of(1, 0, 1),
        },
        { column: { name: 'v_mv', type: 'double' }, values: Float64Array.of(-52, -44.900000000000006, 0.1) },
      ],
      truncated: true,
    },
  ],
};

const RESULTS: Record<string, ConditionResult> = {
  run: {
    kind: 'run',
    counts,
    cost: { brainMs: 300, inputEvents: 12, synapticEvents: 2 ** 40, isRunaway: false },
    spikesOfAll: { neurons: Uint32Array.of(2, 5), spikes: Uint32Array.of(1, 70_000) },
  },
  'run that decides on no other': {
    kind: 'run',
    counts: { ...counts, reports: [] },
    cost: { brainMs: 300, inputEvents: 0, synapticEvents: 0, isRunaway: true },
  },
  unchanged: { kind: 'unchanged', parameters: { silence: { $column: 'Uint8Array' } } },
  absent: { kind: 'absent' },
};

it.each(Object.keys(RESULTS))('a result comes back as it was, members in their order: %s', async (name) => {
  const result = RESULTS[name]!;
  const decoded = await decodeResult(await encodeResult(result));
  expect(decoded).toEqual(result);
  expect(JSON.stringify(decoded)).toBe(JSON.stringify(result));
  expect(await encodeResult(decoded)).toEqual(await encodeResult(result));
});

it('a result that another version has kept is refused, not misread', async () => {
  const kept = (text: string) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(text.length);
    return deflateRawSync(Buffer.concat([length, Buffer.from(text)]));
  };
  for (const text of ['{"kind":"absent"}', '{"version":1,"outcome":{"kind":"absent"}}']) {
    await expect(decodeResult(kept(text))).rejects.toMatchObject({ code: 'NOT_FOUND' });
  }
  expect(await decodeResult(kept('{"version":2,"outcome":{"kind":"absent"}}'))).toEqual({ kind: 'absent' });
});

it('keeps only neurons that spiked', () => {
  expect(countedSpikes(Uint32Array.of(0, 3, 0, 0, 1))).toEqual({
    neurons: Uint32Array.of(1, 4),
    spikes: Uint32Array.of(3, 1),
  });
  expect(countedSpikes(new Uint32Array(3)).neurons).toHaveLength(0);
});

describe('an answer from results of which one is gone', () => {
  const plan = planOf(openConnectome(encodeConnectome(smallConnectome()).buffer as ArrayBuffer), {
    reports: { walk: { node_set: 'C_walk' } },
    trials: 1,
    sweep: [{ set: 'seed', values: [1, 2] }],
  });
  async function* results() {
    yield [0, { kind: 'absent' }] as const;
    yield [1, undefined] as const;
  }
  const eventsOf = async (isPartial: boolean): Promise<ExperimentEvent[]> => {
    const events: ExperimentEvent[] = [];
    const order = { from: 0, reports: plan.reports, tableRows: 100, isPartial };
    for await (const event of eventsOfResults(plan, results(), order)) events.push(event);
    return events;
  };

  it('says that it is partial, or fails', async () => {
    expect((await eventsOf(true)).at(-1)).toMatchObject({ kind: 'totals', totals: { partial: true } });
    await expect(eventsOf(false)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
