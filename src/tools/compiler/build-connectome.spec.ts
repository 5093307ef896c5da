import { readTables } from './tables.js';
import { buildConnectome } from './build-connectome.js';
import { encodeConnectome, openConnectome } from '../../engine/connectome/format.js';
import { populationsOf, tableTexts, writeTables } from '../../../test/support/tables.js';
import type { Connectome } from '../../engine/connectome/connectome.js';

/**
 * Seven neurons in an order that is neither that of their ids nor that of the file. By hand, the file's order
 * is: T1 left 30, T1 right 7, T1 right 20 | T2 left 100 | untyped: central 9, 50; sensory 8.
 */
const NEURONS = [
  { id: '100', type: 'T2', transmitter: 'GABA' },
  { id: '20', type: 'T1', side: 'right' },
  { id: '7', type: 'T1', side: 'right' },
  { id: '50', transmitter: 'GLUT' },
  { id: '30', type: 'T1', side: 'left' },
  { id: '9' },
  { id: '8', superClass: 'sensory' },
].map((neuron, i) => ({ ...neuron, positionNm: [i, 10 * i, 100 * i] as [number, number, number] }));
const [PLACE_30, PLACE_7, PLACE_20, PLACE_100, PLACE_9, PLACE_50, PLACE_8] = [0, 1, 2, 3, 4, 5, 6] as const;

async function compiled(): Promise<Connectome> {
  const dir = writeTables(
    tableTexts(NEURONS, [
      ['100', '8', 'GNG', 3],
      ['7', '20', 'GNG', 5],
      ['100', '30', 'GNG', 9],
      ['100', '8', 'FLA', 2],
      ['7', '100', 'GNG', 4],
      ['50', '50', 'GNG', 8191],
    ]),
  );
  const populations = populationsOf({ type: 'T*' }, { sugar: [{ type: 'T1' }], motor: [{ side: 'right' }] });
  const content = buildConnectome(await readTables(dir), { signRule: 'predicted', populations });
  return openConnectome(encodeConnectome(content).buffer as ArrayBuffer);
}

describe('buildConnectome', () => {
  it('keeps probabilities of signs in the order of the file if asked, worked out by hand', async () => {
    // da, ser, gaba, glut, ach, oct
    const neurons = [
      { id: '2', type: 'B', averages: [0, 0, 0.25, 0.25, 0.5, 0] },
      { id: '1', type: 'C', averages: [0.1, 0, 0, 0, 0, 0.4] },
      { id: '3', type: 'R7', averages: [0, 0, 0, 0, 1, 0] },
      { id: '4', type: 'A', transmitter: 'GABA', averages: [0.2, 0, 0.2, 0.2, 0.2, 0] },
      { id: '5', type: 'D', transmitter: '', averages: [0, 0, 0, 0, 0, 0] },
    ].map((neuron) => ({ ...neuron, positionNm: [0, 0, 0] as const }));
    const brain = await readTables(writeTables(tableTexts(neurons, [['1', '2', '', 5]])));
    const populations = populationsOf({ type: 'B' }, {});
    const contentUnder = (signRule: 'predicted' | 'fast') =>
      buildConnectome(brain, { signRule, populations, hasSignProbabilities: true });
    // A 4, B 2, C 1, D 5, R7 3.
    expect(contentUnder('predicted').neuronIds).toEqual(['4', '2', '1', '5', '3']);
    expect([...contentUnder('predicted').signProbabilities!]).toEqual([
      ...[128, 127],
      ...[128, 127],
      ...[255, 0],
      ...[255, 0],
      ...[0, 255],
    ]);
    expect([...contentUnder('fast').signProbabilities!]).toEqual([
      ...[64, 127],
      ...[128, 127],
      ...[0, 0],
      ...[0, 0],
      ...[0, 255],
    ]);
    expect(buildConnectome(brain, { signRule: 'fast', populations })).not.toHaveProperty('signProbabilities');
  });

  it('orders neurons by type, side and id, the untyped last by super class', async () => {
    const connectome = await compiled();
    const ids = Array.from({ length: 7 }, (_, i) => connectome.neuronId(i));
    expect(ids).toEqual(['30', '7', '20', '100', '9', '50', '8']);
    expect(connectome.metadata.types).toEqual([
      { name: 'T1', superClass: 'central' },
      { name: 'T2', superClass: 'central' },
      { name: '', superClass: 'central' },
      { name: '', superClass: 'sensory' },
    ]);
    expect([...connectome.typeIndices]).toEqual([0, 0, 0, 1, 2, 2, 3]);
    expect([...connectome.sides]).toEqual([0, 1, 1, 0, 0, 0, 0]);
    expect(connectome.metadata.classes).toEqual([
      { superClass: 'central', class: '', subClass: '' },
      { superClass: 'sensory', class: '', subClass: '' },
    ]);
    expect([...connectome.classIndices]).toEqual([0, 0, 0, 0, 0, 0, 1]);
  });

  it('sums pairs over neuropils, keeps five synapses or more, and sorts targets', async () => {
    const { rowStart, targets, synapseCounts, metadata } = await compiled();
    const row = (place: number) =>
      Array.from({ length: rowStart[place + 1]! - rowStart[place]! }, (_, k) => [
        targets[rowStart[place]! + k],
        synapseCounts[rowStart[place]! + k],
      ]);
    expect(row(PLACE_100)).toEqual([
      [PLACE_30, 9],
      [PLACE_8, 5],
    ]);
    expect(row(PLACE_7)).toEqual([[PLACE_20, 5]]);
    expect(row(PLACE_50)).toEqual([[PLACE_50, 8191]]);
    expect(metadata).toMatchObject({ neuronCount: 7, connectionCount: 4, synapseCount: 9 + 5 + 5 + 8191 });
  });

  it('moves signs and positions along', async () => {
    const { signs, positionsNm, positionEstimated } = await compiled();
    expect([...signs]).toEqual([1, 1, 1, -1, 1, -1, 1]);
    expect([...positionsNm.subarray(3 * PLACE_9, 3 * PLACE_9 + 3)]).toEqual([5, 50, 500]);
    expect([...positionEstimated]).toEqual([0, 0, 0, 0, 0, 0, 0]);
  });

  it('lists a stimulus ascending by root id as a number, a channel ascending by index', async () => {
    const connectome = await compiled();
    expect([...connectome.stimulusNeurons('sugar')]).toEqual([PLACE_7, PLACE_20, PLACE_30]);
    expect([...connectome.channelNeurons('motor')]).toEqual([PLACE_7, PLACE_20]);
  });
});
