import { ApiProperty } from '@nestjs/swagger';
import {
  POPULATION_ID,
  CHANNEL_KINDS,
  type ChannelKind,
  STIMULUS_IDS,
} from '../../../connectome/populations.js';
import { type ChoiceField, type Field, type FieldName, FIELDS } from '../fields.js';

/** Picks neurons; a neuron must agree with every member that is given. */
export class Selector {
  @ApiProperty({
    description: 'Cell type; * stands for any run of characters.',
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
    description: 'Cell types that are left out again.',
    required: false,
    type: [String],
  })
  readonly except?: readonly string[];

  @ApiProperty({
    description: 'Root ids of release 783, which decide where the wiring was measured.',
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

  @ApiProperty({ description: 'What it stands for here.' })
  readonly subject: string;
}

class PopulationDescription {
  @ApiProperty({ description: 'Name for people.' })
  readonly label: string;

  @ApiProperty({
    description: 'What these neurons are, and what to bear in mind about them.',
  })
  readonly description: string;

  @ApiProperty({ description: 'Which neurons these are: all that any selector picks.', type: [Selector] })
  readonly selectors: readonly Selector[];

  @ApiProperty({ description: 'How many neurons these are.', type: 'integer', minimum: 1 })
  readonly neuron_count: number;

  @ApiProperty({ description: 'Where the choice of neurons comes from.', type: [Citation] })
  readonly citations: readonly Citation[];
}

export class Stimulus extends PopulationDescription {
  @ApiProperty({ description: 'Value of `stimulus` in a run request.', enum: STIMULUS_IDS })
  readonly id: string;

  @ApiProperty({
    description: 'Mean events of each neuron at intensity 1, in Hz.',
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
      'What its neurons are. descending and motor: neurons that leave the brain, whose rates stand for actions. ' +
      'station: sensory, projection or interneurons on the way there, whose rates stand for a cue.',
    enum: CHANNEL_KINDS,
  })
  readonly kind: ChannelKind;

  @ApiProperty({
    description: 'Rates are multiples of this, 1 / (neurons x duration), before they are rounded.',
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

  @ApiProperty({ description: 'How the drive is read from the channels, in Hz, of the same response.' })
  readonly formula: string;

  @ApiProperty({
    description: 'A drive is made for animation; it is no biology.',
    type: Boolean,
    enum: [true],
  })
  readonly engineered: true;

  @ApiProperty({ description: 'Why the drive reads these channels.' })
  readonly reason: string;
}

/** A field of a run request that takes one of a list of words. */
export class WordParameter {
  @ApiProperty({ description: 'Values that are accepted.', type: [String] })
  readonly allowed: readonly string[];

  @ApiProperty({ description: 'Value where none is given.' })
  readonly default: string;
}

/** A field of a run request that takes one of a list of numbers. */
export class NumberParameter {
  @ApiProperty({ description: 'Values that are accepted.', type: [Number] })
  readonly allowed: readonly number[];

  @ApiProperty({ description: 'Value where none is given.', type: Number })
  readonly default: number;
}

/** A field of a run request that takes any number within bounds. */
export class RangeParameter {
  @ApiProperty({ description: 'Lowest value that is accepted.', minimum: 0 })
  readonly minimum: number;

  @ApiProperty({ description: 'Highest value that is accepted.', minimum: 0 })
  readonly maximum: number;

  @ApiProperty({ description: 'Value where none is given.', minimum: 0 })
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
  @ApiProperty({ description: 'Name of the constant, its unit last.' })
  readonly name: string;

  @ApiProperty({ description: 'Its value, in `unit`; a potential may be negative.' })
  readonly value: number;

  @ApiProperty({ description: 'Its unit.', enum: ['ms', 'mV', 'steps'] })
  readonly unit: string;

  @ApiProperty({ description: 'What it does.' })
  readonly meaning: string;

  @ApiProperty({
    description: 'Where it comes from.',
  })
  readonly source: string;
}

export class Pruning {
  @ApiProperty({
    description: 'Pairs of neurons with fewer synapses were left out.',
    type: 'integer',
    minimum: 1,
  })
  readonly minimum_synapses: number;

  @ApiProperty({
    description: 'The same in words.',
  })
  readonly description: string;
}

export class SignRuleDescription {
  @ApiProperty({ description: 'Name of the rule.', enum: ['predicted', 'corrected', 'as given'] })
  readonly id: string;

  @ApiProperty({
    description: 'How it is decided whether a neuron excites or inhibits.',
  })
  readonly description: string;
}

export class Licence {
  @ApiProperty({ description: 'Licence of the software (SPDX).' })
  readonly software: string;

  @ApiProperty({
    description: 'Licence of the connectome and of what is derived from it (SPDX).',
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
    description: 'Names the model down to the bytes of its wiring; `model` of every run.',
  })
  readonly id: string;

  @ApiProperty({ description: 'Name for people.' })
  readonly name: string;

  @ApiProperty({
    description: 'Version of the engine; changes when any result may change.',
  })
  readonly version: string;

  @ApiProperty({ description: 'The data set that the connectome comes from.' })
  readonly dataset: string;

  @ApiProperty({ description: 'Release of the data set.', type: 'integer', minimum: 1 })
  readonly release: number;

  @ApiProperty({
    description:
      'measured: every connection is one of the release. synthetic: sampled from cell-type statistics, so ' +
      'single connections mean nothing.',
    enum: ['measured', 'synthetic'],
  })
  readonly wiring: string;

  @ApiProperty({
    description: 'How this connectome came about, in plain sentences.',
    type: [String],
  })
  readonly provenance: readonly string[];

  @ApiProperty({ description: 'The files it was compiled from.', type: [Source] })
  readonly sources: readonly Source[];

  @ApiProperty({ description: 'Licences.', type: Licence })
  readonly licence: Licence;

  @ApiProperty({ description: 'What to cite.', type: [Citation] })
  readonly citations: readonly Citation[];

  @ApiProperty({ description: 'Neurons of the network.', type: 'integer', minimum: 1 })
  readonly neuron_count: number;

  @ApiProperty({
    description: 'Connections: ordered pairs of neurons with synapses from the one to the other.',
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

  @ApiProperty({ description: 'What was left out of the connectome.', type: Pruning })
  readonly pruning: Pruning;

  @ApiProperty({ description: 'Who excites and who inhibits.', type: SignRuleDescription })
  readonly sign_rule: SignRuleDescription;

  @ApiProperty({
    description: 'SHA-256 of the content of the connectome file, lower-case hex; part of every run id.',
    pattern: '^[0-9a-f]{64}$',
  })
  readonly connectome_digest: string;

  @ApiProperty({
    description:
      'Path of the atlas: id, type, side and position of each neuron, in the order of the indices that ' +
      '`frames` use. It never changes under this path.',
  })
  readonly atlas_url: string;

  @ApiProperty({ description: 'The ten stimuli; `none` stands beside them.', type: [Stimulus] })
  readonly stimuli: readonly Stimulus[];

  @ApiProperty({ description: 'The named populations whose rates are read.', type: [Channel] })
  readonly channels: readonly Channel[];

  @ApiProperty({ description: 'The body drives and their formulas.', type: [DriveDescription] })
  readonly drives: readonly DriveDescription[];

  @ApiProperty({ description: 'What a run request may hold.', type: Parameters })
  readonly parameters: Parameters;

  @ApiProperty({ description: 'Every constant of the network.', type: [NetworkConstant] })
  readonly network: readonly NetworkConstant[];

  @ApiProperty({
    description: 'What this model is not, in plain sentences.',
    type: [String],
  })
  readonly limitations: readonly string[];
}
