import { CHANNEL_IDS, type ChannelId } from './populations.js';
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

  it('add up the channels that a drive reads, each by its own scale', () => {
    // 1 - exp(-(5 / 10 + 30 / 60)), 1 - exp(-(20 / 40 + 30 / 40)), 1 - exp(-(90 / 60 + 30 / 60))
    expect(readDrives(rates({ groom: 5, touch_relay: 30 })).groom).toBe(0.6321);
    expect(readDrives(rates({ song_relay: 20, pheromone_relay: 30 })).courtship).toBe(0.7135);
    expect(readDrives(rates({ heat_relay: 90, bitter_relay: 30 })).avoid).toBe(0.8647);
    expect(readDrives(rates({ heat_relay: 90, bitter_relay: 30 })).reject).toBe(0.3935);
    expect(readDrives(rates({ food_relay: 90, pheromone_relay: 30 })).approach).toBe(0.8647);
    expect(readDrives(rates({ colour_relay: 40 })).phototaxis).toBe(0.6321);
    expect(readDrives(rates({ humid_relay: 60 })).hygrotaxis).toBe(0.6321);
  });

  it('walk if something draws or repels', () => {
    // approach = avoid = phototaxis = hygrotaxis = 0.6321; 1 - exp(-0.6321) = 0.46853, and four of them 0.92022.
    expect(readDrives(rates({ food_relay: 60 })).walk).toBe(0.4685);
    const all = { food_relay: 60, heat_relay: 60, colour_relay: 40, humid_relay: 60 };
    expect(readDrives(rates(all)).walk).toBe(0.9202);
    // 2 / 10 + 0.6321, held back by stop = 0.6321: (1 - exp(-0.8321)) * 0.3679
    expect(readDrives(rates({ food_relay: 60, walk: 2, stop: 40 })).walk).toBe(0.2078);
  });

  it('say in their formulas which channels they read, and nothing else', () => {
    const silent = readDrives(rates({}));
    for (const { id, formula } of DRIVES) {
      const names = [...formula.matchAll(/channels\.(\w+)/g)].map(([, name]) => name!);
      for (const drive of formula.matchAll(/drive\.(\w+)/g)) {
        const other = DRIVES.find((each) => each.id === drive[1])!;
        names.push(...[...other.formula.matchAll(/channels\.(\w+)/g)].map(([, name]) => name!));
      }
      for (const channel of CHANNEL_IDS) {
        // A channel that only holds back shows beside something to hold back.
        const others = id === 'walk' ? { walk: 1 } : {};
        const before = id === 'walk' ? readDrives(rates(others))[id] : silent[id];
        const moved = readDrives(rates({ ...others, [channel]: 7 }))[id] !== before;
        expect([id, channel, moved]).toEqual([id, channel, names.includes(channel)]);
      }
    }
  });

  it('stay within their published range at any rate', () => {
    const all = readDrives(rates(Object.fromEntries(CHANNEL_IDS.map((id) => [id, 5000]))));
    for (const { id, minimum, maximum } of DRIVES) {
      expect(all[id]).toBeGreaterThanOrEqual(minimum);
      expect(all[id]).toBeLessThanOrEqual(maximum);
    }
  });
});
