/** What a benchmark needs to know about an experiment. */
import { STEPS_PER_MS } from '../dist/engine/network.js';
import { CodedError, describeValue } from '../dist/errors.js';
import { drawInputEvents } from '../dist/experiment/input-events.js';
import { v1Protocol } from '../dist/experiment/protocol.js';

/** @returns {import('../dist/experiment/input-events.js').InputEvents} the input events that the service would draw */
export function eventsOf(connectome, { stimulus, duration_ms: durationMs, intensity, seed }) {
  const population = connectome.metadata.stimuli.find(({ id }) => id === stimulus);
  if (population === undefined) {
    const known = connectome.metadata.stimuli.map(({ id }) => id).join(', ');
    throw new CodedError(
      'USAGE',
      `There is no stimulus ${describeValue(stimulus)} in this connectome; it has ${known}.`,
    );
  }
  const neurons = connectome.stimulusNeurons(stimulus);
  const train = { nominalRateHz: population.nominalRateHz, intensity, seed };
  return drawInputEvents(v1Protocol(neurons, train, durationMs * STEPS_PER_MS), String);
}
