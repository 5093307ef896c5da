/** The OpenAPI description of version 1, except its operations. */
import { readFileSync } from 'node:fs';
import { TABLE_SIGN_RULES, WIRING_ORIGINS } from '../../../engine/connectome/connectome.js';
import { POPULATION_ID, CHANNEL_KINDS } from '../../../engine/connectome/populations.js';
import { mapped } from '../../../engine/mapped.js';
import { drivesOf } from '../../../experiments/presets/drives.js';
import { type Field, FIELD_NAMES, FIELDS } from '../../../experiments/presets/fields.js';
import { CHANNEL_IDS, STIMULUS_IDS } from '../../../experiments/presets/populations.js';
import { FRAME_MS, MAX_TOP_TYPES } from '../../../experiments/presets/readout.js';
import {
  anyOf,
  count,
  integer,
  listOf,
  number,
  object,
  oneOf,
  orNull,
  ref,
  type Schema,
  text,
} from '../../../engine/schema/json-schema.js';
import { STEPS_PER_MS } from '../../../engine/simulation/network.js';
import { ERROR_CODES_OF_V1 } from '../../http/error-examples.js';
import type { VersionDescription } from '../openapi/openapi-document.js';
import EXAMPLES from './openapi-examples.json' with { type: 'json' };

/** The body of POST /api/v1/run as sent, in which every field is optional. */
const RUN_REQUEST: Schema = { type: 'object', properties: FIELDS, additionalProperties: false };

const DURATIONS_MS = FIELDS.duration_ms.enum;
const MAX_MS = DURATIONS_MS.at(-1)!;
const WITHOUT_LAST = FIELD_NAMES.slice(0, -1).join(', ');

/**
 * A schema of an object of numbers. It requires the members that it names: an optional one fits no type of a map. A model
 * may have others, so any are allowed.
 */
function openObject(members: readonly (readonly [name: string, schema: Schema])[]): Schema {
  return {
    type: 'object',
    ...(members.length > 0 && {
      required: members.map(([name]) => name),
      properties: Object.fromEntries(members),
    }),
    additionalProperties: { type: 'number' },
  };
}

/** Members of both views: the ids of the run and of the model, the fields of the request, the results. */
const DRIVE_MEMBERS = {
  id: text(
    `Identifies the experiment: the first 32 hex digits of the SHA-256 of ${FIELD_NAMES.length + 2} lines, each ` +
      'terminated by a line feed: connectome_digest and version of GET /api/v1/model, then ' +
      `${WITHOUT_LAST} and ${FIELD_NAMES.at(-1)!}, exactly as written in this body.`,
    { pattern: '^[0-9a-f]{32}$' },
  ),
  model: text('Id of the simulated model, as in GET /api/v1/model.'),
  ...mapped(FIELDS, ({ type, description, enum: values, minimum, maximum }: Schema) => {
    return { type, description, enum: values, minimum, maximum };
  }),
  total_spikes: count('Spikes of all neurons; the same number as spikes.total.'),
  responding_neurons: count('Neurons with at least one spike; the same number as spikes.responding_neurons.'),
  stimulated_neurons: count(
    'Neurons that receive the stimulus; the same number as spikes.stimulated_neurons.',
  ),
  connections: count('Connections of the model; the same number as connection_count of GET /api/v1/model.'),
  spikes: ref('Spikes', 'Spikes of the whole brain.'),
  channels: ref(
    'ChannelRates',
    'Mean rate of the neurons of each channel over the run, in Hz, rounded to 2 decimals.',
  ),
  drive: ref(
    'Drives',
    'Engineered drives for an animated body, rounded to 4 decimals. They are not biology.',
  ),
};

/**
 * The schemas whose members are those of the running model.
 * @param channels ids of its channels; empty if no model is loaded
 */
function schemasOfModel(channels: readonly string[]): Readonly<Record<string, Schema>> {
  return {
    ChannelRates: openObject(
      channels.map((id) => [
        id,
        number(`Mean rate of the neurons of channel ${id} over the run or the frame, in Hz.`, { minimum: 0 }),
      ]),
    ),
    Drives: openObject(
      drivesOf(channels).map(({ id, minimum, maximum, formula }) => [
        id,
        number(`Engineered body drive, without unit: ${formula}.`, { minimum, maximum }),
      ]),
    ),
  };
}

/** The schemas of a run by their names in OpenAPI. */
const RUN_SCHEMAS: Readonly<Record<string, Schema>> = {
  DriveRun: object('The body of POST /api/v1/run?view=drive.', DRIVE_MEMBERS),
  FullRun: object('The body of POST /api/v1/run?view=full: the same, followed by two more members.', {
    ...DRIVE_MEMBERS,
    frames: listOf(`The run in frames of ${FRAME_MS} ms. Together they contain every spike.`, ref('Frame'), {
      minItems: DURATIONS_MS[0] / FRAME_MS,
      maxItems: MAX_MS / FRAME_MS,
    }),
    top_types: listOf('Cell types with the most spikes, sorted by spikes, then by name.', ref('TopType'), {
      maxItems: MAX_TOP_TYPES,
    }),
  }),
  Spikes: object(undefined, {
    total: count('Spikes of all neurons.'),
    stimulated_neurons: count('Neurons that receive the stimulus.'),
    responding_neurons: count('Neurons with at least one spike, including stimulated ones.'),
    mean_rate_hz: number('Mean rate of the responding neurons, in Hz; 0 if none responds.', { minimum: 0 }),
    digest: text(
      'SHA-256, lower-case hex, of all spikes as pairs (step, neuron) of little-endian 32-bit unsigned ' +
        'integers, ordered by step, then neuron: of the `steps` and `spikes` of all frames, interleaved.',
      { pattern: '^[0-9a-f]{64}$' },
    ),
  }),
  Frame: object(undefined, {
    t: integer(`Start of the frame in ms; it lasts ${FRAME_MS} ms.`, {
      minimum: 0,
      maximum: MAX_MS - FRAME_MS,
    }),
    total: count('Spikes within the frame.'),
    channels: ref('ChannelRates', 'Rates within the frame, in Hz.'),
    steps: listOf(
      `Step of each spike, ${STEPS_PER_MS} steps a millisecond, counted from the start of the run; ascending.`,
      integer(undefined, { minimum: 0, maximum: MAX_MS * STEPS_PER_MS - 1 }),
    ),
    spikes: listOf(
      'The neuron of each spike, as an index into the atlas; ascending within a step. As long as `steps`.',
      count(),
    ),
  }),
  TopType: object(undefined, {
    type: text('Cell type; for neurons without a type, "untyped" and their super-class.'),
    super_class: text('Super-class of the type.'),
    neurons: count('Neurons of the type.', 1),
    responding: count('Neurons of the type with at least one spike.', 1),
    spikes: count('Spikes of the type.', 1),
    rate_hz: number('Mean rate of all neurons of the type, in Hz.', { minimum: 0 }),
    stimulated: count('Neurons of the type that receive the stimulus.'),
  }),
};

const SHA256 = { pattern: '^[0-9a-f]{64}$' };

const POPULATION = {
  label: text('Name for display.'),
  description: text('The neurons, and their limitations as a model.'),
  selectors: listOf('The neurons that match any of these selectors.', ref('Selector')),
  neuron_count: count('Number of neurons.', 1),
  citations: listOf('Sources for the choice of neurons.', ref('Citation')),
};

const UNIT_RANGE = { minimum: -1, maximum: 1 };

function parameterOf({ type, description, enum: values }: Field): Schema {
  if (values === undefined) return ref('RangeParameter', description);
  return ref(type === 'string' ? 'WordParameter' : 'NumberParameter', description);
}

/** The schemas of GET /api/v1/model by their names in OpenAPI. */
const MODEL_SCHEMAS: Readonly<Record<string, Schema>> = {
  Model: object('The body of GET /api/v1/model.', {
    id: text(
      'Id of the model: dataset, release, wiring, sign rule and the start of the digest; `model` in every run.',
    ),
    name: text('Name for display.'),
    version: text('Version of the engine; it changes whenever a result may change.'),
    dataset: text('Data set from which the connectome was compiled.'),
    release: orNull(
      'Release of the data set, a text if it is no number, such as 1.2.1; null if it has none.',
      anyOf(undefined, [count(undefined, 1), text()]),
    ),
    wiring: oneOf(
      'measured: every connection is in the data set. synthetic: connections were sampled from cell-type statistics, ' +
        'so a single connection has no meaning. custom: connections are those that whoever compiled the model gave.',
      WIRING_ORIGINS,
    ),
    provenance: listOf('Sentences on how the connectome was made.', text()),
    sources: listOf('Files from which it was compiled.', ref('Source')),
    licence: ref('Licence', 'Licences.'),
    citations: listOf('Publications to cite.', ref('Citation')),
    neuron_count: count('Neurons of the network.', 1),
    connection_count: count('Connections: ordered pairs of neurons (presynaptic, postsynaptic).'),
    synapse_count: count('Synapses of all connections.'),
    pruning: ref('Pruning', 'Connections that were omitted.'),
    sign_rule: ref(
      'SignRuleDescription',
      'Rule that determines which neurons are excitatory and which inhibitory.',
    ),
    connectome_digest: text(
      'SHA-256 of the content of the connectome file, lower-case hex; part of every run id.',
      SHA256,
    ),
    atlas_url: text(
      'Path of the atlas: id, type, side and position of each neuron, in the order of the indices in `frames`. The ' +
        'atlas at this path never changes.',
    ),
    stimuli: listOf('Stimuli of this connectome; `none` is always allowed as well.', ref('Stimulus')),
    channels: listOf('Named groups of neurons whose mean rates a run reports.', ref('Channel')),
    drives: listOf('The body drives and their formulas.', ref('DriveDescription')),
    parameters: ref('Parameters', 'Fields of a run request.'),
    network: listOf('Every constant of the network.', ref('NetworkConstant')),
    limitations: listOf('Limitations of the model.', text()),
  }),
  Source: object(undefined, {
    file: text('Name of the file.'),
    sha256: text('SHA-256 of its bytes, lower-case hex.', SHA256),
  }),
  Licence: object(undefined, {
    software: text('Licence of the software (SPDX).'),
    data: text(
      'Licence of the connectome and of data derived from it (SPDX); NOASSERTION if it is not known.',
    ),
  }),
  Citation: object(undefined, {
    text: text('Authors and year.'),
    doi: text('Digital object identifier.'),
    subject: text('Reason for the citation.'),
  }),
  Pruning: object(undefined, {
    minimum_synapses: count('Connections with fewer synapses were omitted.', 1),
    description: text('The same as a sentence.'),
  }),
  SignRuleDescription: object(undefined, {
    id: { ...text('Name of the rule.'), enum: [...TABLE_SIGN_RULES, 'as given'] },
    description: text('How the rule determines whether a neuron excites, inhibits or has no fast effect.'),
  }),
  Selector: object('Selects neurons: those that match every member that is present.', {
    'type?': text('Cell type; * matches any sequence of characters.'),
    'class?': text('Class of the neuron.'),
    'sub_class?': text('Sub-class of the neuron.'),
    'super_class?': text('Super-class of the neuron.'),
    'side?': oneOf("The fly's own side.", ['left', 'right', 'center']),
    'except?': listOf('Cell types to exclude.', text()),
    'root_ids?': listOf(
      'Root ids of release 783. If the wiring is measured, they select the neurons.',
      text(),
    ),
  }),
  Stimulus: object(undefined, {
    ...POPULATION,
    id: { ...text('Value of `stimulus` in a run request.'), enum: STIMULUS_IDS },
    nominal_rate_hz: number('Mean rate of input events to each neuron at intensity 1, in Hz.', {
      minimum: 0,
    }),
  }),
  Quantum: object(undefined, {
    duration_ms: oneOf('Duration of a run in ms.', FIELDS.duration_ms.enum),
    quantum_hz: number('Smallest step of the rate in Hz: one spike of one neuron of the channel.', {
      minimum: 0,
    }),
  }),
  Channel: object(undefined, {
    ...POPULATION,
    id: text('Member of `channels` in a run response.', { pattern: POPULATION_ID }),
    kind: oneOf(
      'Kind of its neurons. descending and motor: neurons that project out of the brain, whose rates represent ' +
        'actions. station: neurons upstream of these (sensory neurons, projection neurons, interneurons), whose rates ' +
        'represent a cue.',
      CHANNEL_KINDS,
    ),
    quanta: listOf(
      'Smallest step of the rate for each duration, 1 / (neurons x duration): unrounded rates are multiples of it.',
      ref('Quantum'),
    ),
  }),
  DriveDescription: object('A drive of GET /api/v1/model.', {
    id: text('Member of `drive` in a run response.'),
    minimum: number('Lowest value, without unit.', UNIT_RANGE),
    maximum: number('Highest value, without unit.', UNIT_RANGE),
    formula: text('How the drive is computed from the channels of the same response, in Hz.'),
    engineered: oneOf('Drives are made for animation; they are not biology.', [true]),
    reason: text('Why the drive reads these channels.'),
  }),
  WordParameter: object('A field of a run request that takes one of a list of words.', {
    allowed: listOf('Allowed values.', text()),
    default: text('Default value.'),
  }),
  NumberParameter: object('A field of a run request that takes one of a list of numbers.', {
    allowed: listOf('Allowed values.', number()),
    default: number('Default value.'),
  }),
  RangeParameter: object('A field of a run request that takes any number within bounds.', {
    minimum: number('Lowest allowed value.', { minimum: 0 }),
    maximum: number('Highest allowed value.', { minimum: 0 }),
    default: number('Default value.', { minimum: 0 }),
  }),
  Parameters: object(undefined, mapped(FIELDS, parameterOf)),
  NetworkConstant: object(undefined, {
    name: text('Name of the constant, ending with its unit.'),
    value: number('Value, in `unit`. Potentials may be negative.'),
    unit: { ...text('Unit of the value.'), enum: ['ms', 'mV', 'steps'] },
    meaning: text('Meaning of the constant.'),
    source: text('Source of the value.'),
  }),
};

const ERROR = object('The body of every error response, from any layer.', {
  error: text('A sentence for people: the field, the value received and the allowed values.', {
    examples: ['stimulus must be one of sugar, loom, none, got "salt".'],
  }),
  code: oneOf('A constant for programs; docs/errors.md lists them all.', ERROR_CODES_OF_V1, {
    examples: ['INVALID_PARAMETER'],
  }),
});

export const DESCRIPTION_OF_V1: VersionDescription = {
  version: '1',
  fullVersion: '1.0.0',
  description: readFileSync(new URL('./description.md', import.meta.url), 'utf8').trimEnd(),
  tags: {
    Experiments: 'Runs of the simulated brain.',
    Descriptions: 'The model and the interface.',
  },
  examples: EXAMPLES.schemas,
  schemas: {
    RunRequest: RUN_REQUEST,
    ...RUN_SCHEMAS,
    ...schemasOfModel(CHANNEL_IDS),
    ...MODEL_SCHEMAS,
    ErrorResponse: ERROR,
  },
  schemasOfModel,
};
