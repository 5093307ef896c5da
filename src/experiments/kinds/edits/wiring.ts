import { type JsonPath, refused } from '../../../schema/json-path.js';
import { integer, number, object, oneOf, type Static } from '../../../schema/json-schema.js';
import { MAXIMUM_SYNAPSES_PER_CONNECTION } from '../../../connectome/connectome.js';
import { MAXIMUM_JITTER, SHUFFLES } from '../../../stimulus/protocol.js';
import type { EditKind } from '../edit-kinds.js';

/** Members that a sweep may set. */
const NUMBERS = {
  minimum_synapses: integer(
    'Connections of fewer synapses are left out: at least as many as the model has in each connection.',
    { minimum: 1, maximum: MAXIMUM_SYNAPSES_PER_CONNECTION, examples: [10] },
  ),
  jitter: number(
    'Counts of synapses of another individual: each is multiplied by a random factor with the mean 1, of whose logarithm ' +
      'this is the standard deviation.',
    { minimum: 0, maximum: MAXIMUM_JITTER, examples: [0.25] },
  ),
  seed: integer('Seed of shuffle and jitter.', {
    minimum: 0,
    maximum: 2 ** 32 - 1,
    default: 1,
    examples: [1],
  }),
};
type Member = keyof typeof NUMBERS;

export const SHUFFLE = oneOf(
  'What changes places among connections. weights: counts of synapses, among the connections of excitatory neurons and ' +
    'among those of inhibitory ones. targets: whom connections reach; every neuron keeps its numbers of inputs and ' +
    'outputs, and no pair is new twice or of a neuron and itself. targets_within_super_class: likewise, among connections ' +
    'between the same two super-classes.',
  SHUFFLES,
  { examples: ['weights'] },
);

const SCHEMA = object(
  'Another wiring of the same neurons. Steps in this order: the weakest connections are left out, a shuffle, a jitter; ' +
    'overrides come afterwards.',
  {
    'minimum_synapses?': NUMBERS.minimum_synapses,
    'shuffle?': SHUFFLE,
    'jitter?': NUMBERS.jitter,
    seed: NUMBERS.seed,
  },
  { examples: [{ shuffle: 'weights', seed: 1 }] },
);

type Wiring = Static<typeof SCHEMA>;
const UNCHANGED: Wiring = { seed: NUMBERS.seed.default };

/** Another wiring of the same neurons. */
export const wiring = {
  schema: SCHEMA,
  words: ({ minimum_synapses: least, shuffle, jitter, seed }) =>
    [
      least === undefined ? '' : `only connections of ${least} synapses or more`,
      shuffle === undefined ? '' : shuffledWords(shuffle, seed),
      jitter === undefined ? '' : `counts of synapses jittered by ${jitter} (seed ${seed})`,
    ]
      .filter(Boolean)
      .join(', '),
  numbers: () =>
    Object.fromEntries(Object.entries(NUMBERS).map(([name, schema]) => [`wiring.${name}`, schema])),
  parsed: (given) => (JSON.stringify(given) === JSON.stringify(UNCHANGED) ? undefined : given),
  *planned({ connectome, grid }, given) {
    yield;
    const axisOf = (name: Member) => grid.axisOf(`wiring.${name}`);
    const isSwept = (Object.keys(NUMBERS) as Member[]).some((name) => axisOf(name) >= 0);
    if (given === undefined && !isSwept) return {};
    const { minimumSynapses: least } = connectome.metadata;
    const check = (minimum: number | undefined, path: JsonPath): void => {
      if (minimum === undefined || minimum >= least) return;
      throw refused(path, minimum, `at least ${least}: the model lacks connections of fewer synapses`);
    };
    check(given?.minimum_synapses, ['wiring', 'minimum_synapses']);
    const swept = grid.axes[axisOf('minimum_synapses')];
    if (swept?.kind === 'values') {
      swept.values.forEach((value, at) => check(value, ['sweep', axisOf('minimum_synapses'), 'values', at]));
    }
    return {
      isRewired: true,
      networkIn(valueOf) {
        const valueIn = (name: Member) => valueOf(`wiring.${name}`) ?? given?.[name];
        const minimumSynapses = valueIn('minimum_synapses') ?? least;
        const jitter = valueIn('jitter') ?? 0;
        const shuffle = given?.shuffle;
        const isDrawn = shuffle !== undefined || jitter > 0;
        if (!isDrawn && minimumSynapses === least) return {};
        return {
          wiring: {
            ...(minimumSynapses > least && { minimumSynapses }),
            ...(shuffle !== undefined && { shuffle }),
            ...(jitter > 0 && { jitter }),
            // A seed that nothing is drawn with makes no other wiring.
            seed: isDrawn ? (valueIn('seed') ?? UNCHANGED.seed) : UNCHANGED.seed,
          },
        };
      },
    };
  },
} satisfies EditKind<Wiring>;

/** A shuffle in words. @param seed nothing where there are many */
export function shuffledWords(shuffle: (typeof SHUFFLES)[number], seed?: number): string {
  return `shuffled ${shuffle.replaceAll('_', ' ')}${seed === undefined ? '' : ` (seed ${seed})`}`;
}
