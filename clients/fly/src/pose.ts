/** Turns a state of movement into a pose: positions of body, head, wings and feet. A pure function, like `advance`. */
import { LEGS, STANDING_HEIGHT, type Vec3 } from './anatomy.js';
import { ACTIONS, footfall, type Motion, shown, smoothStep } from './motion.js';

/** Positions and angles of all parts of the body. Angles are in radians; the right side mirrors the left. */
export interface Pose {
  /** Position on the ground, and direction. */
  readonly place: { readonly x: number; readonly z: number; readonly heading: number };
  /** Thorax: its centre above `place`; pitch is nose up, roll left side up. */
  readonly body: { readonly centre: Vec3; readonly pitch: number; readonly roll: number };
  /** Head against the thorax: pitch is nose up, yaw towards its left, roll left side up. */
  readonly head: {
    readonly pitch: number;
    readonly yaw: number;
    readonly roll: number;
    readonly pulledIn: number;
  };
  /** Left and right: up, and towards the outside. */
  readonly antennae: readonly [Antenna, Antenna];
  /** Extension, and spread of its lobes, 0 to 1. */
  readonly proboscis: { readonly extended: number; readonly spread: number };
  /** Bend downwards along its length; length, 1 at rest; opening of the plates at its tip, 0 to 1. */
  readonly abdomen: { readonly bend: number; readonly length: number; readonly open: number };
  readonly wings: readonly [Wing, Wing];
  /** Visibility of the blur of beating wings, 0 to 1. */
  readonly blur: number;
  /** In the order of LEGS. */
  readonly feet: readonly FootPose[];
}
export interface Antenna {
  readonly up: number;
  readonly out: number;
}
export interface Wing {
  /** 0 folded over the abdomen, a quarter turn to the side. */
  readonly out: number;
  readonly up: number;
  /** Highest angle of its beat; `up` if it does not beat. */
  readonly highest: number;
  /** Leading edge up. */
  readonly twist: number;
}
export interface FootPose {
  /** Position of its tip, in the coordinates of the fly: x to its left, y from the ground, z forward from `place`. */
  readonly tip: Vec3;
  /** Steepness of the tarsus. If positive, its end at the tibia is above its tip. */
  readonly tarsus: number;
  /** 0 knee up, 1 knee to the outside. */
  readonly kneeOut: number;
  readonly stands: boolean;
}

const TAU = 2 * Math.PI;
/** Height to which a foot is lifted in a step. */
const LIFT = 0.26;
const FLIGHT_HEIGHT = 1.35;
/** Visible beats a second; a real fly's 200 would be too fast to see. */
const WING_BEATS_PER_SECOND = 9;
const BREATHS_PER_SECOND = 0.7;
/** Values of `flight`. It crouches up to CROUCHED; its legs push up to PUSHED; then its feet are in the air. */
const CROUCHED = 0.4;
const PUSHED = 0.55;
const AIRBORNE = 0.8;

/** Values on which several parts of the body depend. */
interface Acting {
  readonly motion: Motion;
  readonly seconds: number;
  /** Visible strength of each action, 0 to 1. */
  readonly level: Motion['levels'];
  /** Fractions from 0 to 1: standing on the ground, feet in the air, front legs at the head. */
  readonly ground: number;
  readonly air: number;
  readonly groom: number;
  /** Strength of crouching and of rearing up in a take-off. */
  readonly crouch: number;
  readonly rear: number;
  /** Strength of escape on the ground, which may be too weak for a take-off. */
  readonly startled: number;
}

export function poseOf(motion: Motion): Pose {
  const { flight, takesOff } = motion;
  const level = { ...motion.levels };
  for (const action of ACTIONS) level[action] = shown(level[action]);
  const ground = 1 - smoothStep(0, CROUCHED, flight);
  const acting: Acting = {
    motion,
    seconds: motion.timeMs / 1000,
    level,
    ground,
    air: smoothStep(PUSHED, AIRBORNE, flight),
    groom: smoothStep(0, 1, motion.groomReach),
    crouch: takesOff ? bump(flight / PUSHED) : 0,
    rear: takesOff ? bump((flight - CROUCHED) / (AIRBORNE - CROUCHED)) : 0,
    startled: level.escape * ground,
  };
  const body = bodyPose(acting);
  return {
    place: { x: motion.x, z: motion.z, heading: motion.heading },
    body,
    head: headPose(acting),
    antennae: [antennaPose(acting, 1), antennaPose(acting, -1)],
    proboscis: proboscisPose(acting),
    abdomen: abdomenPose(acting),
    wings: [wingPose(acting, 1), wingPose(acting, -1)],
    blur: Math.max(beating(acting), 0.35 * ground * level.wing),
    feet: LEGS.map((_, leg) => footPose(acting, body, leg)),
  };
}

function bodyPose({
  motion,
  seconds,
  level,
  ground,
  air,
  groom,
  crouch,
  rear,
  startled,
}: Acting): Pose['body'] {
  const { flight, takesOff } = motion;
  const risen = takesOff ? smoothStep(PUSHED - 0.1, 1, flight) : smoothStep(0.05, 1, flight);
  const walks = Math.min(1, Math.abs(motion.speed) / 2);
  const standing =
    0.02 * walks * Math.sin(2 * TAU * motion.step) +
    0.06 * level.approach +
    0.12 * level.phototaxis +
    0.2 * level.landing -
    0.1 * (level.avoid + level.stop + level.hygrotaxis) -
    0.06 * level.proboscis -
    0.12 * startled;
  return {
    centre: [
      0.1 * groom * Math.sin((TAU * motion.groomStroke) / 4),
      STANDING_HEIGHT +
        FLIGHT_HEIGHT * risen -
        0.22 * crouch +
        0.08 * air * Math.sin(TAU * 0.9 * seconds) +
        ground * standing,
      ground * (0.12 * level.proboscis - 0.2 * level.reject - 0.08 * level.avoid + 0.06 * level.hygrotaxis),
    ],
    pitch:
      0.5 * rear +
      air * (0.3 + 0.05 * Math.sin(TAU * 0.6 * seconds)) +
      ground *
        (0.26 * level.phototaxis +
          0.08 * level.approach +
          0.22 * level.reject +
          0.1 * groom -
          0.16 * level.proboscis -
          0.14 * level.hygrotaxis -
          0.04 * level.courtship),
    // It banks into turns: in a left turn, the left side is down.
    roll: air * (-0.25 * motion.turning - 0.3 * motion.evades * level.wing),
  };
}

function headPose({ motion, level, ground, groom, crouch }: Acting): Pose['head'] {
  const looksAway = motion.evades * level.avoid * smoothStep(1.5, 0.5, motion.turnedAway);
  return {
    pitch:
      ground *
        (0.3 * level.phototaxis + 0.3 * level.reject - 0.25 * level.proboscis - 0.25 * level.hygrotaxis) -
      0.4 * groom,
    yaw: ground * (0.35 * looksAway + 0.06 * motion.turning),
    roll: 0.3 * groom * Math.sin((TAU * motion.groomStroke) / 4),
    pulledIn: Math.max(ground * level.reject, 0.5 * crouch) - 0.7 * ground * level.approach,
  };
}

function antennaPose({ motion, seconds, level, groom }: Acting, side: 1 | -1): Antenna {
  const feels = side * Math.sin(TAU * 1.3 * seconds);
  const brushed = side * Math.sin(TAU * motion.groomStroke);
  return {
    up:
      0.8 * level.approach * (1 + 0.2 * feels) +
      0.3 * level.phototaxis -
      0.5 * level.avoid -
      0.3 * level.reject +
      0.55 * level.hygrotaxis * feels +
      0.25 * level.courtship * Math.sin(TAU * 7 * seconds) -
      0.35 * groom * (1 + brushed),
    out:
      0.15 * level.approach +
      0.6 * level.hygrotaxis +
      0.35 * level.courtship -
      0.2 * level.avoid -
      0.15 * groom,
  };
}

function proboscisPose({ seconds, level, ground }: Acting): Pose['proboscis'] {
  const pump = 0.5 + 0.5 * Math.sin(TAU * 1.6 * seconds);
  const extended = ground * level.proboscis * (1 - level.reject) * (0.85 + 0.15 * pump);
  return { extended, spread: smoothStep(0.6, 1, extended) * (0.5 + 0.5 * pump) };
}

function abdomenPose({ seconds, level, ground, crouch }: Acting): Pose['abdomen'] {
  const open = ground * level.courtship;
  return {
    bend: 0.55 * open + 0.12 * crouch - 0.1 * ground * level.phototaxis,
    length: 1 + 0.02 * Math.sin(TAU * BREATHS_PER_SECOND * seconds) + 0.08 * open,
    open,
  };
}

/** Strength of the wing beat, 1 in flight. */
function beating({ motion, air }: Acting): number {
  return Math.max(air, 0.75 * smoothStep(CROUCHED, PUSHED, motion.flight));
}

function wingPose(acting: Acting, side: 1 | -1): Wing {
  const { motion, seconds, level, ground, air, startled } = acting;
  const { flight, takesOff, evades } = motion;
  const beats = beating(acting);
  const beat = TAU * WING_BEATS_PER_SECOND * seconds;
  // Wings are raised before the legs push, and folded before the fly stands again.
  const raised = takesOff ? smoothStep(0.05, CROUCHED, flight) : smoothStep(0.1, 0.6, flight);
  const opened = Math.max(1.15 * level.wing, 0.5 * level.courtship, 0.45 * level.landing, 0.75 * startled);
  const lifted = ground * (0.3 * level.wing + 0.25 * level.courtship + 0.4 * startled);
  const middle =
    (1 - beats) * (0.75 * raised + lifted) + 0.25 * beats - 0.1 * air * side * evades * level.wing;
  const swing = 0.85 * beats + 0.22 * ground * level.wing;
  return {
    out: Math.max(1.35 * raised, ground * opened),
    up: middle + swing * Math.sin(beat),
    highest: middle + swing,
    twist: 0.5 * beats * Math.cos(beat),
  };
}

function footPose({ motion, level, air, groom }: Acting, body: Pose['body'], leg: number): FootPose {
  const { side, pair } = LEGS[leg]!;
  const { swing, x, z } = motion.feet[leg]!;
  let tip = toFly(motion, x, z);
  let tarsus = 0.45;
  if (swing !== undefined) {
    const [toX, toZ] = footfall(motion, leg);
    const target = toFly(motion, toX, toZ);
    const share = smoothStep(0, 1, swing);
    const lift = LIFT * Math.sin(Math.PI * swing) ** 2;
    tip = [mix(tip[0], target[0], share), lift, mix(tip[2], target[2], share)];
    tarsus = mix(tarsus, 0.75, lift / LIFT);
  }
  if (pair === 0 && groom > 0) {
    const grooming = groomingFoot(motion, side);
    tip = mix3(tip, grooming.tip, groom, 0.35);
    tarsus = mix(tarsus, grooming.tarsus, groom);
  }
  if (air > 0) {
    // During descent or a landing drive, the legs reach for the ground; otherwise they are drawn in.
    const reaches = motion.takesOff
      ? level.landing
      : Math.max(level.landing, smoothStep(1, AIRBORNE, motion.flight));
    const [drawnIn, reaching] = [FLIGHT_LEGS.drawnIn[pair], FLIGHT_LEGS.reaching[pair]];
    const [outwards, below, ahead] = [0, 1, 2].map((axis) => mix(drawnIn[axis]!, reaching[axis]!, reaches));
    tip = mix3(tip, fromThorax(body, [side * outwards!, -below!, ahead!]), air, 0);
    tarsus = mix(tarsus, mix(0.4, 0.2, reaches), air);
  }
  const kneeOut = pair === 0 ? groom : 0;
  return { tip, tarsus, kneeOut, stands: swing === undefined && air === 0 && !(pair === 0 && groom > 0) };
}

/** Outwards, below the centre of the thorax, ahead. */
const FLIGHT_LEGS = {
  drawnIn: [
    [0.42, 0.55, 1.55],
    [1.35, 0.9, -0.2],
    [0.75, 0.95, -1.6],
  ],
  reaching: [
    [0.75, 0.2, 1.75],
    [1.5, 0.75, 0.5],
    [1.0, 1.15, -1.0],
  ],
} as const;

/** Four strokes over the antennae, then two in which the legs rub each other. */
const STROKES = 6;
const RUBS_FROM = 4;

function groomingFoot({ groomStroke }: Motion, side: 1 | -1): Pick<FootPose, 'tip' | 'tarsus'> {
  const within = groomStroke % STROKES;
  const rubs = smoothStep(RUBS_FROM, RUBS_FROM + 0.4, within) * smoothStep(STROKES, STROKES - 0.4, within);
  const angle = TAU * groomStroke;
  // From the top of the head forwards and down over the antennae, the two legs one after the other.
  const sweep = 0.5 + 0.5 * Math.sin(angle + (side === 1 ? 0 : 1.2));
  const over: Vec3 = [side * (0.13 + 0.07 * sweep), mix(0.64, 1.02, sweep), mix(1.36, 1.14, sweep)];
  const rub = 0.5 + 0.5 * Math.sin(2 * angle + (side === 1 ? 0 : Math.PI));
  const together: Vec3 = [side * 0.045, 0.46 + 0.1 * rub, 1.42 + 0.24 * rub];
  return { tip: mix3(over, together, rubs, 0), tarsus: mix(-1.1, -0.15, rubs) };
}

/** From the ground to the coordinates of the fly. */
function toFly({ x, z, heading }: Motion, groundX: number, groundZ: number): Vec3 {
  const [dx, dz] = [groundX - x, groundZ - z];
  const [cos, sin] = [Math.cos(heading), Math.sin(heading)];
  return [dx * cos - dz * sin, 0, dx * sin + dz * cos];
}

/** @param arch four times the height of the middle of the way above the straight line */
function mix3(from: Vec3, to: Vec3, share: number, arch: number): Vec3 {
  return [
    mix(from[0], to[0], share),
    mix(from[1], to[1], share) + arch * 4 * share * (1 - share) * 0.25,
    mix(from[2], to[2], share),
  ];
}

function mix(from: number, to: number, share: number): number {
  return from + (to - from) * share;
}

/** 0 outside of 0 to 1, 1 in the middle. */
function bump(share: number): number {
  return smoothStep(0, 0.5, share) * smoothStep(1, 0.5, share);
}

/** From the coordinates of the thorax, with its centre as origin, to those of the fly. */
export function fromThorax({ centre, pitch, roll }: Pose['body'], [x, y, z]: Vec3): Vec3 {
  const [dx, dy, dz] = rotated([x, y, z], pitch, roll);
  return [centre[0] + dx, centre[1] + dy, centre[2] + dz];
}

/** Rolls, then pitches. */
export function rotated([x, y, z]: Vec3, pitch: number, roll: number): Vec3 {
  const [cosRoll, sinRoll, cosPitch, sinPitch] = [
    Math.cos(roll),
    Math.sin(roll),
    Math.cos(pitch),
    Math.sin(pitch),
  ];
  const [rolledX, rolledY] = [x * cosRoll - y * sinRoll, x * sinRoll + y * cosRoll];
  return [rolledX, rolledY * cosPitch + z * sinPitch, z * cosPitch - rolledY * sinPitch];
}
