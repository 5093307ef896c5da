import type { Connectome } from '../../connectome/connectome.js';
import { STEPS_PER_MS } from '../../engine/network.js';
import type { Protocol } from '../../experiment/protocol.js';
import type { Experiment } from './experiment.js';
import { presetOf } from './presets.js';

/**
 * The trial that an experiment stands for.
 * @param silenced neurons whose outputs are cut
 * @throws CodedError STIMULUS_UNAVAILABLE
 */
export function protocolOf(
  connectome: Connectome,
  { stimulus, duration_ms: durationMs, intensity, seed }: Experiment,
  silenced: Uint32Array,
): Protocol {
  const preset = presetOf(connectome.metadata, stimulus);
  const inputs =
    preset === undefined
      ? []
      : [
          {
            neurons: connectome.stimulusNeurons(preset.id),
            train: { kind: 'v1', nominalRateHz: preset.nominalRateHz, intensity, seed } as const,
          },
        ];
  return { inputs, silenced, durationSteps: durationMs * STEPS_PER_MS };
}
