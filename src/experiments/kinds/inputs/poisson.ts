import { number, type Static } from '../../../schema/json-schema.js';
import { MAXIMUM_RATE_HZ, STEPS_PER_MS } from '../../../stimulus/protocol.js';
import { inputSchema } from '../../document/kind-schemas.js';
import type { InputKind } from '../input-kinds.js';

const STEPS_PER_SECOND = 1000 * STEPS_PER_MS;

const RATE_HZ = number('Mean input events of each neuron per second.', {
  minimum: 0,
  maximum: MAXIMUM_RATE_HZ,
  default: 150,
  examples: [100],
});
const SCHEMA = inputSchema('poisson', 'Each neuron gets a Poisson train of its own.', { rate_hz: RATE_HZ });

/** Each neuron gets a Poisson train of its own. */
export const poisson = {
  schema: SCHEMA,
  swept: { rate_hz: RATE_HZ },
  expectedEvents: () => ({
    of: (neurons, { input, startStep, endStep }) =>
      (neurons * input.rate_hz * (endStep - startStep)) / STEPS_PER_SECOND,
  }),
  trainOf: (_, { name, input, seed, startStep, endStep }) => ({
    kind: 'poisson',
    name,
    rateHz: input.rate_hz,
    seed,
    startStep,
    endStep,
  }),
} satisfies InputKind<Static<typeof SCHEMA>>;
