/**
 * Drives: engineered readings of channel rates for bodies in games and displays. They are no biology: the
 * shapes and constants were chosen so that animation looks lively in the range of rates that this model
 * reaches. Each is computed from the rounded rates (and drives) of the same body, so a client can check it.
 */
import type { ChannelId } from '../../connectome/populations.js';
import { exponentialDecay } from './exponential.js';
import { roundDrive } from './rounding.js';

export type ChannelRates = Readonly<Record<ChannelId, number>>;

interface DriveDefinition {
  readonly id: string;
  readonly minimum: number;
  readonly maximum: number;
  /** For people; names are channels of the same body, in Hz, or drives. */
  readonly formula: string;
  readonly of: (rates: ChannelRates) => number;
}

/** 0 when silent, 1 - 1/e at the scale, never above 1. */
function saturating(rateHz: number, scaleHz: number): number {
  return roundDrive(1 - exponentialDecay(rateHz / scaleHz));
}

function saturatingDrive(id: ChannelId, scaleHz: number): DriveDefinition {
  return {
    id,
    minimum: 0,
    maximum: 1,
    formula: `1 - exp(-channels.${id} / ${scaleHz})`,
    of: (rates) => saturating(rates[id], scaleHz),
  };
}

const STOP_SCALE_HZ = 40;
const WALK_SCALE_HZ = 10;
const TURN_SOFTENING_HZ = 40;

export const DRIVES: readonly DriveDefinition[] = [
  saturatingDrive('escape', 60),
  {
    id: 'walk',
    minimum: 0,
    maximum: 1,
    formula:
      `(1 - exp(-(channels.walk + channels.turn_left + channels.turn_right + 3 * channels.descending) / ${WALK_SCALE_HZ}))` +
      ' * (1 - drive.stop)',
    of: (rates) => {
      const rateHz = rates.walk + rates.turn_left + rates.turn_right + 3 * rates.descending;
      return roundDrive(
        (1 - exponentialDecay(rateHz / WALK_SCALE_HZ)) * (1 - saturating(rates.stop, STOP_SCALE_HZ)),
      );
    },
  },
  {
    id: 'turn',
    minimum: -1,
    maximum: 1,
    formula:
      '(channels.turn_right - channels.turn_left) / ' +
      `(channels.turn_right + channels.turn_left + ${TURN_SOFTENING_HZ})`,
    of: ({ turn_left: left, turn_right: right }) =>
      roundDrive((right - left) / (right + left + TURN_SOFTENING_HZ)),
  },
  saturatingDrive('stop', STOP_SCALE_HZ),
  saturatingDrive('backward', 10),
  saturatingDrive('landing', 20),
  saturatingDrive('wing', 60),
  saturatingDrive('groom', 10),
  saturatingDrive('proboscis', 25),
  saturatingDrive('courtship', 10),
];

/** @param rates channel rates in Hz, rounded as in the body */
export function readDrives(rates: ChannelRates): Record<string, number> {
  return Object.fromEntries(DRIVES.map(({ id, of }) => [id, of(rates)]));
}
