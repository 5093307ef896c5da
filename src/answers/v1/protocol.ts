import type { Connectome } from '../../connectome/connectome.js';
import { STEPS_PER_MS } from '../../engine/network.js';
import { type Protocol, v1Protocol } from '../../experiment/protocol.js';
import type { Experiment } from './experiment.js';
import { presetOf } from './presets.js';

const NOBODY = new Uint32Array(0);

/**
 * Converts an experiment to a trial.
 * @param silenced neurons whose outputs are cut
 * @throws CodedError STIMULUS_UNAVAILABLE
 */
export function protocolOf(
  connectome: Connectome,
  { stimulus, duration_ms: durationMs, intensity, seed }: Experiment,
  silenced: Uint32Array = NOBODY,
): Protocol {
  const durationSteps = durationMs * STEPS_PER_MS;
  const preset = presetOf(connectome.metadata, stimulus);
  if (preset === undefined) return { inputs: [], silenced, durationSteps };
  const { id, nominalRateHz } = preset;
  const train = { nominalRateHz, intensity, seed };
  return { ...v1Protocol(connectome.stimulusNeurons(id), train, durationSteps), silenced };
}
