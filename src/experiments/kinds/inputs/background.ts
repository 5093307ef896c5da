import { selectorWords } from '../../../connectome/set-selector.js';
import { number, type Static } from '../../../schema/json-schema.js';
import { INPUT_EVENT_MV, THRESHOLD_ABOVE_REST_MV } from '../../../simulation/network.js';
import { MAXIMUM_BACKGROUND_RATE_HZ } from '../../../stimulus/protocol.js';
import { inputSchema } from '../../document/kind-schemas.js';
import type { InputKind } from '../input-kinds.js';
import { backgroundWork } from '../train-work.js';

const RATE_HZ = number('Mean events of each neuron per second.', {
  minimum: 0,
  maximum: MAXIMUM_BACKGROUND_RATE_HZ,
  examples: [0.5],
});
const EVENT_MV = number('Added to the membrane potential by one event, in mV.', {
  minimum: 0,
  maximum: INPUT_EVENT_MV,
  default: INPUT_EVENT_MV,
  examples: [5],
});
const SCHEMA = inputSchema(
  'background',
  'Rare events of many neurons, which keep their refractory period and lose events that arrive in it. A document has ' +
    'at most one such input.',
  { rate_hz: RATE_HZ, event_mv: EVENT_MV },
);

/**
 * Synaptic events that background causes, measured on release 783 at 0.05 to 4 Hz of all neurons. Where an event fires a
 * neuron at rest, it leads to some 40 (25 to 40). With predicted signs the network goes on by itself once it is lit: with
 * 17 million a second, which 6,900 events a second in all neurons were enough for.
 */
const SYNAPTIC_EVENTS = { caused: 40, goingOn: 2500, goingOnPerStep: 1700 };

/** Rare events of many neurons, which keep their refractory period. */
export const background = {
  schema: SCHEMA,
  swept: { rate_hz: RATE_HZ, event_mv: EVENT_MV },
  course: ({ rate_hz: hz }) => ({ rates: [{ fromMs: 0, hz }] }),
  words: ({ node_set: neurons, rate_hz: rate }, swept) =>
    `background events in ${selectorWords(neurons)}${swept.includes('rate_hz') ? '' : ` at ${rate} Hz`}`,
  keepsRefractoryPeriod: true,
  isOnlyOne: true,
  expected: ({ metadata: { signRule } }) => ({
    of(neurons, { input: { rate_hz: rateHz, event_mv: eventMv }, startStep, endStep }) {
      const work = backgroundWork(neurons, rateHz, endStep - startStep);
      // Effects of weaker events are charged when they are known.
      if (eventMv <= THRESHOLD_ABOVE_REST_MV) return work;
      const { caused, goingOn, goingOnPerStep } = SYNAPTIC_EVENTS;
      const most = Math.min(goingOn * work.inputEvents, goingOnPerStep * (endStep - startStep));
      const beside = signRule === 'corrected' ? 0 : most;
      return { ...work, synapticEvents: caused * work.inputEvents + beside };
    },
  }),
  trainOf(_, { input: { rate_hz: rateHz, event_mv: eventMv }, seed, startStep, endStep }) {
    return { kind: 'background', rateHz, eventMv, seed, startStep, endStep };
  },
} satisfies InputKind<Static<typeof SCHEMA>>;
