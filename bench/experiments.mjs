/** What a benchmark needs to know about an experiment. */
import { STEPS_PER_MS, DELAY_STEPS } from '../dist/engine/network.js';
import { CodedError, shown } from '../dist/errors.js';
import { drawKicks } from '../dist/engine/stimulus.js';

/** @returns {import('../dist/engine/simulation.js').KickTrain} the kicks that the service would draw */
export function kicksOf(connectome, { stimulus, durationMs, intensity, seed }) {
  const population = connectome.metadata.stimuli.find(({ id }) => id === stimulus);
  if (population === undefined) {
    const known = connectome.metadata.stimuli.map(({ id }) => id).join(', ');
    throw new CodedError(
      'USAGE',
      `There is no stimulus ${shown(stimulus)} in this connectome; it has ${known}.`,
    );
  }
  const neurons = connectome.stimulusNeurons(stimulus);
  return drawKicks(neurons, population.nominalRateHz, intensity, seed, durationMs * STEPS_PER_MS);
}

/** Spikes times their connections, of the spikes that arrive before the run ends. */
export function synapticEvents({ rowStart }, { steps, neurons }, durationSteps) {
  let events = 0;
  neurons.forEach((i, q) => {
    if (steps[q] + DELAY_STEPS < durationSteps) events += rowStart[i + 1] - rowStart[i];
  });
  return events;
}
