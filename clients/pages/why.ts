/** One sentence on a run: what a body that follows the drives would do, and which channels say so. */
import { drivesOf } from '../../src/presets/drives.js';
import { Choreography } from '../fly/src/choreography.js';
import { TAKES_OFF_ABOVE } from '../fly/src/motion.js';
import { drivesOf as drivesOverTime } from '../fly/src/run-drives.js';
import type { DriveRun, FullRun, Model } from './service/client.js';

/** Below this a drive is not worth a word. */
const FAINTEST = 0.1;
/** Share of the strongest drive from which other drives are named as well. */
const ALSO_SHARE = 0.5;
const MOST_REASONS = 2;

/** Action of a body for each drive, after "would". */
const ACTIONS: Readonly<Record<string, string>> = {
  escape: 'take off',
  walk: 'walk',
  stop: 'stop',
  backward: 'walk backwards',
  landing: 'stretch its legs to land',
  wing: 'turn with its wings',
  groom: 'groom its head',
  proboscis: 'extend its proboscis',
  courtship: 'be receptive',
  approach: 'approach the smell',
  avoid: 'turn away',
  phototaxis: 'approach the light',
  hygrotaxis: 'follow the moist air',
  reject: 'refuse to feed',
};

/** @param run with frames, which decide whether the fly takes off; without them the drive of the whole run decides */
export function sentenceOn(run: DriveRun | FullRun, model: Model): string {
  const { drive, channels: rates } = run;
  const { channels } = model;
  const takesOff = 'frames' in run ? takesOffIn(run, model) : (drive['escape'] ?? 0) > TAKES_OFF_ABOVE;
  const actionOf = ({ id, value }: { id: string; value: number }): string => {
    const action =
      id === 'turn'
        ? `turn ${value < 0 ? 'left' : 'right'}`
        : id === 'escape' && !takesOff
          ? 'be startled'
          : (ACTIONS[id] ?? id);
    return `${action} (${id} ${shortDrive(value)})`;
  };
  const drives = drivesOf(channels.map(({ id }) => id))
    .map(({ id, channels: read }) => ({ id, read, value: drive[id] ?? 0 }))
    .filter(({ value }) => Math.abs(value) >= FAINTEST)
    // Nearly everything makes a fly walk a little, so walking comes last unless nothing else does.
    .sort((a, b) => rank(b) - rank(a));
  const [strongest, ...others] = drives;
  if (strongest === undefined) {
    return 'A body that follows the drives would stay still: the channels that they read are silent.';
  }
  const reasons = strongest.read
    .map((id) => ({ channel: channels.find((each) => each.id === id)!, rate: rates[id] ?? 0 }))
    .filter(({ rate }) => rate > 0)
    .sort((a, b) => b.rate - a.rate)
    .slice(0, MOST_REASONS)
    .map(({ channel, rate }) => {
      const station = channel.kind === 'station' ? ', a station on the way,' : '';
      return `${channel.label}${station} fires at ${rate} Hz`;
    });
  const also = others
    .filter(({ id, value }) => id !== 'walk' && Math.abs(value) >= ALSO_SHARE * Math.abs(strongest.value))
    .map(actionOf);
  return (
    `A body that follows the drives would ${actionOf(strongest)}, because ${listed(reasons)}` +
    `${also.length === 0 ? '' : `; it would also ${listed(also)}`}.`
  );
}

function rank({ id, value }: { id: string; value: number }): number {
  return Math.abs(value) - (id === 'walk' ? 1 : 0);
}

/** Two decimals: the formula of a drive is made up, so more would say nothing. */
export function shortDrive(value: number): string {
  return String(Math.round(value * 100) / 100);
}

/** Tells whether the drawn fly takes off in a run, as it does when escape stays high for long enough. */
function takesOffIn(run: FullRun, model: Model): boolean {
  const choreography = new Choreography(drivesOverTime(run, model));
  return run.frames.some(({ t }) => choreography.at(t).takesOff);
}

function listed(items: readonly string[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)!}`;
}
