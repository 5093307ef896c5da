/** Movement of the fly, judged only by its poses, since these are drawn. */
import { LEGS } from '../../clients/fly/src/anatomy.js';
import { Choreography } from '../../clients/fly/src/choreography.js';
import { jointsOf } from '../../clients/fly/src/legs.js';
import { wingTipsOf } from '../../clients/fly/src/wing-tips.js';
import { poseOf, type Pose } from '../../clients/fly/src/pose.js';
import { DRIVES } from '../../src/experiments/presets/drives.js';

type Script = readonly (readonly [fromMs: number, drive: Readonly<Record<string, number>>])[];

const NAMES = LEGS.map(({ name }) => name);
const TRIPODS = [
  ['L1', 'L3', 'R2'],
  ['L2', 'R1', 'R3'],
];
/** Drives as of one run after another, with every transition between standing, walking, grooming and flight. */
const EVERYTHING: Script = [
  [0, { walk: 0.8, approach: 0.9 }],
  [2000, { walk: 0.7, turn: -0.7 }],
  [3500, { walk: 0.6, groom: 0.9 }],
  [6000, { walk: 0.6, avoid: 0.9 }],
  [8000, { escape: 0.95, wing: 0.6, landing: 0.3 }],
  [11000, { walk: 0.9, turn: 0.8 }],
  [14000, { escape: 0.9, walk: 0.9 }],
  [14300, { groom: 1 }],
  [17000, { proboscis: 0.9, stop: 0.7 }],
  [18500, { backward: 0.9 }],
  [20000, { reject: 0.8, avoid: 0.8, walk: 0.5 }],
  [22000, { courtship: 0.6, walk: 0.8 }],
  [24000, { phototaxis: 0.8, walk: 0.5 }],
  [26000, { hygrotaxis: 0.8, walk: 0.6 }],
  [28000, {}],
];
const END_MS = 30_000;
const EVERY_MS = 2;

function performed(script: Script): (timeMs: number) => Pose {
  const moments = script.map(([fromMs, drive]) => ({ fromMs, drive }));
  const choreography = new Choreography(moments, 1);
  return (timeMs) => poseOf(choreography.at(timeMs));
}

function times(fromMs: number, toMs: number, everyMs: number): number[] {
  return Array.from({ length: Math.floor((toMs - fromMs) / everyMs) }, (_, i) => fromMs + i * everyMs);
}

const lifted = ({ feet }: Pose): string[] => NAMES.filter((_, leg) => !feet[leg]!.stands);

/** Place of a foot on the ground, which does not move with the fly. */
function onGround({ place, feet }: Pose, leg: number): { x: number; z: number } {
  const [tipX, , tipZ] = feet[leg]!.tip;
  const [cos, sin] = [Math.cos(place.heading), Math.sin(place.heading)];
  return { x: place.x + tipX * cos + tipZ * sin, z: place.z + tipZ * cos - tipX * sin };
}

describe('a fly that walks', () => {
  const at = performed([[0, { walk: 0.8 }]]);
  const poses = times(0, 4000, 2).map(at);

  it('lifts its legs in tripods, by turns, each several times', () => {
    const groups = poses.map(lifted).filter((each) => each.length > 0);
    const mixed = groups.filter(
      (each) => !TRIPODS.some((tripod) => each.every((name) => tripod.includes(name))),
    );
    expect(mixed).toEqual([]);
    const turns = groups.map((each) => (TRIPODS[0]!.includes(each[0]!) ? 0 : 1));
    const changes = turns.filter((turn, i) => i > 0 && turn !== turns[i - 1]).length;
    expect(changes).toBeGreaterThan(10);
    for (const tripod of TRIPODS)
      expect(groups).toContainEqual(NAMES.filter((name) => tripod.includes(name)));
  });

  it('stands on three feet at least', () => {
    expect(Math.max(...poses.map((pose) => lifted(pose).length))).toBe(3);
  });

  it('goes where it faces, further for a stronger drive', () => {
    const far = (walk: number) => performed([[0, { walk }]])(3000).place;
    expect(far(0.8).x).toBeCloseTo(0, 9);
    expect(far(0.8).z).toBeGreaterThan(5);
    expect(far(0.8).z).toBeGreaterThan(1.5 * far(0.4).z);
  });

  it.each([
    ['left', -0.6],
    ['right', 0.6],
  ])('turns to its %s by the sign of turn', (side, turn) => {
    const { heading } = performed([[0, { walk: 0.5, turn }]])(1000).place;
    expect(Math.sign(heading)).toBe(side === 'left' ? 1 : -1);
    expect(Math.abs(heading)).toBeGreaterThan(0.5);
  });

  it('walks backward, and shrinks back from bitter food', () => {
    expect(performed([[0, { backward: 0.8, walk: 0.5 }]])(2000).place.z).toBeLessThan(-1);
    expect(performed([[0, { reject: 0.76, avoid: 0.76, walk: 0.54 }]])(2000).place.z).toBeLessThan(-0.5);
  });

  it('turns away from a source that it avoids, then leaves', () => {
    const avoids = performed([[0, { avoid: 0.85, walk: 0.74 }]]);
    const [turned, gone] = [avoids(2500).place, avoids(5000).place];
    expect(Math.abs(turned.heading)).toBeGreaterThan(1.8);
    expect(Math.abs(gone.heading - turned.heading)).toBeLessThan(0.5);
    expect(gone.z).toBeLessThan(turned.z);
  });

  it.each(['stop', 'proboscis', 'groom'])('is brought to a halt by %s', (drive) => {
    const halted = performed([
      [0, { walk: 0.8 }],
      [1010, { walk: 0.8, [drive]: 1 }],
    ]);
    expect(halted(3000).place).toEqual(halted(2400).place);
    expect(lifted(halted(3000))).toEqual(drive === 'groom' ? ['L1', 'R1'] : []);
  });
});

describe('a fly that does one thing after the other', () => {
  const at = performed(EVERYTHING);
  const moments = times(0, END_MS, EVERY_MS);
  const poses = moments.map(at);

  it('never slips: a foot that stands keeps its place on the ground', () => {
    let slipped = 0;
    let [stood, highest] = [0, 0];
    poses.forEach((pose, i) => {
      const before = poses[i - 1];
      if (before === undefined) return;
      NAMES.forEach((_, leg) => {
        if (!before.feet[leg]!.stands || !pose.feet[leg]!.stands) return;
        const [from, to] = [onGround(before, leg), onGround(pose, leg)];
        slipped = Math.max(slipped, Math.hypot(to.x - from.x, to.z - from.z));
        highest = Math.max(highest, Math.abs(pose.feet[leg]!.tip[1]));
        stood++;
      });
    });
    expect(stood).toBeGreaterThan(25_000);
    expect(highest).toBe(0);
    expect(slipped).toBeLessThan(1e-9);
  });

  it('stands on three feet at least, or flies', () => {
    const counts = new Set(poses.map((pose) => lifted(pose).length));
    expect([...counts].filter((count) => count > 3)).toEqual([6]);
    const flights = poses.map((pose) => lifted(pose).length === 6);
    const takeOffs = flights.filter((flies, i) => flies && !flights[i - 1]).length;
    expect(takeOffs).toBe(2);
    expect(flights.at(-1)).toBe(false);
  });

  it('moves without jumps', () => {
    const places = poses.map((pose) => [
      ...pose.body.centre,
      ...NAMES.flatMap((_, leg) => jointsOf(pose, leg).points.flat()),
    ]);
    const angles = poses.map((pose) => [
      ...Object.values(pose.head),
      pose.body.pitch,
      pose.body.roll,
      ...pose.antennae.flatMap(({ up, out }) => [up, out]),
      ...pose.wings.flatMap(({ out, up, twist }) => [out, up, twist]),
      ...Object.values(pose.proboscis),
      ...Object.values(pose.abdomen),
      pose.blur,
    ]);
    const fastest = (series: readonly (readonly number[])[]): number =>
      series
        .slice(1)
        .reduce(
          (most, values, i) =>
            values.reduce((each, value, j) => Math.max(each, Math.abs(value - series[i]![j]!)), most),
          0,
        );
    // A wing that beats 9 times a second, 0.85 radians to either side, turns by 0.05 in a millisecond.
    expect(fastest(places)).toBeLessThan(0.04 * EVERY_MS);
    expect(fastest(angles)).toBeLessThan(0.06 * EVERY_MS);
  });

  it('has legs that reach the ground, and joints that keep their lengths', () => {
    const outOfReach: string[] = [];
    let stretched = 0;
    poses.forEach((pose, i) => {
      if (i % 5 !== 0) return;
      LEGS.forEach(({ name, lengths }, leg) => {
        const { points, isOutOfReach } = jointsOf(pose, leg);
        if (isOutOfReach) outOfReach.push(`${name} at ${moments[i]} ms`);
        lengths.forEach((length, segment) => {
          const [from, to] = [points[segment]!, points[segment + 1]!];
          const found = Math.hypot(to[0] - from[0], to[1] - from[1], to[2] - from[2]);
          stretched = Math.max(stretched, Math.abs(found - length));
        });
      });
    });
    expect(outOfReach).toEqual([]);
    expect(stretched).toBeLessThan(1e-9);
  });

  it('says how high its wings reach, the same all through a beat', () => {
    const beatMs = 1000 / 9;
    const flying = times(9000, 10_500, EVERY_MS).map(at);
    const highestAt = ({ wings: [wing] }: Pose) => wing.highest;
    const above = poses.flatMap(({ wings }) => wings.filter(({ up, highest }) => up > highest + 1e-9));
    expect(above).toEqual([]);
    expect(Math.max(...flying.map(highestAt)) - Math.min(...flying.map(highestAt))).toBeLessThan(0.05);
    const beat = flying.slice(0, beatMs / EVERY_MS);
    expect(Math.max(...beat.map(({ wings: [wing] }) => wing.up))).toBeCloseTo(highestAt(beat[0]!), 1);
    // In flight the tips swing far above the body; at rest they are at its rear.
    const flown = Math.max(...wingTipsOf(beat[0]!).map(([, y]) => y));
    expect(flown - beat[0]!.body.centre[1]).toBeGreaterThan(1.5);
    const [rested] = wingTipsOf(at(-1));
    expect(rested![2]).toBeLessThan(-2);
  });

  it('shows the same pose for a moment, whichever was asked for before', () => {
    const scrubbed = performed(EVERYTHING);
    for (const i of [14_999, 3, 7_517, 4_001, 4_000, 11_111, 0, 7_517]) {
      expect(scrubbed(moments[i]!)).toEqual(poses[i]);
    }
    // Between two steps of time as well.
    const between = scrubbed(12_345.678);
    scrubbed(20_000);
    expect(scrubbed(12_345.678)).toEqual(between);
  });

  it('rests before the start', () => {
    expect(at(-50)).toEqual(at(0));
    expect(at(-Infinity)).toEqual(at(0));
  });

  it('shows the end for ever, and no moment that is no number', () => {
    expect(at(Infinity)).toEqual(at(1e9));
    expect(() => at(NaN)).toThrow('timeMs is NaN; it must be a number.');
  });
});

describe('each drive of the service', () => {
  const ids = DRIVES.map(({ id }) => id);
  /** A walking fly, so that stops are visible. */
  const alone = (drive: Readonly<Record<string, number>>) => performed([[0, { walk: 0.3, ...drive }]]);

  const shows = (drive: Readonly<Record<string, number>>): string => {
    return JSON.stringify({ ...alone(drive)(1500), place: undefined });
  };
  const shown = new Map([
    ['none', shows({})],
    ...ids.map((id) => [id, shows(id === 'walk' ? { walk: 0.9 } : { [id]: 0.8 })] as const),
  ]);

  it.each(ids)('%s is seen, and differs from all others', (id) => {
    expect([...shown].filter(([, pose]) => pose === shown.get(id)).map(([drive]) => drive)).toEqual([id]);
  });

  it('moves as its words say', () => {
    const at = (drive: Readonly<Record<string, number>>) => alone(drive)(1500);
    const rest = at({});
    expect(at({ escape: 0.9 }).body.centre[1]).toBeGreaterThan(rest.body.centre[1] + 1);
    expect(at({ proboscis: 0.9 }).proboscis.extended).toBeGreaterThan(0.8);
    expect(at({ proboscis: 0.9, reject: 0.8 }).proboscis.extended).toBe(0);
    expect(at({ wing: 0.8 }).wings[0].out).toBeGreaterThan(1);
    expect(at({ courtship: 0.6 }).abdomen.open).toBeCloseTo(1, 3);
    expect(at({ phototaxis: 0.8 }).head.pitch).toBeGreaterThan(0.2);
    expect(at({ hygrotaxis: 0.8 }).antennae[0].out).toBeGreaterThan(0.5);
    expect(at({ approach: 0.9 }).antennae[0].up).toBeGreaterThan(0.5);
    const [left, right] = [at({ groom: 0.9 }).feet[0]!.tip, at({ groom: 0.9 }).feet[3]!.tip];
    for (const tip of [left, right]) expect(tip[1]).toBeGreaterThan(0.3);
  });

  it('counts for nothing if it is missing, unknown or out of its range', () => {
    expect(alone({ escape: NaN })(1000)).toEqual(alone({})(1000));
    expect(alone({ dance: 1 })(1000)).toEqual(alone({})(1000));
    expect(alone({ groom: 40 })(1000)).toEqual(alone({ groom: 1 })(1000));
    expect(alone({ groom: -3 })(1000)).toEqual(alone({})(1000));
  });
});

describe('the pace', () => {
  it('is told by slowDown', () => {
    const slow = new Choreography([{ fromMs: 0, drive: { walk: 0.8 } }], 50);
    const fast = new Choreography([{ fromMs: 0, drive: { walk: 0.8 } }], 10);
    expect(slow.at(20)).toEqual(fast.at(100));
    for (const wrong of [0, -1, NaN, Infinity]) {
      expect(() => new Choreography([], wrong)).toThrow(`slowDown is ${wrong}; it must be a number above 0.`);
    }
  });
});
