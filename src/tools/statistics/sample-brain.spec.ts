import { createHash } from 'node:crypto';
import { smallBrain, type SmallConnection, type SmallNeuron } from '../../../test/support/small-brain.js';
import { PHILOX_STREAM, PhiloxSequence } from '../../engine/stimulus/philox.js';
import type { Brain } from '../compiler/brain.js';
import { silent } from '../compiler/progress.js';
import { sampleBrain } from './sample-brain.js';
import { measureStatistics } from './measure-statistics.js';

const TYPES = ['A', 'B', 'C', 'D'];

/** Four types of 1 to 30 cells on both sides. Some have mixed signs, every fourth pair is connected, some to themselves. */
function mixedBrain(): Brain {
  const random = new PhiloxSequence(1, 1, PHILOX_STREAM.synthesis);
  const neurons: SmallNeuron[] = TYPES.flatMap((type, t) =>
    Array.from({ length: [1, 6, 15, 30][t]! }, (_, i) => ({
      id: `${type}${String(i).padStart(2, '0')}`,
      type,
      side: t > 0 && i % 2 === 1 ? 'right' : 'left',
      class: `class ${type}`,
      subClass: 'sub',
      predictedSign: i % 5 === 4 ? -1 : 1,
      correctedSign: 1,
      positionNm: [100_000 + 1000 * i, 200_000 * t, 5000] as const,
    })),
  );
  const connections: SmallConnection[] = neurons.flatMap(({ id: pre }) =>
    neurons
      .filter(() => random.nextBelow(4) === 0)
      .map(({ id: post }) => [pre, post, 5 + random.nextBelow(12)] as const),
  );
  return smallBrain(neurons, connections);
}

/** Counts the cells of each group of equal labels and sign, and the connections and synapses between groups. */
function tally({ neurons, connections }: Brain) {
  const nameOf = (i: number) =>
    [
      neurons.labels.type,
      neurons.labels.side,
      neurons.labels.super_class,
      neurons.labels.class,
      neurons.labels.sub_class,
      neurons.signs.predicted!,
    ]
      .map((column) => column[i])
      .join('|');
  const cells: Record<string, number> = {};
  for (let i = 0; i < neurons.count; i++) cells[nameOf(i)] = (cells[nameOf(i)] ?? 0) + 1;
  const pairs: Record<string, [number, number]> = {};
  for (let c = 0; c < connections.count; c++) {
    const [pre, post] = [connections.pre[c]!, connections.post[c]!];
    const name = `${nameOf(pre)} > ${pre === post ? 'itself' : nameOf(post)}`;
    const [count, synapses] = pairs[name] ?? [0, 0];
    pairs[name] = [count + 1, synapses + connections.synapseCounts[c]!];
  }
  return { cells, pairs };
}

const digestOf = ({ neurons, connections }: Brain) =>
  createHash('sha256')
    .update(neurons.ids.join())
    .update(neurons.positionsNm)
    .update(connections.pre)
    .update(connections.post)
    .update(connections.synapseCounts)
    .digest('hex');

describe('sampleBrain', () => {
  const measured = mixedBrain();
  const statistics = measureStatistics(measured);
  const sampled = sampleBrain(statistics, silent, 783);

  it('has the cells, connections and synapses of the statistics, group by group', () => {
    expect(tally(sampled)).toEqual(tally(measured));
    expect(sampled.connections.count).toBe(measured.connections.count);
  });

  it('is no copy of the measured brain', () => {
    const keysOf = ({ connections }: Brain) =>
      new Set(Array.from(connections.pre, (pre, c) => `${pre} ${connections.post[c]!}`));
    const before = keysOf(measured);
    const kept = [...keysOf(sampled)].filter((key) => before.has(key)).length;
    expect(kept).toBeLessThan(0.6 * before.size);
  });

  it('lists connections in ascending order, none twice, none below 5 synapses', () => {
    const { count, pre, post, synapseCounts } = sampled.connections;
    for (let c = 1; c < count; c++) {
      expect(pre[c - 1]! * sampled.neurons.count + post[c - 1]!).toBeLessThan(
        pre[c]! * sampled.neurons.count + post[c]!,
      );
    }
    expect(Math.min(...synapseCounts)).toBeGreaterThanOrEqual(5);
  });

  it('names neurons by type, side and number, in the order of code units', () => {
    const { ids } = sampled.neurons;
    expect(ids.slice(0, 4)).toEqual(['A_L_0001', 'B_L_0001', 'B_L_0002', 'B_L_0003']);
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('places neurons around the mean of their group and calls every position an estimate', () => {
    const d = sampled.neurons.ids.flatMap((id, i) => (id.startsWith('D_') ? [i] : []));
    const x = d.map((i) => sampled.neurons.positionsNm[3 * i]!);
    expect(Math.min(...x)).toBeGreaterThan(70_000);
    expect(Math.max(...x)).toBeLessThan(160_000);
    expect(d.every((i) => sampled.neurons.positionsNm[3 * i + 1] === 600_000)).toBe(true);
    expect(sampled.neurons.positionEstimated.every((flag) => flag === 1)).toBe(true);
  });

  it('is the same every time, on every machine, and another one for another seed', () => {
    expect(digestOf(sampled)).toBe('3023090686932dcc4c1222543fd2f099d0b27b9380ab3df6196c58a40645b488');
    expect(digestOf(sampleBrain(statistics, silent, 783))).toBe(digestOf(sampled));
    const other = sampleBrain(statistics, silent, 784);
    expect(digestOf(other)).not.toBe(digestOf(sampled));
    expect(tally(other)).toEqual(tally(measured));
  });

  it('says that it is synthetic, then names the origin of the statistics', () => {
    expect(sampled.identity.wiring).toBe('synthetic');
    expect(sampled.provenance[0]).toMatch(/^Synthetic wiring/);
    expect(sampled.provenance.slice(2)).toEqual(measured.provenance);
  });
});
