import type { TableSignRule } from '../../engine/connectome/connectome.js';
import { assignSigns, type SignedLabels, signProbabilities } from './signs.js';

type Neuron = Readonly<Record<keyof SignedLabels, string>>;

function labelsOf(neurons: readonly Neuron[]): SignedLabels {
  const labels = ['type', 'class', 'sub_class', 'super_class', 'transmitter'] as const;
  return Object.fromEntries(
    labels.map((label) => [label, neurons.map((each) => each[label])]),
  ) as unknown as SignedLabels;
}

const signBy = (rule: TableSignRule) => (neuron: Neuron) =>
  assignSigns(rule, labelsOf([neuron]), ['named'], { column: 'nt_type', hasMeans: true }).signs[0];
const predicted = signBy('predicted');
const corrected = signBy('corrected');
const fast = signBy('fast');

function neuron(transmitter: string, others: Partial<Neuron> = {}): Neuron {
  return { type: '', class: '', sub_class: '', super_class: 'central', transmitter, ...others };
}

describe('the signs of data/signs.json', () => {
  it.each<[string, number]>([
    ['ACH', 1],
    ['DA', 1],
    ['SER', 1],
    ['OCT', 1],
    ['', 1],
    ['GABA', -1],
    ['GLUT', -1],
  ])('transmitter "%s" has the sign %i under both rules', (transmitter, sign) => {
    expect(predicted(neuron(transmitter))).toBe(sign);
    expect(corrected(neuron(transmitter))).toBe(sign);
  });

  it.each(['R1-6', 'R7', 'R8'])('%s inhibits under both rules, whatever was predicted', (type) => {
    for (const rule of [predicted, corrected]) {
      expect(rule(neuron('ACH', { type, super_class: 'sensory' }))).toBe(-1);
      expect(rule(neuron('', { type, super_class: 'optic' }))).toBe(-1);
    }
  });

  it.each<[string, number]>([
    ['ACH', 1],
    ['GABA', -1],
    ['GLUT', -1],
    ['HIST', -1],
    ['DA', 0],
    ['SER', 0],
    ['OCT', 0],
    ['TYR', 0],
    ['', 0],
  ])('transmitter "%s" has the fast sign %i', (transmitter, sign) => {
    expect(fast(neuron(transmitter))).toBe(sign);
  });

  it('says how many have no fast effect, and which column named the transmitter', () => {
    const neurons = (['ACH', 'GABA', 'DA', '', ''] as const).map((transmitter) => neuron(transmitter));
    const sources = ['named', 'named', 'named', 'none', 'none'] as const;
    const source = { column: 'consensus_nt', hasMeans: false };
    const { signs, remark } = assignSigns('fast', labelsOf(neurons), sources, source);
    expect([...signs]).toEqual([1, -1, 0, 0, 0]);
    expect(remark).toContain('transmitter ACH excite: 1 (1 by consensus_nt, 0 without)');
    expect(remark).toContain('all others have no fast effect: 3 (1 by consensus_nt, 2 without).');
  });

  it('corrects the ocellar photoreceptors', () => {
    const ocellar = neuron('ACH', { class: 'visual', sub_class: 'ocellar', super_class: 'sensory' });
    expect([predicted(ocellar), corrected(ocellar)]).toEqual([1, -1]);
    const interneuron = neuron('ACH', { class: 'ocellar', sub_class: 'ocellar_interneuron' });
    expect([predicted(interneuron), corrected(interneuron)]).toEqual([1, 1]);
  });

  it('corrects antennal-lobe local neurons that are predicted dopamine or serotonin, no others', () => {
    const local = (transmitter: string) => corrected(neuron(transmitter, { class: 'ALLN' }));
    expect([local('DA'), local('SER'), local('ACH'), local('OCT'), local('GABA')]).toEqual([
      -1, -1, 1, 1, -1,
    ]);
    expect(corrected(neuron('DA', { class: 'ALPN' }))).toBe(1);
  });

  it.each(['sensory', 'sensory_ascending'])(
    'takes inhibition by super class %s for an error',
    (super_class) => {
      const cell = neuron('GLUT', { super_class });
      expect([predicted(cell), corrected(cell)]).toEqual([-1, 1]);
    },
  );
});

it.each([
  [
    [0.9, 0.1, 0],
    [26, 0],
  ],
  [
    [0.99, 0.03, 0],
    [7, 0],
  ],
  [
    [0, 0.5, 0.5],
    [128, 127],
  ],
  [
    [0, 0, 1],
    [0, 255],
  ],
])('gives a neuron of DA, ACH and GABA %j the probabilities %j in 255ths', (chances, probabilities) => {
  const means = { transmitters: ['DA', 'ACH', 'GABA'], ofNeurons: [chances] };
  const found = signProbabilities('fast', labelsOf([neuron('DA')]), means, Int8Array.of(0));
  expect([...found]).toEqual(probabilities);
});
