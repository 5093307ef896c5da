import { atlasUrl } from '../../engine/connectome/atlas.js';
import type { Connectome, ConnectomeMetadata } from '../../engine/connectome/connectome.js';
import { isFlyWire, modelId } from '../../engine/connectome/model-id.js';
import {
  dataCitations,
  licenceOf,
  MODEL_CITATION,
  SIGN_RULE_TEXTS,
  SYNTHETIC_REACH,
} from '../../engine/connectome/model-origin.js';
import { mapped } from '../../engine/mapped.js';
import type { Population } from '../../engine/connectome/populations.js';
import { drivesOf } from './drives.js';
import { availableStimuli, ENGINE_VERSION } from './experiment.js';
import { NETWORK } from '../../engine/simulation/network.js';
import { type Field, FIELDS } from './fields.js';

const SILENT_CHANNELS =
  'The channels backward and courtship stay silent: none of the ten stimuli reaches their neurons in this model. ' +
  'groom stays below 1 Hz.';
const LIMITATIONS = [
  'All neurons are identical leaky integrate-and-fire points: morphology, ion channels and graded potentials are not modelled.',
  'Gap junctions, neuromodulators, glia, plasticity and learning are not modelled.',
  'There is no body and no feedback: the activity of the brain does not affect its input.',
  'There is no spontaneous activity: a neuron without input is silent.',
  'All synapses have the same strength, which was fitted once, to feeding (Shiu et al. 2024).',
  'Stimuli are Poisson trains to whole populations of neurons at once, not images, tones or odours.',
  'Channels have few neurons and runs are short, so rates are discrete; quanta lists the step sizes.',
  SILENT_CHANNELS,
  'Drives are engineered readings of channels for animation, not biology. If the neurons that command an action stay ' +
    'silent, they read neurons upstream of these: a channel of kind station represents a cue, not an action.',
];
const CUSTOM =
  'The connections are those that whoever compiled the model gave; whether they were measured is not known here.';
const SYNTHETIC_NETWORK =
  'The wiring is synthetic, sampled from cell-type statistics: single neurons and connections have no meaning.';
const SYNTHETIC_BRAIN =
  'The wiring is synthetic, sampled from cell-type statistics: populations respond as in the measured wiring, but ' +
  `single neurons and connections have no meaning. ${SYNTHETIC_REACH}`;

const PARAMETERS = mapped(FIELDS, ({ enum: allowed, minimum, maximum, default: usual }: Field) =>
  allowed === undefined ? { minimum, maximum, default: usual } : { allowed, default: usual },
);

/** Builds the body of GET /api/v1/model. */
export function describeModel(connectome: Connectome) {
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
    licence: { software: 'Apache-2.0', data: licenceOf(metadata) },
    citations: [...dataCitations(metadata), MODEL_CITATION],
    neuron_count: metadata.neuronCount,
    connection_count: metadata.connectionCount,
    synapse_count: metadata.synapseCount,
    pruning: {
      minimum_synapses: metadata.minimumSynapses,
      description:
        'A connection holds all synapses from one neuron to another, in all neuropils together; connections with ' +
        `fewer than ${metadata.minimumSynapses} are omitted.`,
    },
    sign_rule: { id: metadata.signRule, description: SIGN_RULE_TEXTS[metadata.signRule] },
    connectome_digest: digest,
    atlas_url: atlasUrl(connectome),
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
      quanta: FIELDS.duration_ms.enum.map((durationMs) => ({
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
    network: Object.entries({ ...NETWORK, synapseMv: gainOf(metadata) }).map(([name, constant]) => ({
      name: snakeCase(name),
      ...constant,
    })),
    limitations: limitationsOf(metadata),
  };
}

/** Returns the gain of a synapse: that of the network model, or the one given when the connectome was compiled. */
function gainOf(metadata: ConnectomeMetadata) {
  const value = metadata.synapseMv;
  return value === undefined
    ? NETWORK.synapseMv
    : { ...NETWORK.synapseMv, value, source: 'given when the model was compiled' };
}

/**
 * Returns the limitations of a model. Findings about the FlyWire brain are left out for other networks and edited
 * wirings.
 */
function limitationsOf(metadata: ConnectomeMetadata): string[] {
  const { wiring } = metadata;
  if (isFlyWire(metadata) && wiring !== 'custom') {
    return wiring === 'synthetic' ? [SYNTHETIC_BRAIN, ...LIMITATIONS] : LIMITATIONS;
  }
  const general = LIMITATIONS.filter((text) => text !== SILENT_CHANNELS);
  if (wiring === 'synthetic') return [SYNTHETIC_NETWORK, ...general];
  return wiring === 'custom' ? [CUSTOM, ...general] : general;
}

function described({ label, description, selectors, neuronCount, citations }: Population) {
  return { label, description, selectors, neuron_count: neuronCount, citations };
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
