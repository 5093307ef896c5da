import { CHANNEL_IDS, type ChannelId } from '../../connectome/populations.js';
import { DRIVES, readDrives, type ChannelRates } from './drives.js';

function rates(given: Partial<Record<ChannelId, number>>): ChannelRates {
  return { ...(Object.fromEntries(CHANNEL_IDS.map((id) => [id, 0])) as ChannelRates), ...given };
}

describe('drives', () => {
  it('are all 0 when nothing spikes', () => {
    expect(new Set(Object.values(readDrives(rates({}))))).toEqual(new Set([0]));
  });

  it('read 1 - 1/e at their scale', () => {
    expect(readDrives(rates({ escape: 60 })).escape).toBe(0.6321);
    expect(readDrives(rates({ proboscis: 25 })).proboscis).toBe(0.6321);
  });

  it('turn towards the more active side, softened, from -1 to 1', () => {
    expect(readDrives(rates({ turn_right: 30, turn_left: 10 })).turn).toBe(0.25);
    expect(readDrives(rates({ turn_right: 10, turn_left: 30 })).turn).toBe(-0.25);
  });

  it('walk by three times the descending rate, held back by stop', () => {
    // 1 - exp(-(4 + 2 + 3 * 2) / 10) = 0.69881; stop = 1 - exp(-1) = 0.6321.
    expect(readDrives(rates({ walk: 4, turn_left: 2, descending: 2 })).walk).toBe(0.6988);
    expect(readDrives(rates({ walk: 4, turn_left: 2, descending: 2, stop: 40 })).walk).toBe(0.2571);
  });

  it('stay within their published range at any rate', () => {
    const all = readDrives(rates(Object.fromEntries(CHANNEL_IDS.map((id) => [id, 5000]))));
    for (const { id, minimum, maximum } of DRIVES) {
      expect(all[id]).toBeGreaterThanOrEqual(minimum);
      expect(all[id]).toBeLessThanOrEqual(maximum);
    }
  });
});
