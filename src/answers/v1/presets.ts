/** Version 1's stimuli are presets: populations that the connectome's metadata describes, with their rates. */
import type { ConnectomeMetadata } from '../../connectome/connectome.js';
import { STIMULUS_IDS, type StimulusId, type StimulusPopulation } from '../../connectome/populations.js';
import { CodedError, describeValue } from '../../errors.js';
import { DEFAULT_EXPERIMENT, type Experiment } from './experiment.js';

type Presets = Pick<ConnectomeMetadata, 'stimuli' | 'types'>;

/** The stimuli of version 1 that a connectome has, in the order of the contract. It may have others, too. */
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
  if (preset === undefined) {
    const available = availableStimuli(metadata);
    const isUntyped = metadata.types.every(({ name }) => name === '');
    throw new CodedError(
      'STIMULUS_UNAVAILABLE',
      `stimulus must be ${available.length > 0 ? 'one of ' : ''}${[...available, 'none'].join(', ')} with the ` +
        `connectome that is served, got ${describeValue(stimulus)}: ` +
        (isUntyped ? 'it was compiled without cell types.' : 'it has no such preset.'),
    );
  }
  return preset;
}

/** The default experiment with a stimulus that the connectome has: for measuring and trying out. */
export function trialExperiment(metadata: Presets): Experiment {
  return { ...DEFAULT_EXPERIMENT, stimulus: availableStimuli(metadata)[0] ?? 'none' };
}
