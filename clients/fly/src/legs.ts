/** Computes the joints of a leg from the positions of its hip and foot (inverse kinematics). */
import { LEGS, type Vec3 } from './anatomy.js';
import { fromThorax, type Pose, rotated } from './pose.js';

/**
 * Hip, end of the coxa, knee, ankle and tip, in the coordinates of the fly, and whether the foot is too far or too
 * near.
 */
export interface Joints {
  readonly points: readonly [Vec3, Vec3, Vec3, Vec3, Vec3];
  readonly isOutOfReach: boolean;
}

/** Direction over the ground from the foot of each standing leg to its hip, of length 1. */
const INWARDS = LEGS.map(({ hip, stands }) => {
  const [x, z] = [hip[0] - stands[0], hip[2] - stands[1]];
  return [x / Math.hypot(x, z), z / Math.hypot(x, z)] as const;
});

/**
 * The coxa keeps its direction and the tarsus its steepness. Femur and tibia connect them, with the knee up and
 * outwards.
 */
export function jointsOf(pose: Pose, leg: number): Joints {
  const { hip: hipInBody, coxa, lengths, side } = LEGS[leg]!;
  const [coxaLength, femur, tibia, tarsusLength] = lengths;
  const { tip, tarsus, kneeOut } = pose.feet[leg]!;
  const hip = fromThorax(pose.body, hipInBody);
  const coxaEnd = add(hip, scaled(unit(rotated(coxa, pose.body.pitch, pose.body.roll)), coxaLength));
  // The tarsus points away from the hip as in a standing leg, because in flight the foot may pass below the hip.
  const [inX, inZ] = INWARDS[leg]!;
  const [dx, dz] = [coxaEnd[0] - tip[0] + inX, coxaEnd[2] - tip[2] + inZ];
  const across = Math.hypot(dx, dz);
  const [flat, up] = [Math.cos(tarsus) * tarsusLength, Math.sin(tarsus) * tarsusLength];
  const ankle: Vec3 = [tip[0] + (dx / across) * flat, tip[1] + up, tip[2] + (dz / across) * flat];

  const span = subtract(ankle, coxaEnd);
  const distance = length(span);
  const reach = 0.999 * (femur + tibia);
  const nearest = 1.001 * Math.abs(femur - tibia);
  const used = Math.min(reach, Math.max(nearest, distance));
  const along = scaled(span, 1 / (distance || 1));
  // The law of cosines, at the end of the coxa.
  const cosine = (femur * femur + used * used - tibia * tibia) / (2 * femur * used);
  const sine = Math.sqrt(Math.max(0, 1 - cosine * cosine));
  const outwards: Vec3 = [side * (0.35 + 0.65 * kneeOut), 1 - 0.85 * kneeOut, 0];
  const aside = unit(subtract(outwards, scaled(along, dot(outwards, along))));
  const knee = add(coxaEnd, add(scaled(along, femur * cosine), scaled(aside, femur * sine)));
  return {
    points: [hip, coxaEnd, knee, add(coxaEnd, scaled(along, used)), tip],
    isOutOfReach: distance > reach || distance < nearest,
  };
}

function add(a: Vec3, b: Vec3): Vec3 {
  return [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
}
function subtract(a: Vec3, b: Vec3): Vec3 {
  return [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
}
function scaled(a: Vec3, by: number): Vec3 {
  return [a[0] * by, a[1] * by, a[2] * by];
}
function dot(a: Vec3, b: Vec3): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
function length(a: Vec3): number {
  return Math.sqrt(dot(a, a));
}
function unit(a: Vec3): Vec3 {
  return scaled(a, 1 / (length(a) || 1));
}
