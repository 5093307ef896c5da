import { CHANNEL_IDS } from '../../../presets/populations.js';
import { DRIVES } from '../../../presets/drives.js';
import { FIELD_NAMES, FIELDS } from '../../../presets/fields.js';
import { FRAME_MS, MAX_TOP_TYPES } from '../../../presets/readout.js';
import {
  count,
  integer,
  listOf,
  number,
  object,
  ref,
  type Schema,
  text,
} from '../../../schema/json-schema.js';
import { STEPS_PER_MS } from '../../../simulation/network.js';

const DURATIONS_MS = FIELDS.duration_ms.enum;
const LONGEST_MS = DURATIONS_MS.at(-1)!;
const WITHOUT_LAST = FIELD_NAMES.slice(0, -1).join(', ');

/** An object of numbers that describes those of the default brain, and allows others. */
function openObject(members: readonly (readonly [name: string, schema: Schema])[]): Schema {
  return {
    type: 'object',
    properties: Object.fromEntries(members),
    additionalProperties: { type: 'number' },
  };
}

/** Members of both views: the ids of the run and of the model, the fields of the request, the reading. */
const DRIVE_MEMBERS = {
  id: text(
    `Identifies the experiment: the first 32 hex digits of the SHA-256 of ${FIELD_NAMES.length + 2} lines, each ` +
      'terminated by a line feed: connectome_digest and version of GET /api/v1/model, then ' +
      `${WITHOUT_LAST} and ${FIELD_NAMES.at(-1)!}, exactly as written in this body.`,
    { pattern: '^[0-9a-f]{32}$' },
  ),
  model: text('Id of the simulated model, as in GET /api/v1/model.'),
  ...Object.fromEntries(
    Object.entries<Schema>(FIELDS).map(([name, { type, description, enum: values, minimum, maximum }]) => [
      name,
      { type, description, enum: values, minimum, maximum },
    ]),
  ),
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

/** The schemas of a run by the names that the OpenAPI description gives them. */
export const RUN_SCHEMAS: Readonly<Record<string, Schema>> = {
  DriveRun: object('The body of POST /api/v1/run?view=drive.', DRIVE_MEMBERS),
  FullRun: object('The body of POST /api/v1/run?view=full: the same, followed by two more members.', {
    ...DRIVE_MEMBERS,
    frames: listOf(`The run in frames of ${FRAME_MS} ms. Together they contain every spike.`, ref('Frame'), {
      minItems: DURATIONS_MS[0] / FRAME_MS,
      maxItems: LONGEST_MS / FRAME_MS,
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
  ChannelRates: openObject(
    CHANNEL_IDS.map((id) => [
      id,
      number(`Mean rate of the neurons of channel ${id} over the run or the frame, in Hz.`, { minimum: 0 }),
    ]),
  ),
  Drives: openObject(
    DRIVES.map(({ id, minimum, maximum, formula }) => [
      id,
      number(`Engineered body drive, without unit: ${formula}.`, { minimum, maximum }),
    ]),
  ),
  Frame: object(undefined, {
    t: integer(`Start of the frame in ms; it lasts ${FRAME_MS} ms.`, {
      minimum: 0,
      maximum: LONGEST_MS - FRAME_MS,
    }),
    total: count('Spikes within the frame.'),
    channels: ref('ChannelRates', 'Rates within the frame, in Hz.'),
    steps: listOf(
      `Step of each spike, ${STEPS_PER_MS} steps a millisecond, counted from the start of the run; ascending.`,
      integer(undefined, { minimum: 0, maximum: LONGEST_MS * STEPS_PER_MS - 1 }),
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
