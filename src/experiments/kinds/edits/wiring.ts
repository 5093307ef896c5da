import { invalid, type JsonPath, nameOf } from '../../../engine/schema/json-path.js';
import { integer, number, object, oneOf, type Static } from '../../../engine/schema/json-schema.js';
import { type Connectome, MAX_SYNAPSES_PER_CONNECTION } from '../../../engine/connectome/connectome.js';
import { CodedError } from '../../../engine/errors.js';
import { MAX_JITTER, SHUFFLES } from '../../../engine/stimulus/protocol.js';
import type { EditKind } from '../edit-kind.js';
import type { ExperimentWarning } from '../warning.js';

/** Members that a sweep may set. */
const NUMBERS = {
  minimum_synapses: integer(
    'Connections of fewer synapses are left out: at least as many as the model has in each connection.',
    { minimum: 1, maximum: MAX_SYNAPSES_PER_CONNECTION, examples: [10] },
  ),
  jitter: number(
    'Counts of synapses of another individual: each is multiplied by a random factor with the mean 1, of whose logarithm ' +
      'this is the standard deviation.',
    { minimum: 0, maximum: MAX_JITTER, examples: [0.25] },
  ),
  seed: integer('Seed of shuffle, jitter, counts and signs.', {
    minimum: 0,
    maximum: 2 ** 32 - 1,
    default: 1,
    examples: [1],
  }),
};
type Member = keyof typeof NUMBERS;

export const SHUFFLE = oneOf(
  'The property that connections exchange. weights: counts of synapses, among the connections of excitatory neurons and ' +
    'among those of inhibitory ones. targets: whom connections reach; every neuron keeps its numbers of inputs and ' +
    'outputs, and no pair is new twice or of a neuron and itself. targets_within_super_class: likewise, among connections ' +
    'between the same two super-classes.',
  SHUFFLES,
  { examples: ['weights'] },
);

export const COUNTS = oneOf(
  'resampled: each count of synapses is drawn from a negative binomial distribution around it, as wide as the differences ' +
    'between the two sides of the brain.',
  ['resampled'],
);
export const SIGNS = oneOf(
  'sampled: each neuron excites or inhibits with the probability that the tables predict for its transmitter. Only on a ' +
    'model that was compiled with these probabilities.',
  ['sampled'],
);

const SCHEMA = object(
  'Another wiring of the same neurons. Steps in this order: the weakest connections are left out, a shuffle, a jitter, ' +
    'counts, signs; overrides come afterwards.',
  {
    'minimum_synapses?': NUMBERS.minimum_synapses,
    'shuffle?': SHUFFLE,
    'jitter?': NUMBERS.jitter,
    'counts?': COUNTS,
    'signs?': SIGNS,
    seed: NUMBERS.seed,
  },
  { component: 'Wiring', examples: [{ shuffle: 'weights', seed: 1 }] },
);

type Wiring = Static<typeof SCHEMA>;
const UNCHANGED: Wiring = { seed: NUMBERS.seed.default };

/** Rewires the same neurons. */
export const wiring = {
  schema: SCHEMA,
  words: ({ minimum_synapses: least, shuffle, jitter, counts, signs, seed }) =>
    [
      least === undefined ? '' : `only connections of ${least} synapses or more`,
      shuffle === undefined ? '' : shuffledWords(shuffle, seed),
      jitter === undefined ? '' : `counts of synapses jittered by ${jitter} (seed ${seed})`,
      counts === undefined ? '' : `${RESAMPLED_COUNTS} (seed ${seed})`,
      signs === undefined ? '' : `${SAMPLED_SIGNS} (seed ${seed})`,
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
    if (given?.signs !== undefined) checkSignProbabilities(connectome, 'wiring');
    const { minimumSynapses: least } = connectome.metadata;
    const check = (minimum: number | undefined, path: JsonPath, must = 'be'): void => {
      if (minimum === undefined || minimum >= least) return;
      throw invalid(
        path,
        `${nameOf(path)} must ${must} at least ${least}: the model lacks connections of fewer synapses, got ${minimum}.`,
      );
    };
    check(given?.minimum_synapses, ['wiring', 'minimum_synapses']);
    const valuesOf = (name: Member): readonly number[] => {
      const axis = grid.axes[axisOf(name)];
      const own = given?.[name];
      return axis?.kind === 'values' ? axis.values : own === undefined ? [] : [own];
    };
    if (axisOf('minimum_synapses') >= 0) {
      // The document may have a range instead of values.
      const path = ['sweep', axisOf('minimum_synapses')];
      for (const value of valuesOf('minimum_synapses')) check(value, path, 'have values of');
    }
    const { shuffle, counts, signs } = given ?? {};
    const hasDraws = [shuffle, counts, signs].some((each) => each !== undefined);
    const hasJitter = valuesOf('jitter').some((value) => value > 0);
    return {
      ...(axisOf('seed') >= 0 && !hasDraws && !hasJitter && { warnings: [NOTHING_DRAWN] }),
      isRewired: hasDraws || hasJitter || valuesOf('minimum_synapses').some((value) => value > least),
      networkIn(valueOf) {
        const valueIn = (name: Member) => valueOf(`wiring.${name}`) ?? given?.[name];
        const minimumSynapses = valueIn('minimum_synapses') ?? least;
        const jitter = valueIn('jitter') ?? 0;
        const isDrawn = hasDraws || jitter > 0;
        if (!isDrawn && minimumSynapses === least) return {};
        return {
          wiring: {
            ...(minimumSynapses > least && { minimumSynapses }),
            ...(shuffle !== undefined && { shuffle }),
            ...(jitter > 0 && { jitter }),
            ...(counts !== undefined && { counts }),
            ...(signs !== undefined && { signs }),
            // Without a random draw every seed gives the same wiring, so the task names only one.
            seed: isDrawn ? (valueIn('seed') ?? UNCHANGED.seed) : UNCHANGED.seed,
          },
        };
      },
    };
  },
} satisfies EditKind<Wiring>;

const NOTHING_DRAWN: ExperimentWarning = {
  code: 'NO_EFFECT',
  message:
    'The sweep of wiring.seed changes nothing: wiring has no shuffle, jitter, counts or signs to draw.',
};

export const RESAMPLED_COUNTS = 'resampled counts of synapses';
export const SAMPLED_SIGNS = 'signs sampled from the predicted transmitters';

/** @param member that asks for sampled signs @throws CodedError NO_SIGN_PROBABILITIES */
export function checkSignProbabilities(
  { signProbabilities, metadata }: Pick<Connectome, 'signProbabilities' | 'metadata'>,
  member: 'wiring' | 'controls',
): void {
  if (signProbabilities !== undefined) return;
  throw new CodedError(
    'NO_SIGN_PROBABILITIES',
    `${member}.signs needs the probabilities of transmitters, which ${metadata.name} lacks. A model that is compiled with ` +
      '--sign-probabilities has them, if its tables do.',
    { path: `/${member}/signs` },
  );
}

/** A shuffle in words. @param seed left out if there are several */
export function shuffledWords(shuffle: (typeof SHUFFLES)[number], seed?: number): string {
  return `shuffled ${shuffle.replaceAll('_', ' ')}${seed === undefined ? '' : ` (seed ${seed})`}`;
}
