/**
 * Turns drives into movement: position of the fly, progress of each action, and positions of its feet. All of it is
 * engineered to make each drive visible, and not measured on flies.
 *
 * `advance` is a pure function of a state, drives and a time step, so the same drives give the same movement.
 */
import { LEGS } from './anatomy.js';
import type { Drives } from './drive-formulas.js';

/** Actions that build up and fade; the level of each is from 0 to 1. */
export const ACTIONS = [
  'escape',
  'stop',
  'backward',
  'landing',
  'wing',
  'groom',
  'proboscis',
  'courtship',
  'approach',
  'avoid',
  'phototaxis',
  'hygrotaxis',
  'reject',
] as const;
export type Action = (typeof ACTIONS)[number];

export interface Foot {
  /** Position on the ground of its stance, or of its last one, in the coordinates of `Motion`. */
  readonly x: number;
  readonly z: number;
  /** Completed fraction of its swing, 0 to 1; undefined while it stands. */
  readonly swing: number | undefined;
}

export interface Motion {
  readonly timeMs: number;
  /** Position on the ground, and direction in radians: 0 along +z, positive to the fly's left. */
  readonly x: number;
  readonly z: number;
  readonly heading: number;
  /** Forward, in units a second. */
  readonly speed: number;
  /** To the fly's left, in radians a second. */
  readonly turning: number;
  /** The drive `turn`, positive to the right, unlike `turning`. It rises and fades like the levels. */
  readonly turn: number;
  /** Phase of its steps, in cycles from 0 to 1. */
  readonly step: number;
  /** In the order of LEGS. */
  readonly feet: readonly Foot[];
  readonly levels: Readonly<Record<Action, number>>;
  /** 0 stands, 1 flies. */
  readonly flight: number;
  /** Direction of `flight`: up to 1 if true, down to 0 if false. */
  readonly takesOff: boolean;
  /** Height of the front legs in grooming: 0 on the ground, 1 at the head. */
  readonly groomReach: number;
  /** Strokes of the front legs so far, in cycles. */
  readonly groomStroke: number;
  /** Angle in radians by which it has turned away in avoidance. */
  readonly turnedAway: number;
  /** Side to which it turns away or evades: 1 left, -1 right. */
  readonly evades: 1 | -1;
}

/** Fraction of a step in which a foot is lifted. Below one half, so that one tripod always stands. */
export const SWING_SHARE = 0.4;
const TOP_SPEED = 4.5;
const TOP_TURNING = 2.2;
const TOP_STEPS_PER_SECOND = 3.2;
/** A turn in place moves the feet as fast as walking does at this distance from the centre. */
const FOOT_DISTANCE = 1.4;
/** Speed of the feet below which it stands. */
const STANDS_BELOW = 0.06;
/** The slowest step rate, at which a lifted foot is put down. */
const SETTLING_STEPS_PER_SECOND = 1.8;
const SPEED_HALF_LIFE_MS = 90;
const BRAKING_HALF_LIFE_MS = 40;
/** Speed of the feet below which it can take off. */
const CROUCHES_BELOW = 0.4;
const LEVEL_HALF_LIFE_MS = 110;
/** Levels of escape above which it takes off, and below which it lands. */
export const TAKES_OFF_ABOVE = 0.6;
const LANDS_BELOW = 0.3;
const TAKE_OFF_MS = 750;
const LANDING_MS = 1000;
const FLIGHT_SPEED = 3;
/** It flies forward only above this value of `flight`. Below it, the fly rises or descends vertically. */
const HOVERS_BELOW = 0.85;
const GROOM_REACH_MS = 320;
const GROOM_STROKES_PER_SECOND = 2.2;
const TURNS_AWAY_RADIANS = 2.5;
const FORGETS_MS = 1500;

/** Standing on the origin, facing +z, with no drive. */
export const AT_REST: Motion = {
  timeMs: 0,
  x: 0,
  z: 0,
  heading: 0,
  speed: 0,
  turning: 0,
  turn: 0,
  // All six feet stand, and the second tripod is about to swing.
  step: SWING_SHARE + 0.05,
  feet: LEGS.map(({ stands: [x, z] }) => ({ x, z, swing: undefined })),
  levels: Object.fromEntries(ACTIONS.map((action) => [action, 0])) as Record<Action, number>,
  flight: 0,
  takesOff: false,
  groomReach: 0,
  groomStroke: 0,
  turnedAway: 0,
  evades: -1,
};

/** 0 below `low`, 1 above `high`, smooth in between. */
export function smoothStep(low: number, high: number, value: number): number {
  const share = clamp((value - low) / (high - low), 0, 1);
  return share * share * (3 - 2 * share);
}

/** Visible strength of a level. A drive of a third is already strong. */
export function shown(level: number): number {
  return smoothStep(0.06, 0.6, level);
}

/**
 * The state after a short time of constant drives.
 * @param drive missing drives count as 0; unknown drives are ignored
 * @param elapsedMs at most about 10 ms, so that steps and turns stay smooth
 */
export function advance(before: Motion, drive: Drives, elapsedMs: number): Motion {
  if (elapsedMs <= 0) return before;
  const levels = levelsAfter(before, drive, elapsedMs);
  const { flight, takesOff } = fly(before, levels, elapsedMs);
  const groomReach = raiseFrontLegs(before, levels, elapsedMs);
  const seconds = elapsedMs / 1000;
  const isAvoiding = shown(before.levels.avoid) > 0.05;
  const turnedBack = isAvoiding
    ? Math.max(0, before.turning * before.evades) * seconds
    : -elapsedMs / FORGETS_MS;
  const after: Motion = {
    timeMs: before.timeMs + elapsedMs,
    ...moved(before, seconds),
    ...paceAfter(before, drive, elapsedMs),
    turn: towards(before.turn, valueOf(drive, 'turn', -1), elapsedMs, LEVEL_HALF_LIFE_MS),
    step: before.step,
    feet: before.feet,
    levels,
    flight,
    takesOff,
    groomReach,
    groomStroke: before.groomStroke + (groomReach > 0 ? GROOM_STROKES_PER_SECOND * seconds : 0),
    turnedAway: clamp(before.turnedAway + turnedBack, 0, TURNS_AWAY_RADIANS),
    evades: evadedSide(before),
  };
  return flight > 0
    ? { ...after, feet: feetInFlight(before, after) }
    : walkOn(before, after, drive, elapsedMs);
}

function levelsAfter({ levels: before }: Motion, drive: Drives, elapsedMs: number): Motion['levels'] {
  const left = 2 ** (-elapsedMs / LEVEL_HALF_LIFE_MS);
  const levels = { ...before };
  for (const action of ACTIONS) {
    const target = action === 'proboscis' && groomsRather(drive) ? 0 : valueOf(drive, action, 0);
    levels[action] = target + (before[action] - target) * left;
  }
  return levels;
}

/**
 * Touch also excites motor neurons of the proboscis. If the drive to groom is stronger than that to feed, the mouth
 * stays shut.
 */
function groomsRather(drive: Drives): boolean {
  return valueOf(drive, 'groom', 0) > valueOf(drive, 'proboscis', 0);
}

/** Side to which it evades. It stays the same during an evasion; otherwise it is the side of the last turn. */
function evadedSide({ evades, levels, turn }: Motion): 1 | -1 {
  const isEvading = shown(levels.avoid) > 0 || shown(levels.wing) > 0;
  return isEvading || turn === 0 ? evades : turn > 0 ? -1 : 1;
}

/** Speed and turning after `elapsedMs`, if nothing else changes. */
function paceAfter(before: Motion, drive: Drives, elapsedMs: number): { speed: number; turning: number } {
  const { levels, flight, takesOff, evades } = before;
  if (flight > 0) {
    const share = smoothStep(HOVERS_BELOW, 1, flight);
    const turning = evades * 0.9 * shown(levels.wing) - TOP_TURNING * before.turn;
    return {
      speed: towards(before.speed, share * FLIGHT_SPEED, elapsedMs, BRAKING_HALF_LIFE_MS),
      turning: towards(before.turning, share * turning, elapsedMs, BRAKING_HALF_LIFE_MS),
    };
  }
  if (before.groomReach > 0) return { speed: 0, turning: 0 };
  // It does one thing at a time; take-off comes first, then stopping, feeding, grooming and walking.
  const free = takesOff
    ? 0
    : (1 - shown(levels.stop)) * (1 - shown(levels.proboscis)) * (1 - shown(levels.groom));
  // A bad taste is in front, so it steps back before it turns away.
  const rejecting = shown(levels.reject);
  const backward = Math.max(shown(levels.backward), 0.45 * rejecting);
  const turnsAway =
    shown(levels.avoid) *
    (1 - rejecting) *
    smoothStep(TURNS_AWAY_RADIANS, TURNS_AWAY_RADIANS - 0.6, before.turnedAway);
  const forward =
    valueOf(drive, 'walk', 0) *
    (1 - Math.max(backward, rejecting)) *
    (1 - 0.55 * shown(levels.courtship)) *
    (1 - 0.6 * turnsAway);
  const wanted = {
    speed: free * TOP_SPEED * (forward - 0.7 * backward),
    turning: free * (evades * 1.9 * turnsAway - TOP_TURNING * before.turn),
  };
  const halfLifeMs = takesOff ? BRAKING_HALF_LIFE_MS : SPEED_HALF_LIFE_MS;
  const speed = towards(before.speed, wanted.speed, elapsedMs, halfLifeMs);
  const turning = towards(before.turning, wanted.turning, elapsedMs, halfLifeMs);
  const stands = Math.max(footSpeed(wanted), footSpeed({ speed, turning })) < STANDS_BELOW;
  return stands ? { speed: 0, turning: 0 } : { speed, turning };
}

/** Take-off and landing always run to their end. */
function fly(
  before: Motion,
  levels: Motion['levels'],
  elapsedMs: number,
): { flight: number; takesOff: boolean } {
  const { flight, takesOff } = before;
  if (takesOff) {
    if (flight === 1 && levels.escape < LANDS_BELOW) return { flight, takesOff: false };
    // It crouches when it stands on all six.
    const stands = before.groomReach === 0 && standsOnAll(before) && footSpeed(before) < CROUCHES_BELOW;
    if (flight === 0 && !stands) return { flight, takesOff };
    return { flight: Math.min(1, flight + elapsedMs / TAKE_OFF_MS), takesOff };
  }
  if (flight > 0) return { flight: Math.max(0, flight - elapsedMs / LANDING_MS), takesOff };
  return { flight, takesOff: levels.escape > TAKES_OFF_ABOVE };
}

/** Next height of the front legs, which leave the ground only when the fly stands on all six. */
function raiseFrontLegs(before: Motion, levels: Motion['levels'], elapsedMs: number): number {
  const { groomReach, flight, takesOff } = before;
  const grooms = shown(levels.groom) > 0.4 && flight === 0 && !takesOff;
  const rises = grooms && (groomReach > 0 || (standsOnAll(before) && footSpeed(before) < STANDS_BELOW));
  const share = elapsedMs / GROOM_REACH_MS;
  return clamp(groomReach + (rises ? share : -share), 0, 1);
}

function standsOnAll({ feet }: Motion): boolean {
  return feet.every(({ swing }) => swing === undefined);
}

/** Speed of the feet against the body. */
function footSpeed({ speed, turning }: Pick<Motion, 'speed' | 'turning'>): number {
  return Math.abs(speed) + FOOT_DISTANCE * Math.abs(turning);
}

function moved({ x, z, heading, speed, turning }: Motion, seconds: number) {
  const along = heading + (turning * seconds) / 2;
  return {
    x: x + Math.sin(along) * speed * seconds,
    z: z + Math.cos(along) * speed * seconds,
    heading: heading + turning * seconds,
  };
}

/** A standing foot keeps its position on the ground; a lifted foot swings to its next footfall. */
function walkOn(before: Motion, after: Motion, drive: Drives, elapsedMs: number): Motion {
  const walks = footSpeed(before) >= STANDS_BELOW && !before.takesOff;
  const stepsPerSecond = walks || !standsOnAll(before) ? stepRate(before) : 0;
  const step = before.step + (stepsPerSecond * elapsedMs) / 1000;
  const feet = before.feet.map((foot, leg): Foot => {
    const from = fraction(before.step + LEGS[leg]!.stepOffset);
    const to = from + step - before.step;
    if (foot.swing === undefined) return to >= 1 && walks ? { ...foot, swing: (to - 1) / SWING_SHARE } : foot;
    if (to < SWING_SHARE) return { ...foot, swing: to / SWING_SHARE };
    // The foot came down within this time step, so use the footfall of that moment.
    const downMs = (elapsedMs * (SWING_SHARE - from)) / (to - from);
    const [x, z] = footfall({ ...moved(before, downMs / 1000), ...paceAfter(before, drive, downMs) }, leg);
    return { x, z, swing: undefined };
  });
  return { ...after, step: fraction(step), feet };
}

/** Steps a second. It is never 0, so that a lifted foot comes down even if the fly stands still. */
function stepRate(pace: Pick<Motion, 'speed' | 'turning'>): number {
  return Math.max(
    SETTLING_STEPS_PER_SECOND,
    TOP_STEPS_PER_SECOND * Math.sqrt(Math.min(1, footSpeed(pace) / TOP_SPEED)),
  );
}

/**
 * Position of a leg's next footfall. It is ahead of the foot's middle position, so that the foot passes that position
 * halfway through its stance.
 */
export function footfall(
  { x, z, heading, speed, turning }: Pick<Motion, 'x' | 'z' | 'heading' | 'speed' | 'turning'>,
  leg: number,
): readonly [x: number, z: number] {
  const [standsX, standsZ] = LEGS[leg]!.stands;
  const half = (1 - SWING_SHARE) / stepRate({ speed, turning }) / 2;
  const angle = clamp(turning * half, -0.3, 0.3);
  const turnedX = standsX * Math.cos(angle) + standsZ * Math.sin(angle);
  const turnedZ = standsZ * Math.cos(angle) - standsX * Math.sin(angle) + clamp(speed * half, -0.42, 0.42);
  return [
    x + turnedX * Math.cos(heading) + turnedZ * Math.sin(heading),
    z + turnedZ * Math.cos(heading) - turnedX * Math.sin(heading),
  ];
}

/** In flight, feet are directly below the body. During vertical ascent and descent they keep their positions. */
function feetInFlight(before: Motion, after: Motion): readonly Foot[] {
  if (after.flight <= HOVERS_BELOW && before.flight <= HOVERS_BELOW) return before.feet;
  return LEGS.map((_, leg) => {
    const [x, z] = footfall({ ...after, speed: 0, turning: 0 }, leg);
    return { x, z, swing: undefined };
  });
}

function valueOf(drive: Drives, id: string, lowest: -1 | 0): number {
  const value = drive[id];
  return value === undefined || Number.isNaN(value) ? 0 : clamp(value, lowest, 1);
}

function towards(value: number, target: number, elapsedMs: number, halfLifeMs: number): number {
  return target + (value - target) * 2 ** (-elapsedMs / halfLifeMs);
}

function fraction(value: number): number {
  return value - Math.floor(value);
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}
