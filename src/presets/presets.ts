/** The stimuli of version 1 are presets: populations, with rates, in the metadata of the connectome. */
import type { Connectome, ConnectomeMetadata } from '../connectome/connectome.js';
import type { StimulusPopulation } from '../connectome/populations.js';
import { STEPS_PER_MS } from '../simulation/network.js';
import { type Protocol, v1Protocol } from '../stimulus/protocol.js';
import { STIMULUS_IDS, type StimulusId } from './populations.js';
import { CodedError, describeValue } from '../errors.js';
import { DEFAULT_EXPERIMENT, type Experiment } from './experiment.js';

type Presets = Pick<ConnectomeMetadata, 'stimuli' | 'types'>;

/** The stimuli of version 1 that a connectome defines, in the order of the contract. It may define others as well. */
export function availableStimuli({ stimuli }: Presets): StimulusId[] {
  return STIMULUS_IDS.filter((stimulus) => stimuli.some(({ id }) => id === stimulus));
}

/**
 * The population that a stimulus excites; undefined for none.
 * @throws CodedError STIMULUS_UNAVAILABLE where the connectome lacks it
 */
export function presetOf(
  metadata: Presets,
  stimulus: Experiment['stimulus'],
): StimulusPopulation | undefined {
  if (stimulus === 'none') return undefined;
  const preset = metadata.stimuli.find(({ id }) => id === stimulus);
  if (preset !== undefined) return preset;
  const available = availableStimuli(metadata);
  const isUntyped = metadata.types.every(({ name }) => name === '');
  throw new CodedError(
    'STIMULUS_UNAVAILABLE',
    `stimulus must be ${available.length > 0 ? 'one of ' : ''}${[...available, 'none'].join(', ')} for the ` +
      `loaded connectome, got ${describeValue(stimulus)}` +
      (isUntyped
        ? ': it was compiled without cell types, so it defines no stimuli.'
        : ', which it does not define.'),
  );
}

/**
 * Converts an experiment to a trial.
 * @throws CodedError STIMULUS_UNAVAILABLE
 */
export function protocolOf(connectome: Connectome, experiment: Experiment): Protocol {
  const { stimulus, duration_ms: durationMs, intensity, seed } = experiment;
  const durationSteps = durationMs * STEPS_PER_MS;
  const preset = presetOf(connectome.metadata, stimulus);
  const synapseMv = connectome.metadata.synapseMv;
  const gain = synapseMv === undefined ? {} : { constants: { synapseMv } };
  if (preset === undefined) return { inputs: [], silenced: new Uint32Array(0), durationSteps, ...gain };
  const train = { nominalRateHz: preset.nominalRateHz, intensity, seed };
  return { ...v1Protocol(connectome.stimulusNeurons(preset.id), train, durationSteps), ...gain };
}

/** The default experiment, with a stimulus that the connectome defines: for probe runs and benchmarks. */
export function trialExperiment(metadata: Presets): Experiment {
  return { ...DEFAULT_EXPERIMENT, stimulus: availableStimuli(metadata)[0] ?? 'none' };
}
