import { selectorWords } from '../../../connectome/set-selector.js';
import type { Static } from '../../../schema/json-schema.js';
import { inputSchema } from '../../document/kind-schemas.js';
import type { InputKind } from '../input-kinds.js';
import {
  checkEnd,
  checkRate,
  checkScale,
  poissonTrain,
  RATE_HZ,
  rateSchema,
  ratesCourse,
  rateTable,
  rateWords,
  SCALE,
  SINGLE_NUMBER,
  topRateHz,
} from '../rates.js';
import { steadyWork, varyingWork } from '../train-work.js';

const SCHEMA = inputSchema('poisson', 'Each neuron gets a Poisson train of its own.', {
  rate_hz: rateSchema({ default: RATE_HZ.default }),
  'scale?': SCALE,
});

/** Each neuron gets a Poisson train of its own. */
export const poisson = {
  schema: SCHEMA,
  swept: { rate_hz: RATE_HZ, scale: SCALE },
  course: ({ rate_hz: rate, scale = 1 }) => ratesCourse([rate], scale),
  words: ({ node_set: neurons, rate_hz: rate, scale = 1 }, swept) =>
    `${selectorWords(neurons)} stimulated ${rateWords(rate, scale, swept)}`.trimEnd(),
  parsed(input, path, { rates }) {
    checkRate(input.rate_hz, [...path, 'rate_hz'], rates);
    return input;
  },
  sweepRequirement: ({ rate_hz: rate }, member) =>
    member === 'rate_hz' && typeof rate !== 'number' ? SINGLE_NUMBER : undefined,
  checkConditions({ rate_hz: rate, scale = 1 }, { longestMs, highest }, path) {
    checkEnd(rate, longestMs, [...path, 'rate_hz']);
    checkScale(highest('scale') ?? scale, highest('rate_hz') ?? topRateHz(rate), path);
  },
  expected(_, { rate_hz: rate }) {
    const varying = typeof rate === 'number' ? undefined : varyingWork(rateTable([rate], 1), [1]);
    return {
      of: (neurons, { input: { rate_hz: own, scale = 1 }, startStep, endStep }) =>
        typeof own === 'number'
          ? steadyWork(neurons, own * scale, endStep - startStep)
          : varying!(startStep, endStep, neurons, scale),
    };
  },
  trainOf: (_, { input: { rate_hz: rate, scale = 1 }, ...own }) =>
    poissonTrain(own, typeof rate === 'number' ? rate * scale : rateTable([rate], scale)),
} satisfies InputKind<Static<typeof SCHEMA>>;
