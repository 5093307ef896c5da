import { tableFromIPC } from 'apache-arrow';
import { parquetReadObjects } from 'hyparquet';
import {
  answerOf,
  groupsIn,
  localTrials,
  planOf,
  rowsOf,
  tableIn,
  type Answer,
} from '../../../../test/support/open-experiments.js';
import { smallBrain } from '../../../../test/support/small-brain.js';
import { populationsOf } from '../../../../test/support/tables.js';
import { buildConnectome } from '../../../tools/compiler/build-connectome.js';
import { encodeConnectome, openConnectome } from '../../../engine/connectome/format.js';
import { meanSd } from '../mean-sd.js';
import { answerWriter } from '../../formats/answer-writer.js';
import type { Format } from '../../formats/formats.js';

/** The chain of hand-worked.spec.ts: after an event for A at 0 ms, A spikes in step 1, B in 31, C in 61; D never does. */
const connectome = openConnectome(
  encodeConnectome(
    buildConnectome(
      smallBrain(
        [
          { id: '1', type: 'A', superClass: 'sensory' },
          { id: '2', type: 'B', side: 'left' },
          { id: '3', type: 'C', side: 'right' },
          { id: '4', type: 'D', side: 'right' },
        ],
        [
          ['1', '2', 500],
          ['2', '3', 500],
          ['4', '3', 500],
        ],
      ),
      { signRule: 'predicted', populations: populationsOf({ type: 'A' }, { motor: [{ type: 'C' }] }) },
    ),
  ).buffer as ArrayBuffer,
);
const runTrial = localTrials(connectome);

const KICKED = {
  inputs: { kick: { node_set: 'A', module: 'spikes', times_ms: [0, 50] } },
  duration_ms: 100,
  trials: 2,
};
const run = (request: object, limits = {}): Promise<Answer> =>
  answerOf(planOf(connectome, request, limits), runTrial);

const exact = (ms: number) => ({ latency_ms: { mean: ms, sd: 0, trials: [ms, ms] }, responding_trials: 1 });
const NONE = { latency_ms: null, responding_trials: 0 };

describe('a report of latencies', () => {
  it('has the first spike of any neuron of a group, from the start of the window', async () => {
    const { conditions } = await run({
      ...KICKED,
      reports: {
        all: { node_set: ['B', 'C', 'D'], type: 'latency' },
        cells: { node_set: ['B', 'C', 'D'], type: 'latency', group_by: ['type'] },
        // C spikes in the steps 61 and 561: the first is in the first window, and before the second.
        early: { node_set: 'C', type: 'latency', start_ms: 6.1, end_ms: 56.1 },
        late: { node_set: 'C', type: 'latency', start_ms: 6.2 },
        before: { node_set: 'C', type: 'latency', end_ms: 6.1 },
      },
    });
    const [condition] = conditions;
    expect(groupsIn(condition!, 'all')).toEqual([{ neurons: 3, ...exact(3.1) }]);
    expect(groupsIn(condition!, 'cells')).toEqual([
      { type: 'B', neurons: 1, ...exact(3.1) },
      { type: 'C', neurons: 1, ...exact(6.1) },
      { type: 'D', neurons: 1, ...NONE },
    ]);
    expect(groupsIn(condition!, 'early')).toEqual([{ neurons: 1, ...exact(0) }]);
    expect(groupsIn(condition!, 'late')).toEqual([{ neurons: 1, ...exact(49.9) }]);
    expect(groupsIn(condition!, 'before')).toEqual([{ neurons: 1, ...NONE }]);
  });

  it('has no value if a trial was stopped', async () => {
    const reports = { c: { node_set: 'C', type: 'latency' } };
    const { conditions } = await run({ ...KICKED, reports }, { synapticEventsPerTrial: 1 });
    expect(conditions[0]!.complete).toBe(false);
    expect(groupsIn(conditions[0]!, 'c')).toEqual([
      { neurons: 1, latency_ms: null, responding_trials: null },
    ]);
  });

  it.each([
    [[], 0],
    [['side'], 12.3],
    [['type', 'side'], 0],
    [['neuron'], 20],
  ])('agrees with the spikes of the same answer, by %j from %d ms', async (groupBy, startMs) => {
    const trials = 60;
    const read = { node_set: '*', start_ms: startMs, end_ms: 45 };
    const { conditions } = await run({
      inputs: { a: { node_set: 'A', rate_hz: 20 }, d: { node_set: 'D', rate_hz: 8 } },
      reports: {
        first: { ...read, type: 'latency', group_by: groupBy },
        raster: { ...read, type: 'spikes' },
      },
      duration_ms: 50,
      trials,
    });
    const rows = rowsOf(tableIn(conditions[0]!, 'raster'));
    const groups = groupsIn(conditions[0]!, 'first');
    const { typeIndices, sides, metadata } = connectome;
    const members = groups.map((group) =>
      [0, 1, 2, 3].filter(
        (neuron) =>
          (group.root_id ?? connectome.neuronId(neuron)) === connectome.neuronId(neuron) &&
          (group.type ?? '') ===
            (group.type === undefined ? '' : metadata.types[typeIndices[neuron]!]!.name) &&
          (group.side === undefined || ['left', 'right', 'center', ''][sides[neuron]!] === group.side),
      ),
    );
    expect(members.flat().sort()).toEqual([0, 1, 2, 3]);
    let silentTrials = 0;
    groups.forEach((group, at) => {
      const firsts = Array.from({ length: trials }, (_, trial) => {
        const own = rows.filter(([of, , neuron]) => of === trial && members[at]!.includes(neuron!));
        if (own.length === 0) silentTrials++;
        return own.length === 0
          ? null
          : Math.min(...own.map(([, step]) => step! - Math.round(startMs * 10))) / 10;
      });
      const known = firsts.filter((ms) => ms !== null);
      const { mean, sd } = meanSd(known);
      expect(group).toMatchObject({
        latency_ms: { mean: expect.closeTo(mean, 3), sd: expect.closeTo(sd, 3), trials: firsts },
        responding_trials: expect.closeTo(known.length / trials, 4),
      });
    });
    // Otherwise nothing was compared.
    expect(silentTrials).toBeGreaterThan(0);
    expect(rows.length).toBeGreaterThan(trials / 4);
  });

  it('fills a table of its own, which is the default without rates, in every format', async () => {
    const plan = planOf(connectome, {
      ...KICKED,
      reports: { c: { node_set: ['C', 'D'], type: 'latency', group_by: ['type'] } },
    });
    const { head, conditions, totals } = await answerOf(plan, runTrial);
    const bytesAs = async (format: Format, table?: string) => {
      const experiment = head.experiment;
      const writer = await answerWriter(format, { connectome, experiment, ...(table && { table }) });
      return Buffer.concat([
        ...writer.write({ kind: 'head', head }),
        ...conditions.flatMap((condition) => [...writer.write({ kind: 'condition', condition })]),
        ...writer.write({ kind: 'totals', totals }),
      ]);
    };
    expect((await bytesAs('csv')).toString().split('\r\n')).toEqual([
      'condition,report,type,neurons,latency_ms_mean,latency_ms_sd,responding_trials,trials',
      '0,c,C,1,6.1,0,1,2',
      '0,c,D,1,,,0,2',
      '',
    ]);
    const shared = { condition: 0, report: 'c', neurons: 1, trials: 2 };
    const rows = [
      { ...shared, type: 'C', latency_ms_mean: 6.1, latency_ms_sd: 0, responding_trials: 1 },
      { ...shared, type: 'D', latency_ms_mean: null, latency_ms_sd: null, responding_trials: 0 },
    ];
    const arrow = tableFromIPC(await bytesAs('arrow', 'latency')).toArray() as { toJSON(): object }[];
    expect(arrow.map((row) => row.toJSON())).toEqual(rows);
    const file = Uint8Array.from(await bytesAs('parquet')).buffer;
    expect(await parquetReadObjects({ file })).toEqual(rows);
    await expect(bytesAs('csv', 'rates')).rejects.toThrow(
      'table: rates needs a report of type rate or histogram; the reports are c (latency).',
    );
  });
});
