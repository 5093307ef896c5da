import type { Connectome } from '../../engine/connectome/connectome.js';
import { withoutPauses } from '../../engine/parts.js';
import { PhiloxSequence } from '../../engine/stimulus/philox.js';
import type { Controls } from '../kinds/controls.js';
import { countAsFar } from './controls.js';
import { divisionsOf, MatchedSets } from './matched-sets.js';

/** Ten neurons of each type, which alternate between two sides. */
const TYPES = 2000;
const NEURONS = 10 * TYPES;
const connectome = {
  neuronCount: NEURONS,
  typeIndices: Uint16Array.from({ length: NEURONS }, (_, neuron) => Math.floor(neuron / 10)),
  classIndices: new Uint16Array(NEURONS),
  sides: Uint8Array.from({ length: NEURONS }, (_, neuron) => neuron % 2),
  metadata: {
    types: Array.from({ length: TYPES }, (_, type) => ({ name: `T${type}` })),
    classes: [{ superClass: 'central', class: '', subClass: '' }],
  },
} as unknown as Connectome;

it('looks at few neurons for each one of a group, and pauses after some thousands', () => {
  const CONTROLS = 3;
  const controls = { match: ['type', 'side'] } as unknown as Controls;
  let looked = 0;
  const counted = (values: Uint32Array) =>
    ({
      *[Symbol.iterator]() {
        for (const value of values) {
          looked++;
          yield value;
        }
      },
    }) as Uint32Array;
  const divisions = withoutPauses(divisionsOf(connectome, controls)).map((groups) => ({
    ...groups,
    neuronsOf: (group: number) => counted(groups.neuronsOf(group)),
  }));
  const word = jest.spyOn(PhiloxSequence.prototype, 'nextUint32');
  const sets = new MatchedSets(
    connectome,
    controls,
    divisions,
    new Uint8Array(NEURONS),
    new Uint32Array(NEURONS),
  );
  // No other neuron has one of their types, so each type takes its controls from all neurons.
  const group = Uint32Array.from({ length: NEURONS / 4 }, (_, neuron) => neuron);
  const numbers = Array.from({ length: CONTROLS }, (_, at) => at + 1);
  const drawing = sets.drawing(group, 1, numbers, 1);
  let most = 0;
  for (;;) {
    const before = looked + word.mock.calls.length;
    const { done, value } = drawing.next();
    most = Math.max(most, looked + word.mock.calls.length - before);
    if (done !== true) continue;
    expect(value.map(({ neurons }) => neurons.length)).toEqual(numbers.map(() => group.length));
    break;
  }
  word.mockRestore();
  expect(most).toBeGreaterThan(1000);
  expect(most).toBeLessThan(6000);
  expect(looked).toBeLessThanOrEqual(2 * NEURONS);
});

it('gives a group no lower p than its controls if one neuron decides', () => {
  const EXPERIMENTS = 600;
  const COUNT = 39;
  const POOL = Array.from({ length: 12 }, (_, neuron) => neuron);
  const isLeftOut = Uint8Array.from({ length: NEURONS }, (_, neuron) => (neuron < POOL.length ? 0 : 1));
  const controls = { match: [] } as unknown as Controls;
  const divisions = withoutPauses(divisionsOf(connectome, controls));
  const sets = new MatchedSets(connectome, controls, divisions, isLeftOut, new Uint32Array(NEURONS));
  const random = new PhiloxSequence(3, 0, 0);
  const numbers = Array.from({ length: COUNT }, (_, at) => at + 1);
  let lowest = 0;
  for (let seed = 0; seed < EXPERIMENTS; seed++) {
    const group = new Set<number>();
    while (group.size < 2) group.add(POOL[random.nextBelow(POOL.length)]!);
    const effectOf = (neurons: Iterable<number>) => ([...neurons].includes(7) ? 1 : 0);
    const others = withoutPauses(sets.drawing(Uint32Array.from(group), seed, numbers, 1))
      .filter(({ isRepeated }) => !isRepeated)
      .map(({ neurons }) => effectOf(neurons));
    const p = (1 + countAsFar(effectOf(group), Float64Array.from(others))) / (1 + others.length);
    if (p <= 0.05) lowest++;
  }
  // 99.9 % of binomial numbers with 600 draws at 0.05 are below 48.
  expect(lowest).toBeLessThan(48);
});
