import { TABLE_SIGN_RULES, WIRINGS } from '../../../connectome/connectome.js';
import { POPULATION_ID, CHANNEL_KINDS } from '../../../connectome/populations.js';
import { STIMULUS_IDS } from '../../../presets/populations.js';
import { type Field, FIELDS } from '../../../presets/fields.js';
import {
  anyOf,
  count,
  listOf,
  number,
  object,
  oneOf,
  orNull,
  ref,
  type Schema,
  text,
} from '../../../schema/json-schema.js';

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

/** The schemas of GET /api/v1/model by the names that the OpenAPI description gives them. */
export const MODEL_SCHEMAS: Readonly<Record<string, Schema>> = {
  Model: object('The body of GET /api/v1/model.', {
    id: text(
      'Id of the model: dataset, release, wiring, sign rule and the start of the digest; `model` in every run.',
    ),
    name: text('Name for display.'),
    version: text('Version of the engine; it changes whenever a result may change.'),
    dataset: text('Data set from which the connectome was compiled.'),
    release: orNull(
      'Release of the data set, a text where it is no number such as 1.2.1; null if it has none.',
      anyOf(undefined, [count(undefined, 1), text()]),
    ),
    wiring: oneOf(
      'measured: every connection is in the data set. synthetic: connections were sampled from cell-type statistics, ' +
        'so a single connection has no meaning. custom: connections are those that whoever compiled the model gave.',
      WIRINGS,
    ),
    provenance: listOf('Sentences on how the connectome was made.', text()),
    sources: listOf('Files from which it was compiled.', ref('Source')),
    licence: ref('Licence', 'Licences.'),
    citations: listOf('What to cite.', ref('Citation')),
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
      'Licence of the connectome and of data derived from it (SPDX); NOASSERTION where it is not known.',
    ),
  }),
  Citation: object(undefined, {
    text: text('Authors and year.'),
    doi: text('Digital object identifier.'),
    subject: text('What it is cited for.'),
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
  Parameters: object(
    undefined,
    Object.fromEntries(Object.entries<Field>(FIELDS).map(([name, field]) => [name, parameterOf(field)])),
  ),
  NetworkConstant: object(undefined, {
    name: text('Name of the constant, ending with its unit.'),
    value: number('Value, in `unit`. Potentials may be negative.'),
    unit: { ...text('Unit of the value.'), enum: ['ms', 'mV', 'steps'] },
    meaning: text('Meaning of the constant.'),
    source: text('Source of the value.'),
  }),
};
