/**
 * Drives: numbers that animate a body, computed from channel rates. They are engineering, not biology.
 *
 * Functions and constants were chosen for lively animation in the range of rates of this model. Some drives read upstream
 * neurons, because the neurons that command the action stay silent. Each drive is computed from the rounded rates (and drives)
 * in the same response, so a client can check it.
 */
import type { ChannelId } from './populations.js';
import { exponentialDecay } from '../../engine/simulation/exponential.js';

/** Rates in Hz of the channels that drives read. */
export type ChannelRates = Readonly<Record<ChannelId, number>>;

export interface DriveDefinition {
  readonly id: string;
  readonly minimum: number;
  readonly maximum: number;
  /** The formula as text. Its names are channels, in Hz, or drives of the same response. */
  readonly formula: string;
  /** The reason for these channels, as a text. */
  readonly reason: string;
  /** The channels that it reads, directly or through other drives. */
  readonly channels: readonly ChannelId[];
  readonly of: (rates: ChannelRates) => number;
}

/** Rounds to 4 decimals. */
function roundDrive(drive: number): number {
  // Adding 0 turns -0 into 0.
  return Math.round(drive * 10_000) / 10_000 + 0;
}

/**
 * A drive that is 0 when its channels are silent, and never above 1.
 * @param scalesHz the rate at which a single channel brings the drive to 1 - 1/e
 */
function saturatingDrive(
  id: string,
  scalesHz: Readonly<Partial<Record<ChannelId, number>>>,
  reason: string,
): DriveDefinition {
  const terms = Object.entries(scalesHz) as [ChannelId, number][];
  const written = terms.map(([channel, scaleHz]) => `channels.${channel} / ${scaleHz}`).join(' + ');
  return {
    id,
    minimum: 0,
    maximum: 1,
    formula: terms.length === 1 ? `1 - exp(-${written})` : `1 - exp(-(${written}))`,
    reason,
    channels: terms.map(([channel]) => channel),
    of: (rates) => {
      const input = terms.reduce((sum, [channel, scaleHz]) => sum + rates[channel] / scaleHz, 0);
      return roundDrive(1 - exponentialDecay(input));
    },
  };
}

const WALKING: readonly ChannelId[] = ['walk', 'turn_left', 'turn_right', 'descending'];
const WALK_SCALE_HZ = 10;
const TURN_SOFTENING_HZ = 40;

const stop = saturatingDrive('stop', { stop: 40 }, 'Foxglove halts walking.');
const approach = saturatingDrive(
  'approach',
  { food_relay: 60, pheromone_relay: 60 },
  'Flies walk towards vinegar when the glomeruli DM1 and VA2 are active, and gather at the pheromone cVA. No ' +
    'descending neuron that is known to carry this signal responds in the model, so the projection neurons are read.',
);
const avoid = saturatingDrive(
  'avoid',
  { heat_relay: 60, bitter_relay: 60 },
  'Flies turn away from heat, and bitter taste is aversive. No descending neuron that is known to carry this signal ' +
    'responds in the model, so the targets of the receptor neurons are read.',
);
const phototaxis = saturatingDrive(
  'phototaxis',
  { colour_relay: 40 },
  'Flies walk towards light, guided by pathways for single colours. The neurons that carry this signal from Tm5 and ' +
    'Tm20 are not known; the visual projection neurons that these excite most are read.',
);
const hygrotaxis = saturatingDrive(
  'hygrotaxis',
  { humid_relay: 60 },
  'Thirsty flies walk towards moist air, others away from it. The model has no thirst, so the drive gives the ' +
    'strength of the cue, not a direction.',
);
/** Each of these makes a fly walk. */
const TAXES = [approach, avoid, phototaxis, hygrotaxis];

/** All drives, in the order of a response. */
export const DRIVES: readonly DriveDefinition[] = [
  saturatingDrive('escape', { escape: 60 }, 'The giant fibre triggers the fast take-off.'),
  {
    id: 'walk',
    minimum: 0,
    maximum: 1,
    formula:
      `(1 - exp(-((channels.walk + channels.turn_left + channels.turn_right + 3 * channels.descending) / ${WALK_SCALE_HZ} + ` +
      `${TAXES.map(({ id }) => `drive.${id}`).join(' + ')}))) * (1 - drive.stop)`,
    reason:
      'Descending neurons for walking and steering, and the activity of all descending neurons. Odours, heat, bitter ' +
      'taste, colours and humidity make flies walk but hardly reach these neurons in the model, so their drives are added.',
    channels: [...WALKING, ...[stop, ...TAXES].flatMap(({ channels }) => channels)],
    of: (rates) => {
      const rateHz = rates.walk + rates.turn_left + rates.turn_right + 3 * rates.descending;
      const input = TAXES.reduce((sum, { of }) => sum + of(rates), rateHz / WALK_SCALE_HZ);
      return roundDrive((1 - exponentialDecay(input)) * (1 - stop.of(rates)));
    },
  },
  {
    id: 'turn',
    minimum: -1,
    maximum: 1,
    formula:
      '(channels.turn_right - channels.turn_left) / ' +
      `(channels.turn_right + channels.turn_left + ${TURN_SOFTENING_HZ})`,
    reason:
      'DNa01 and DNa02 turn the fly to their own side: -1 is left, 1 is right. The constant keeps the turn small for single ' +
      'spikes. Stimuli excite both sides, but the sides of the wiring differ, so most turn to one side; that says nothing ' +
      'of a fly.',
    channels: ['turn_left', 'turn_right'],
    of: ({ turn_left: left, turn_right: right }) =>
      roundDrive((right - left) / (right + left + TURN_SOFTENING_HZ)),
  },
  stop,
  saturatingDrive('backward', { backward: 10 }, 'The moonwalker neurons drive backward walking.'),
  saturatingDrive('landing', { landing: 20 }, 'DNp07 and DNp10 extend the legs for landing.'),
  saturatingDrive('wing', { wing: 60 }, 'DNp03 acts on the wings in evasive turns.'),
  saturatingDrive(
    'groom',
    { groom: 10, touch_relay: 60 },
    'The descending neurons known for grooming stay silent in the model, so those of the hemilineage through which touch ' +
      'of the head elicits grooming are read as well.',
  ),
  saturatingDrive('proboscis', { proboscis: 25 }, 'Motor neurons of the proboscis extend it.'),
  saturatingDrive(
    'courtship',
    { courtship: 10, song_relay: 40, pheromone_relay: 40 },
    'vpoDN makes a receptive female open her vaginal plates. It stays silent in the model, so the neurons that signal the ' +
      'song and the pheromone of a courting male are read as well.',
  ),
  approach,
  avoid,
  phototaxis,
  hygrotaxis,
  saturatingDrive(
    'reject',
    { bitter_relay: 60 },
    'Bitter taste makes a fly refuse food and retract its proboscis. The model has no activity at rest that could be ' +
      'suppressed, so the targets of the bitter receptor neurons are read.',
  ),
];

/** The drives for a connectome: those whose channels it has. */
export function drivesOf(channels: readonly string[]): readonly DriveDefinition[] {
  return DRIVES.filter((drive) => drive.channels.every((id) => channels.includes(id)));
}

/**
 * @param rates channel rates in Hz, rounded as in the response
 * @param drives those of the connectome, from drivesOf
 */
export function readDrives(
  rates: Readonly<Record<string, number>>,
  drives: readonly DriveDefinition[] = DRIVES,
): Record<string, number> {
  return Object.fromEntries(drives.map(({ id, of }) => [id, of(rates as ChannelRates)]));
}
