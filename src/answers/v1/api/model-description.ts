import type { Connectome, SignRule } from '../../../connectome/connectome.js';
import { modelId } from '../../../connectome/model-id.js';
import type { Population } from '../../../connectome/populations.js';
import { drivesOf } from '../drives.js';
import { availableStimuli } from '../presets.js';
import { NETWORK } from '../../../engine/network.js';
import { ENGINE_VERSION } from '../experiment.js';
import { type Field, FIELDS } from '../fields.js';
import type { Model, Parameters } from './model.dto.js';

const SIGN_RULES: Readonly<Record<SignRule, string>> = {
  predicted:
    'By the transmitter predicted for the neuron: GABA and glutamate inhibit, photoreceptors (histamine) ' +
    'inhibit, all others excite.',
  corrected:
    'As predicted from the transmitter, with three corrections: photoreceptors, the ocellar ones too, inhibit; ' +
    'local neurons of the antennal lobe predicted dopamine or serotonin inhibit, because their lineages are ' +
    'largely GABAergic; all other sensory neurons excite. The corrections are an inference.',
  'as given':
    'As the source of the wiring gives it for each neuron: the column Excitatory of the connectivity file of Shiu et al. 2024.',
};

const CITATIONS = [
  { text: 'Dorkenwald et al. 2024', doi: '10.1038/s41586-024-07558-y', subject: 'the connectome' },
  { text: 'Schlegel et al. 2024', doi: '10.1038/s41586-024-07686-5', subject: 'the cell types' },
  { text: 'Eckstein, Bates et al. 2024', doi: '10.1016/j.cell.2024.03.016', subject: 'the transmitters' },
  { text: 'Shiu et al. 2024', doi: '10.1038/s41586-024-07763-9', subject: 'the network model' },
];

const LIMITATIONS = [
  'Every neuron is the same leaky integrate-and-fire point: shapes, ion channels and graded potentials are left out.',
  'Gap junctions, neuromodulators, glia, plasticity and learning are left out.',
  'It has no body and no feedback from one: nothing that the brain does changes its input.',
  'A neuron without input is silent: there is no spontaneous activity.',
  'The strength of a synapse is the same everywhere and was fitted once, to feeding (Shiu et al. 2024).',
  'Stimuli are Poisson trains given to whole populations of neurons at once, not images, tones or odours.',
  'Channels are few neurons over a short time, so their rates come in steps; quanta says how large.',
  'The channels backward and courtship stay silent: none of the ten stimuli reaches their neurons in this model. ' +
    'groom stays below 1 Hz.',
  'Drives are engineered readings of channels for animation, and no biology. Where the neurons for an action stay ' +
    'silent, they read stations on the way: channels of the kind station show a cue, not an action.',
];
const SYNTHETIC =
  'The wiring is synthetic, sampled from cell-type statistics: populations respond like those of the measured ' +
  'wiring, single neurons and connections mean nothing.';

const PARAMETERS = Object.fromEntries(
  Object.entries<Field>(FIELDS).map(([name, field]) => [
    name,
    'allowed' in field
      ? { allowed: field.allowed, default: field.default }
      : { minimum: field.minimum, maximum: field.maximum, default: field.default },
  ]),
) as unknown as Parameters;

/**
 * What GET /api/v1/model says of a connectome.
 * @param atlasUrl path of its atlas
 */
export function describeModel(connectome: Connectome, atlasUrl: string): Model {
  const { metadata, digest } = connectome;
  return {
    id: modelId(connectome),
    name: metadata.name,
    version: ENGINE_VERSION,
    dataset: metadata.dataset,
    release: metadata.release,
    wiring: metadata.wiring,
    provenance: metadata.provenance,
    sources: metadata.sources,
    licence: { software: 'Apache-2.0', data: 'CC-BY-NC-4.0' },
    citations: CITATIONS,
    neuron_count: metadata.neuronCount,
    connection_count: metadata.connectionCount,
    synapse_count: metadata.synapseCount,
    pruning: {
      minimum_synapses: metadata.minimumSynapses,
      description:
        'Connections are summed over neuropils; those with fewer than ' +
        `${metadata.minimumSynapses} synapses are left out.`,
    },
    sign_rule: { id: metadata.signRule, description: SIGN_RULES[metadata.signRule] },
    connectome_digest: digest,
    atlas_url: atlasUrl,
    stimuli: availableStimuli(metadata)
      .map((stimulus) => metadata.stimuli.find(({ id }) => id === stimulus)!)
      .map((stimulus) => ({
        id: stimulus.id,
        ...described(stimulus),
        nominal_rate_hz: stimulus.nominalRateHz,
      })),
    channels: metadata.channels.map((channel) => ({
      id: channel.id,
      kind: channel.kind,
      ...described(channel),
      quanta: FIELDS.duration_ms.allowed.map((durationMs) => ({
        duration_ms: durationMs,
        quantum_hz: 1000 / (channel.neuronCount * durationMs),
      })),
    })),
    drives: drivesOf(metadata.channels.map(({ id }) => id)).map(
      ({ id, minimum, maximum, formula, reason }) => ({
        id,
        minimum,
        maximum,
        formula,
        engineered: true,
        reason,
      }),
    ),
    parameters: PARAMETERS,
    network: Object.entries(NETWORK).map(([name, constant]) => ({ name: snakeCase(name), ...constant })),
    limitations: metadata.wiring === 'synthetic' ? [SYNTHETIC, ...LIMITATIONS] : LIMITATIONS,
  };
}

function described({ label, description, selectors, neuronCount, citations }: Population) {
  return { label, description, selectors, neuron_count: neuronCount, citations };
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
