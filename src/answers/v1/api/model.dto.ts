import { ApiProperty } from '@nestjs/swagger';
import { POPULATION_ID, CHANNEL_KINDS, type ChannelKind } from '../../../connectome/populations.js';
import { STIMULUS_IDS } from '../populations.js';
import { type ChoiceField, type Field, type FieldName, FIELDS } from '../fields.js';

/** Selects neurons: those that match every member that is present. */
export class Selector {
  @ApiProperty({
    description: 'Cell type; * matches any sequence of characters.',
    required: false,
  })
  readonly type?: string;

  @ApiProperty({ description: 'Class of the neuron.', required: false })
  readonly class?: string;

  @ApiProperty({ description: 'Sub-class of the neuron.', required: false })
  readonly sub_class?: string;

  @ApiProperty({ description: 'Super-class of the neuron.', required: false })
  readonly super_class?: string;

  @ApiProperty({
    description: "The fly's own side.",
    required: false,
    enum: ['left', 'right', 'center'],
  })
  readonly side?: 'left' | 'right' | 'center';

  @ApiProperty({
    description: 'Cell types to exclude.',
    required: false,
    type: [String],
  })
  readonly except?: readonly string[];

  @ApiProperty({
    description: 'Root ids of release 783. If the wiring is measured, they select the neurons.',
    required: false,
    type: [String],
  })
  readonly root_ids?: readonly string[];
}

export class Citation {
  @ApiProperty({ description: 'Authors and year.' })
  readonly text: string;

  @ApiProperty({ description: 'Digital object identifier.' })
  readonly doi: string;

  @ApiProperty({ description: 'What it is cited for.' })
  readonly subject: string;
}

class PopulationDescription {
  @ApiProperty({ description: 'Name for display.' })
  readonly label: string;

  @ApiProperty({
    description: 'The neurons, and their limitations as a model.',
  })
  readonly description: string;

  @ApiProperty({ description: 'The neurons that match any of these selectors.', type: [Selector] })
  readonly selectors: readonly Selector[];

  @ApiProperty({ description: 'Number of neurons.', type: 'integer', minimum: 1 })
  readonly neuron_count: number;

  @ApiProperty({ description: 'Sources for the choice of neurons.', type: [Citation] })
  readonly citations: readonly Citation[];
}

export class Stimulus extends PopulationDescription {
  @ApiProperty({ description: 'Value of `stimulus` in a run request.', enum: STIMULUS_IDS })
  readonly id: string;

  @ApiProperty({
    description: 'Mean rate of input events to each neuron at intensity 1, in Hz.',
    minimum: 0,
  })
  readonly nominal_rate_hz: number;
}

export class Quantum {
  @ApiProperty({
    description: 'Duration of a run in ms.',
    type: 'integer',
    enum: [...FIELDS.duration_ms.allowed],
  })
  readonly duration_ms: number;

  @ApiProperty({
    description: 'Smallest step of the rate in Hz: one spike of one neuron of the channel.',
    minimum: 0,
  })
  readonly quantum_hz: number;
}

export class Channel extends PopulationDescription {
  @ApiProperty({
    description: 'Member of `channels` in a run response.',
    pattern: POPULATION_ID,
  })
  readonly id: string;

  @ApiProperty({
    description:
      'Kind of its neurons. descending and motor: neurons that project out of the brain, whose rates represent ' +
      'actions. station: neurons upstream of these (sensory neurons, projection neurons, interneurons), whose rates ' +
      'represent a cue.',
    enum: CHANNEL_KINDS,
  })
  readonly kind: ChannelKind;

  @ApiProperty({
    description:
      'Smallest step of the rate for each duration, 1 / (neurons x duration): unrounded rates are multiples of it.',
    type: [Quantum],
  })
  readonly quanta: readonly Quantum[];
}

/** A drive of GET /api/v1/model. */
export class DriveDescription {
  @ApiProperty({ description: 'Member of `drive` in a run response.' })
  readonly id: string;

  @ApiProperty({ description: 'Lowest value, without unit.', minimum: -1, maximum: 1 })
  readonly minimum: number;

  @ApiProperty({ description: 'Highest value, without unit.', minimum: -1, maximum: 1 })
  readonly maximum: number;

  @ApiProperty({ description: 'How the drive is computed from the channels of the same response, in Hz.' })
  readonly formula: string;

  @ApiProperty({
    description: 'Drives are made for animation; they are not biology.',
    type: Boolean,
    enum: [true],
  })
  readonly engineered: true;

  @ApiProperty({ description: 'Why the drive reads these channels.' })
  readonly reason: string;
}

/** A field of a run request that takes one of a list of words. */
export class WordParameter {
  @ApiProperty({ description: 'Allowed values.', type: [String] })
  readonly allowed: readonly string[];

  @ApiProperty({ description: 'Default value.' })
  readonly default: string;
}

/** A field of a run request that takes one of a list of numbers. */
export class NumberParameter {
  @ApiProperty({ description: 'Allowed values.', type: [Number] })
  readonly allowed: readonly number[];

  @ApiProperty({ description: 'Default value.', type: Number })
  readonly default: number;
}

/** A field of a run request that takes any number within bounds. */
export class RangeParameter {
  @ApiProperty({ description: 'Lowest allowed value.', minimum: 0 })
  readonly minimum: number;

  @ApiProperty({ description: 'Highest allowed value.', minimum: 0 })
  readonly maximum: number;

  @ApiProperty({ description: 'Default value.', minimum: 0 })
  readonly default: number;
}

type ParameterOf<F extends Field> =
  F extends ChoiceField<string>
    ? WordParameter
    : F extends ChoiceField<number>
      ? NumberParameter
      : RangeParameter;

export class Parameters extends (Object as unknown as new () => {
  readonly [Name in FieldName]: ParameterOf<(typeof FIELDS)[Name]>;
}) {}
for (const [name, field] of Object.entries<Field>(FIELDS)) {
  const type = !('allowed' in field)
    ? RangeParameter
    : field.type === 'string'
      ? WordParameter
      : NumberParameter;
  ApiProperty({ description: field.description, type })(Parameters.prototype, name);
}

export class NetworkConstant {
  @ApiProperty({ description: 'Name of the constant, ending with its unit.' })
  readonly name: string;

  @ApiProperty({ description: 'Value, in `unit`. Potentials may be negative.' })
  readonly value: number;

  @ApiProperty({ description: 'Unit of the value.', enum: ['ms', 'mV', 'steps'] })
  readonly unit: string;

  @ApiProperty({ description: 'Meaning of the constant.' })
  readonly meaning: string;

  @ApiProperty({
    description: 'Source of the value.',
  })
  readonly source: string;
}

export class Pruning {
  @ApiProperty({
    description: 'Connections with fewer synapses were omitted.',
    type: 'integer',
    minimum: 1,
  })
  readonly minimum_synapses: number;

  @ApiProperty({
    description: 'The same as a sentence.',
  })
  readonly description: string;
}

export class SignRuleDescription {
  @ApiProperty({ description: 'Name of the rule.', enum: ['predicted', 'corrected', 'as given'] })
  readonly id: string;

  @ApiProperty({
    description: 'How the rule determines whether a neuron is excitatory or inhibitory.',
  })
  readonly description: string;
}

export class Licence {
  @ApiProperty({ description: 'Licence of the software (SPDX).' })
  readonly software: string;

  @ApiProperty({
    description: 'Licence of the connectome and of data derived from it (SPDX).',
  })
  readonly data: string;
}

export class Source {
  @ApiProperty({ description: 'Name of the file.' })
  readonly file: string;

  @ApiProperty({
    description: 'SHA-256 of its bytes, lower-case hex.',
    pattern: '^[0-9a-f]{64}$',
  })
  readonly sha256: string;
}

/** The body of GET /api/v1/model. */
export class Model {
  @ApiProperty({
    description:
      'Id of the model: dataset, release, wiring, sign rule and the start of the digest; `model` in every run.',
  })
  readonly id: string;

  @ApiProperty({ description: 'Name for display.' })
  readonly name: string;

  @ApiProperty({
    description: 'Version of the engine; it changes whenever a result may change.',
  })
  readonly version: string;

  @ApiProperty({ description: 'Data set from which the connectome was compiled.' })
  readonly dataset: string;

  @ApiProperty({ description: 'Release of the data set.', type: 'integer', minimum: 1 })
  readonly release: number;

  @ApiProperty({
    description:
      'measured: every connection is in the release. synthetic: connections were sampled from cell-type statistics, ' +
      'so a single connection has no meaning.',
    enum: ['measured', 'synthetic'],
  })
  readonly wiring: string;

  @ApiProperty({
    description: 'Sentences on how the connectome was made.',
    type: [String],
  })
  readonly provenance: readonly string[];

  @ApiProperty({ description: 'Files from which it was compiled.', type: [Source] })
  readonly sources: readonly Source[];

  @ApiProperty({ description: 'Licences.', type: Licence })
  readonly licence: Licence;

  @ApiProperty({ description: 'What to cite.', type: [Citation] })
  readonly citations: readonly Citation[];

  @ApiProperty({ description: 'Neurons of the network.', type: 'integer', minimum: 1 })
  readonly neuron_count: number;

  @ApiProperty({
    description: 'Connections: ordered pairs of neurons (presynaptic, postsynaptic).',
    type: 'integer',
    minimum: 0,
  })
  readonly connection_count: number;

  @ApiProperty({
    description: 'Synapses of all connections.',
    type: 'integer',
    minimum: 0,
  })
  readonly synapse_count: number;

  @ApiProperty({ description: 'Connections that were omitted.', type: Pruning })
  readonly pruning: Pruning;

  @ApiProperty({
    description: 'Rule that determines which neurons are excitatory and which inhibitory.',
    type: SignRuleDescription,
  })
  readonly sign_rule: SignRuleDescription;

  @ApiProperty({
    description: 'SHA-256 of the content of the connectome file, lower-case hex; part of every run id.',
    pattern: '^[0-9a-f]{64}$',
  })
  readonly connectome_digest: string;

  @ApiProperty({
    description:
      'Path of the atlas: id, type, side and position of each neuron, in the order of the indices in `frames`. The ' +
      'atlas at this path never changes.',
  })
  readonly atlas_url: string;

  @ApiProperty({
    description: 'Stimuli of this connectome; `none` is always allowed as well.',
    type: [Stimulus],
  })
  readonly stimuli: readonly Stimulus[];

  @ApiProperty({ description: 'Named groups of neurons whose mean rates a run reports.', type: [Channel] })
  readonly channels: readonly Channel[];

  @ApiProperty({ description: 'The body drives and their formulas.', type: [DriveDescription] })
  readonly drives: readonly DriveDescription[];

  @ApiProperty({ description: 'Fields of a run request.', type: Parameters })
  readonly parameters: Parameters;

  @ApiProperty({ description: 'Every constant of the network.', type: [NetworkConstant] })
  readonly network: readonly NetworkConstant[];

  @ApiProperty({
    description: 'Limitations of the model.',
    type: [String],
  })
  readonly limitations: readonly string[];
}
