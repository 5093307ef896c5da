/** One sentence on a run: what a body that follows the drives would do, and which channels say so. */
import { drivesOf } from '../../answers/v1/drives.js';
import type { Channel } from '../../answers/v1/api/model.dto.js';
import type { DriveRun } from '../../answers/v1/api/run-response.dto.js';

/** Below this a drive is not worth a word. */
const FAINTEST = 0.1;
/** Of the strongest drive; others that reach this share are named as well. */
const ALSO_SHARE = 0.5;
const MOST_REASONS = 2;

/** What a body does for each drive, after "the fly would". */
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

/** @param channels of the model that was run */
export function sentenceOn(
  { drive, channels: rates }: Pick<DriveRun, 'drive' | 'channels'>,
  channels: readonly Channel[],
): string {
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

function actionOf({ id, value }: { id: string; value: number }): string {
  const action = id === 'turn' ? `turn ${value < 0 ? 'left' : 'right'}` : (ACTIONS[id] ?? id);
  return `${action} (${id} ${value})`;
}

function listed(items: readonly string[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)!}`;
}
