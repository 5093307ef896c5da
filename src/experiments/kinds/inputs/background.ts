import { selectorWords } from '../../../engine/connectome/set-selector.js';
import { number, type Static } from '../../../engine/schema/json-schema.js';
import { INPUT_EVENT_MV, THRESHOLD_ABOVE_REST_MV } from '../../../engine/simulation/network.js';
import { MAX_BACKGROUND_RATE_HZ } from '../../../engine/stimulus/protocol.js';
import { inputSchema } from '../kind-schemas.js';
import type { InputKind } from '../input-kind.js';
import { backgroundWork, redrawnEvents, windowOfEpoch } from '../train-work.js';

const RATE_HZ = number('Mean events of each neuron per second.', {
  minimum: 0,
  maximum: MAX_BACKGROUND_RATE_HZ,
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
 * Synaptic events that background causes, measured on release 783 with 0.05 to 4 Hz in all neurons.
 *
 * - `caused`: an event that fires a neuron at rest leads to 25 to 40 synaptic events.
 * - `goingOn`, `goingOnPerStep`: with predicted signs, activity then sustains itself at 17 million synaptic events a second
 *   (1700 a step). 6,900 background events a second sufficed to start it: 2500 synaptic events for each.
 */
const SYNAPTIC_EVENTS = { caused: 40, goingOn: 2500, goingOnPerStep: 1700 };

/** Rare events of many neurons. These neurons keep their refractory period. */
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
      const work = {
        ...backgroundWork(neurons, rateHz, windowOfEpoch(startStep, endStep)),
        redrawnEvents: redrawnEvents(neurons, rateHz, startStep, endStep),
      };
      // A weaker event does not fire a neuron at rest. Its effects are charged after the trial, when they are known.
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
