import { planOf } from '../../../test/support/open-experiments.js';
import { smallBrain } from '../../../test/support/small-brain.js';
import { populationsOf } from '../../../test/support/tables.js';
import type { Connectome, WiringOrigin } from '../../engine/connectome/connectome.js';
import { encodeConnectome, openConnectome } from '../../engine/connectome/format.js';
import { buildConnectome } from '../../tools/compiler/build-connectome.js';

/** M and N have a neuron on either side, P two on the left and one on the right, Q only one. S sends all input. */
function brainWith(inputs: Readonly<Record<string, number>>, wiring: WiringOrigin = 'measured'): Connectome {
  const neurons = ['M left', 'M right', 'N left', 'N right', 'P left', 'P left', 'P right', 'Q left'].map(
    (name, at) => {
      const [type, side] = name.split(' ') as [string, string];
      return { id: String(2 + at), type, side };
    },
  );
  const brain = smallBrain(
    [{ id: '1', type: 'S' }, ...neurons],
    Object.entries(inputs).map(([id, synapses]) => ['1', id, synapses] as const),
  );
  const content = buildConnectome(
    { ...brain, identity: { ...brain.identity, wiring } },
    { signRule: 'predicted', populations: populationsOf({ type: 'S' }, { motor: [{ type: 'M' }] }) },
  );
  return openConnectome(encodeConnectome(content).buffer as ArrayBuffer);
}

const warningsOf = (connectome: Connectome, report: object, more = {}) =>
  planOf(connectome, { reports: { r: report }, ...more })
    .warnings.filter(({ code }) => code === 'ASYMMETRIC_INPUT')
    .map(({ message }) => message);

describe('a readout whose sides get different input', () => {
  const connectome = brainWith({ 2: 10, 3: 21, 4: 10, 5: 20, 6: 50, 7: 70, 8: 29, 9: 500 });

  it.each([
    ['groups split by side', { node_set: 'M', group_by: ['side'] }, 'M (left 10, right 21)'],
    [
      'single neurons',
      { node_set: ['M', 'N', 'P', 'Q', 'S'], group_by: ['neuron'] },
      'M (left 10, right 21)',
    ],
    ['one neuron', { node_set: { type: 'M', side: 'right' } }, 'M (left 10, right 21)'],
    ['means of groups', { node_set: 'P', group_by: ['type', 'side'] }, 'P (left 60, right 29)'],
    ['all of them', { node_set: ['M', 'P'], group_by: ['side'] }, undefined],
    [
      'types split by side',
      { node_set: ['M', 'N', 'P', 'Q'], group_by: ['type', 'side'] },
      'M (left 10, right 21), P (left 60, right 29)',
    ],
    ['sides of twice the input', { node_set: 'N', group_by: ['side'] }, undefined],
    ['both sides together', { node_set: 'M' }, undefined],
    ['a table of spikes', { node_set: 'M', type: 'spikes' }, undefined],
  ])('warns of %s', (_, report, named) => {
    const found = warningsOf(connectome, report);
    expect(found).toHaveLength(named === undefined ? 0 : 1);
    if (named !== undefined)
      expect(found[0]).toContain(`more than twofold: ${named}. The reconstruction may`);
  });

  it('counts no input as less than half of any', () => {
    const report = { node_set: 'M', group_by: ['side'] };
    expect(warningsOf(brainWith({ 2: 5 }), report)[0]).toContain('M (left 5, right 0)');
    expect(warningsOf(brainWith({ 4: 5 }), report)).toEqual([]);
  });

  it('says nothing of wiring that is not measured, or changed by the experiment', () => {
    const report = { node_set: 'M', group_by: ['side'] };
    const inputs = { 2: 10, 3: 21 };
    expect(warningsOf(brainWith(inputs), report)).toHaveLength(1);
    for (const wiring of ['synthetic', 'custom'] as const) {
      expect(warningsOf(brainWith(inputs, wiring), report)).toEqual([]);
    }
    expect(warningsOf(brainWith(inputs), report, { wiring: { shuffle: 'targets' } })).toEqual([]);
  });
});
