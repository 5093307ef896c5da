import { ApiProperty } from '@nestjs/swagger';
import { CHANNEL_IDS, STIMULUS_IDS } from '../connectome/populations.js';

/** Picks neurons; a neuron must agree with every member that is given. */
export class Selector {
  @ApiProperty({
    description: 'Cell type; * stands for any run of characters.',
    required: false,
    example: 'LPLC2',
  })
  readonly type?: string;

  @ApiProperty({ description: 'Class of the neuron.', required: false, example: 'gustatory' })
  readonly class?: string;

  @ApiProperty({ description: 'Sub-class of the neuron.', required: false, example: 'sugar/water' })
  readonly sub_class?: string;

  @ApiProperty({ description: 'Super-class of the neuron.', required: false, example: 'descending' })
  readonly super_class?: string;

  @ApiProperty({
    description: "The fly's own side.",
    required: false,
    enum: ['left', 'right', 'center'],
    example: 'left',
  })
  readonly side?: 'left' | 'right' | 'center';

  @ApiProperty({
    description: 'Cell types that are left out again.',
    required: false,
    type: [String],
    example: ['BM_InOm'],
  })
  readonly except?: readonly string[];

  @ApiProperty({
    description: 'Root ids of release 783, which decide where the wiring was measured.',
    required: false,
    type: [String],
    example: ['720575940622838154'],
  })
  readonly root_ids?: readonly string[];
}

class PopulationDescription {
  @ApiProperty({ description: 'Name for people.', example: 'Looming shadow' })
  readonly label: string;

  @ApiProperty({
    description: 'What these neurons are, and what to bear in mind about them.',
    example: 'Visual projection neurons that respond to approaching objects.',
  })
  readonly description: string;

  @ApiProperty({ description: 'Which neurons these are: all that any selector picks.', type: [Selector] })
  readonly selectors: readonly Selector[];

  @ApiProperty({ description: 'How many neurons these are.', type: 'integer', minimum: 1, example: 314 })
  readonly neuron_count: number;
}

export class Stimulus extends PopulationDescription {
  @ApiProperty({ description: 'Value of `stimulus` in a run request.', enum: STIMULUS_IDS, example: 'loom' })
  readonly id: string;

  @ApiProperty({
    description: 'Mean events of each neuron at intensity 1, in Hz.',
    minimum: 0,
    example: 150,
  })
  readonly nominal_rate_hz: number;
}

export class Quantum {
  @ApiProperty({ description: 'Duration of a run in ms.', type: 'integer', example: 50 })
  readonly duration_ms: number;

  @ApiProperty({
    description: 'Smallest step of the rate in Hz: one spike of one neuron of the channel.',
    minimum: 0,
    example: 10,
  })
  readonly quantum_hz: number;
}

export class Channel extends PopulationDescription {
  @ApiProperty({
    description: 'Member of `channels` in a run response.',
    enum: CHANNEL_IDS,
    example: 'escape',
  })
  readonly id: string;

  @ApiProperty({
    description: 'Rates are multiples of this, 1 / (neurons x duration), before they are rounded.',
    type: [Quantum],
  })
  readonly quanta: readonly Quantum[];
}

/** A drive of GET /api/v1/model. */
export class DriveDescription {
  @ApiProperty({ description: 'Member of `drive` in a run response.', example: 'escape' })
  readonly id: string;

  @ApiProperty({ description: 'Lowest value, without unit.', example: 0 })
  readonly minimum: number;

  @ApiProperty({ description: 'Highest value, without unit.', example: 1 })
  readonly maximum: number;

  @ApiProperty({
    description:
      'How the drive is read from the channels, in Hz, of the same response. Engineered, no biology.',
    example: '1 - exp(-channels.escape / 60)',
  })
  readonly formula: string;
}

export class StimulusParameter {
  @ApiProperty({
    description: 'Values that are accepted.',
    type: [String],
    example: ['sugar', 'loom', 'none'],
  })
  readonly allowed: readonly string[];

  @ApiProperty({ description: 'Value where none is given.', example: 'sugar' })
  readonly default: string;
}

export class DurationParameter {
  @ApiProperty({
    description: 'Values that are accepted, in ms.',
    type: 'array',
    items: { type: 'integer' },
    example: [50, 100, 150, 200],
  })
  readonly allowed: readonly number[];

  @ApiProperty({ description: 'Value where none is given, in ms.', type: 'integer', example: 100 })
  readonly default: number;
}

export class RangeParameter {
  @ApiProperty({ description: 'Lowest value that is accepted.', example: 0 })
  readonly minimum: number;

  @ApiProperty({ description: 'Highest value that is accepted.', example: 2 })
  readonly maximum: number;

  @ApiProperty({ description: 'Value where none is given.', example: 1 })
  readonly default: number;
}

export class Parameters {
  @ApiProperty({ description: 'What the fly is given.', type: StimulusParameter })
  readonly stimulus: StimulusParameter;

  @ApiProperty({ description: 'Simulated time.', type: DurationParameter })
  readonly duration_ms: DurationParameter;

  @ApiProperty({ description: 'Strength of the stimulus; 1 is its nominal rate.', type: RangeParameter })
  readonly intensity: RangeParameter;

  @ApiProperty({ description: 'Seed of the stimulus train, an integer.', type: RangeParameter })
  readonly seed: RangeParameter;
}

export class NetworkConstant {
  @ApiProperty({ description: 'Name of the constant, its unit last.', example: 'tau_membrane_ms' })
  readonly name: string;

  @ApiProperty({ description: 'Its value.', example: 20 })
  readonly value: number;

  @ApiProperty({ description: 'Its unit.', enum: ['ms', 'mV', 'steps'], example: 'ms' })
  readonly unit: string;

  @ApiProperty({ description: 'What it does.', example: 'membrane time constant' })
  readonly meaning: string;

  @ApiProperty({
    description: 'Where it comes from.',
    example: 'Shiu et al. 2024, doi:10.1038/s41586-024-07763-9',
  })
  readonly source: string;
}

export class Pruning {
  @ApiProperty({
    description: 'Pairs of neurons with fewer synapses were left out.',
    type: 'integer',
    minimum: 1,
    example: 5,
  })
  readonly minimum_synapses: number;

  @ApiProperty({
    description: 'The same in words.',
    example: 'Connections are summed over neuropils; those with fewer than 5 synapses are left out.',
  })
  readonly description: string;
}

export class SignRuleDescription {
  @ApiProperty({ description: 'Name of the rule.', enum: ['predicted', 'corrected'], example: 'corrected' })
  readonly id: string;

  @ApiProperty({
    description: 'How it is decided whether a neuron excites or inhibits.',
    example: 'As predicted from the transmitter, with corrections for photoreceptors and local neurons.',
  })
  readonly description: string;
}

export class Licence {
  @ApiProperty({ description: 'Licence of the software (SPDX).', example: 'Apache-2.0' })
  readonly software: string;

  @ApiProperty({
    description: 'Licence of the connectome and of what is derived from it (SPDX).',
    example: 'CC-BY-NC-4.0',
  })
  readonly data: string;
}

export class Citation {
  @ApiProperty({ description: 'Authors and year.', example: 'Dorkenwald et al. 2024' })
  readonly text: string;

  @ApiProperty({ description: 'Digital object identifier.', example: '10.1038/s41586-024-07558-y' })
  readonly doi: string;

  @ApiProperty({ description: 'What it stands for here.', example: 'the connectome' })
  readonly subject: string;
}

export class Source {
  @ApiProperty({ description: 'Name of the file.', example: 'connections.csv.gz' })
  readonly file: string;

  @ApiProperty({
    description: 'SHA-256 of its bytes, lower-case hex.',
    pattern: '^[0-9a-f]{64}$',
    example: '3c5a81ff1b5d1f7a1b3f2c8a4e90d7e7fd6e2b0a9c1f4d38a5b6c7d8e9f00112',
  })
  readonly sha256: string;
}

/** The body of GET /api/v1/model. */
export class Model {
  @ApiProperty({
    description: 'Names the model down to the bytes of its wiring; `model` of every run.',
    example: 'fafb-783-reconstructed-corrected-0123456789ab',
  })
  readonly id: string;

  @ApiProperty({ description: 'Name for people.', example: 'Adult fruit fly brain' })
  readonly name: string;

  @ApiProperty({
    description: 'Version of the engine; changes when any result may change.',
    example: '1',
  })
  readonly version: string;

  @ApiProperty({ description: 'The data set that the connectome comes from.', example: 'FlyWire FAFB' })
  readonly dataset: string;

  @ApiProperty({ description: 'Release of the data set.', type: 'integer', example: 783 })
  readonly release: number;

  @ApiProperty({
    description:
      'measured: every connection is one of the release. reconstructed: drawn from figures by cell type, so ' +
      'single connections mean nothing.',
    enum: ['measured', 'reconstructed'],
    example: 'reconstructed',
  })
  readonly wiring: string;

  @ApiProperty({
    description: 'How this connectome came about, in plain sentences.',
    type: [String],
    example: ['Drawn from figures by cell type of release 783.'],
  })
  readonly provenance: readonly string[];

  @ApiProperty({ description: 'The files it was compiled from.', type: [Source] })
  readonly sources: readonly Source[];

  @ApiProperty({ description: 'Licences.', type: Licence })
  readonly licence: Licence;

  @ApiProperty({ description: 'What to cite.', type: [Citation] })
  readonly citations: readonly Citation[];

  @ApiProperty({ description: 'Neurons of the network.', type: 'integer', minimum: 1, example: 139255 })
  readonly neuron_count: number;

  @ApiProperty({
    description: 'Connections: ordered pairs of neurons with synapses from the one to the other.',
    type: 'integer',
    minimum: 0,
    example: 2700513,
  })
  readonly connection_count: number;

  @ApiProperty({
    description: 'Synapses of all connections.',
    type: 'integer',
    minimum: 0,
    example: 34153566,
  })
  readonly synapse_count: number;

  @ApiProperty({ description: 'What was left out of the connectome.', type: Pruning })
  readonly pruning: Pruning;

  @ApiProperty({ description: 'Who excites and who inhibits.', type: SignRuleDescription })
  readonly sign_rule: SignRuleDescription;

  @ApiProperty({
    description: 'SHA-256 of the content of the connectome file, lower-case hex; part of every run id.',
    pattern: '^[0-9a-f]{64}$',
    example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  })
  readonly connectome_digest: string;

  @ApiProperty({
    description:
      'Path of the atlas: id, type, side and position of each neuron, in the order of the indices that ' +
      '`frames` use. It never changes under this path.',
    example: '/atlas/9f86d081884c7d659a2feaa0c55ad015-1.json',
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
    example: ['It has no body and no feedback from one: nothing that the brain does changes its input.'],
  })
  readonly limitations: readonly string[];
}
