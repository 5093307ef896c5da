import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { CHANNEL_IDS } from '../populations.js';
import { DRIVES } from '../drives.js';
import { STEPS_PER_MS } from '../../../engine/network.js';
import type { Experiment } from '../experiment.js';
import { FIELD_NAMES, FIELDS } from '../fields.js';
import { FRAME_MS, MAXIMUM_TOP_TYPES } from '../readout.js';
import { schemaOf } from './field-schema.js';

const DURATIONS_MS = FIELDS.duration_ms.allowed;
const LONGEST_MS = DURATIONS_MS.at(-1)!;

export class Spikes {
  @ApiProperty({ description: 'Spikes of all neurons.', type: 'integer', minimum: 0 })
  readonly total: number;

  @ApiProperty({
    description: 'Neurons that receive the stimulus.',
    type: 'integer',
    minimum: 0,
  })
  readonly stimulated_neurons: number;

  @ApiProperty({
    description: 'Neurons with at least one spike, including stimulated ones.',
    type: 'integer',
    minimum: 0,
  })
  readonly responding_neurons: number;

  @ApiProperty({
    description: 'Mean rate of the responding neurons, in Hz; 0 if none responds.',
    minimum: 0,
  })
  readonly mean_rate_hz: number;

  @ApiProperty({
    description:
      'SHA-256, lower-case hex, of all spikes as pairs (step, neuron) of little-endian 32-bit unsigned ' +
      'integers, ordered by step, then neuron: of the `steps` and `spikes` of all frames, interleaved.',
    pattern: '^[0-9a-f]{64}$',
  })
  readonly digest: string;
}

/** One member for each channel of the connectome. The schema describes those of the default brain and allows others. */
export class ChannelRates {
  readonly [channel: string]: number;
}
for (const id of CHANNEL_IDS) {
  ApiProperty({
    description: `Mean rate of the neurons of channel ${id} over the run or the frame, in Hz.`,
    required: false,
    type: Number,
    minimum: 0,
  })(ChannelRates.prototype, id);
}

export class Drives {
  readonly [drive: string]: number;
}
for (const { id, minimum, maximum, formula } of DRIVES) {
  ApiProperty({
    description: `Engineered body drive, without unit: ${formula}.`,
    required: false,
    type: Number,
    minimum,
    maximum,
  })(Drives.prototype, id);
}

export class Frame {
  @ApiProperty({
    description: `Start of the frame in ms; it lasts ${FRAME_MS} ms.`,
    type: 'integer',
    minimum: 0,
    maximum: LONGEST_MS - FRAME_MS,
  })
  readonly t: number;

  @ApiProperty({ description: 'Spikes within the frame.', type: 'integer', minimum: 0 })
  readonly total: number;

  @ApiProperty({ description: 'Rates within the frame, in Hz.', type: ChannelRates })
  readonly channels: ChannelRates;

  @ApiProperty({
    description: `Step of each spike, ${STEPS_PER_MS} steps a millisecond, counted from the start of the run; ascending.`,
    type: 'array',
    items: { type: 'integer', minimum: 0, maximum: LONGEST_MS * STEPS_PER_MS - 1 },
  })
  readonly steps: readonly number[];

  @ApiProperty({
    description:
      'The neuron of each spike, as an index into the atlas; ascending within a step. As long as `steps`.',
    type: 'array',
    items: { type: 'integer', minimum: 0 },
  })
  readonly spikes: readonly number[];
}

export class TopType {
  @ApiProperty({
    description: 'Cell type; for neurons without a type, "untyped" and their super-class.',
  })
  readonly type: string;

  @ApiProperty({ description: 'Super-class of the type.' })
  readonly super_class: string;

  @ApiProperty({ description: 'Neurons of the type.', type: 'integer', minimum: 1 })
  readonly neurons: number;

  @ApiProperty({
    description: 'Neurons of the type with at least one spike.',
    type: 'integer',
    minimum: 1,
  })
  readonly responding: number;

  @ApiProperty({ description: 'Spikes of the type.', type: 'integer', minimum: 1 })
  readonly spikes: number;

  @ApiProperty({ description: 'Mean rate of all neurons of the type, in Hz.', minimum: 0 })
  readonly rate_hz: number;

  @ApiProperty({
    description: 'Neurons of the type that receive the stimulus.',
    type: 'integer',
    minimum: 0,
  })
  readonly stimulated: number;
}

const WITHOUT_LAST = FIELD_NAMES.slice(0, -1).join(', ');

/** The first members of a response: the ids of the run and of the model, and the fields of the request. */
class RunHead extends (Object as unknown as new () => Experiment) {
  @ApiProperty({
    description:
      `Identifies the experiment: the first 32 hex digits of the SHA-256 of ${FIELD_NAMES.length + 2} lines, each ` +
      'terminated by a line feed: connectome_digest and version of GET /api/v1/model, then ' +
      `${WITHOUT_LAST} and ${FIELD_NAMES.at(-1)!}, exactly as written in this body.`,
    pattern: '^[0-9a-f]{32}$',
  })
  readonly id: string;

  @ApiProperty({
    description: 'Id of the simulated model, as in GET /api/v1/model.',
  })
  readonly model: string;
}
for (const name of FIELD_NAMES) {
  ApiProperty(schemaOf(FIELDS[name]) as ApiPropertyOptions)(RunHead.prototype, name);
}

/** The body of POST /api/v1/run?view=drive. */
export class DriveRun extends RunHead {
  @ApiProperty({
    description: 'Spikes of all neurons; the same number as spikes.total.',
    type: 'integer',
    minimum: 0,
  })
  readonly total_spikes: number;

  @ApiProperty({
    description: 'Neurons with at least one spike; the same number as spikes.responding_neurons.',
    type: 'integer',
    minimum: 0,
  })
  readonly responding_neurons: number;

  @ApiProperty({
    description: 'Neurons that receive the stimulus; the same number as spikes.stimulated_neurons.',
    type: 'integer',
    minimum: 0,
  })
  readonly stimulated_neurons: number;

  @ApiProperty({
    description: 'Connections of the model; the same number as connection_count of GET /api/v1/model.',
    type: 'integer',
    minimum: 0,
  })
  readonly connections: number;

  @ApiProperty({ description: 'Spikes of the whole brain.', type: Spikes })
  readonly spikes: Spikes;

  @ApiProperty({
    description: 'Mean rate of the neurons of each channel over the run, in Hz, rounded to 2 decimals.',
    type: ChannelRates,
  })
  readonly channels: ChannelRates;

  @ApiProperty({
    description: 'Engineered drives for an animated body, rounded to 4 decimals. They are not biology.',
    type: Drives,
  })
  readonly drive: Drives;
}

/** The body of POST /api/v1/run?view=full: the same, followed by two more members. */
export class FullRun extends DriveRun {
  @ApiProperty({
    description: `The run in frames of ${FRAME_MS} ms. Together they contain every spike.`,
    type: [Frame],
    minItems: DURATIONS_MS[0] / FRAME_MS,
    maxItems: LONGEST_MS / FRAME_MS,
  })
  readonly frames: readonly Frame[];

  @ApiProperty({
    description: 'Cell types with the most spikes, sorted by spikes, then by name.',
    type: [TopType],
    maxItems: MAXIMUM_TOP_TYPES,
  })
  readonly top_types: readonly TopType[];
}
