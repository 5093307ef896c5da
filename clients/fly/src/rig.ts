/** Positions the bones of the fly for a pose. */
import { Bone, Euler, Matrix4, Quaternion, Vector3 } from 'three';
import { LEGS, type Vec3, WING_BASE } from './anatomy.js';
import { ABDOMEN_SEGMENTS, type BoneName, BONES, LEG_SEGMENTS, SEGMENT_LENGTH } from './bones.js';
import { jointsOf } from './legs.js';
import type { Pose } from './pose.js';

const SIDES = [
  [1, 'left'],
  [-1, 'right'],
] as const;
const UNMOVED = new Matrix4();

/** The bones, all in the coordinates of the fly. No bone is the parent of another. */
export class Rig {
  /** In the order of the bone indices in the geometry. */
  readonly bones = BONES.map((name) => {
    const bone = new Bone();
    bone.name = name;
    bone.matrixAutoUpdate = false;
    return bone;
  });
  readonly #byName = new Map(this.bones.map((bone) => [bone.name, bone]));

  show(pose: Pose): void {
    const { centre, pitch, roll } = pose.body;
    const thorax = this.#place('thorax', UNMOVED, centre, [-pitch, 0, roll]);
    this.#showHead(pose, thorax);
    this.#showAbdomen(pose, thorax);
    this.#showWings(pose, thorax);
    LEGS.forEach(({ name, side }, leg) => {
      const { points } = jointsOf(pose, leg);
      LEG_SEGMENTS.forEach((segment, i) => this.#lay(`${name} ${segment}`, points[i]!, points[i + 1]!, side));
    });
  }

  #showHead({ head, antennae, proboscis }: Pose, thorax: Matrix4): void {
    const at: Vec3 = [0, 0.04, 0.62 - 0.07 * head.pulledIn];
    const skull = this.#place('head', thorax, at, [-head.pitch, head.yaw, head.roll]);
    const { extended, spread } = proboscis;
    // When folded, the rostrum is in the head and the haustellum lies against it. When extended, both point down and
    // forwards.
    const rostrum = this.#place(
      'rostrum',
      skull,
      [0, -0.2 - 0.08 * extended, 0.14],
      [0.55 + 0.55 * extended, 0, 0],
      0.45 + 0.75 * extended,
    );
    const haustellum = this.#place(
      'haustellum',
      rostrum,
      [0, 0, 0.27],
      [0.25 * extended - 2.1 * (1 - extended), 0, 0],
      0.7 + 0.6 * extended,
    );
    SIDES.forEach(([side, name], i) => {
      const { up, out } = antennae[i]!;
      this.#place(`${name}Antenna`, skull, [side * 0.09, 0.1, 0.33], [-up, side * out, 0]);
      const lobe: Vec3 = [side * 0.05 * spread, 0, 0.3];
      this.#place(`${name}Lobe`, haustellum, lobe, [0, side * 0.7 * spread, 0], 0.8 + 0.5 * spread);
    });
  }

  #showAbdomen({ abdomen }: Pose, thorax: Matrix4): void {
    let before = thorax;
    for (let i = 0; i < ABDOMEN_SEGMENTS; i++) {
      const at: Vec3 = i === 0 ? [0, 0.02, -0.5] : [0, 0, -SEGMENT_LENGTH * abdomen.length];
      // The tip bends most.
      const bend = 0.035 + (abdomen.bend * (i + 1)) / 10;
      before = this.#place(`abdomen${i}`, before, at, [-bend, 0, 0]);
    }
    for (const [name, up] of [
      ['upperPlate', 1],
      ['lowerPlate', -1],
    ] as const) {
      const at: Vec3 = [0, up * 0.02, -SEGMENT_LENGTH - 0.02];
      this.#place(name, before, at, [up * 0.75 * abdomen.open, 0, 0], 0.75 + 0.6 * abdomen.open);
    }
  }

  #showWings({ wings, blur }: Pose, thorax: Matrix4): void {
    SIDES.forEach(([side, name], i) => {
      const { out, up, twist } = wings[i]!;
      // Folded wings overlap and are slightly open to the rear.
      const folded = Math.max(0, 1 - out / 0.5);
      const base: Vec3 = [side * WING_BASE[0], WING_BASE[1], WING_BASE[2]];
      this.#place(
        `${name}Wing`,
        thorax,
        [base[0], base[1] + 0.05 + 0.02 * side * folded, base[2]],
        [up + 0.03, -side * (out - 0.06 * folded), side * (-0.12 * folded - twist)],
      );
      // A bone of size 0 has no inverse.
      this.#place(`${name}Blur`, thorax, base, [0, -0.1 * side, 0], Math.max(1e-4, blur));
      const swung = side * (0.2 + 0.5 * up * blur);
      this.#place(`${name}Haltere`, thorax, [side * 0.36, 0.12, -0.28], [0, 0, swung]);
    });
  }

  /** Sets a bone by its position in `parent` and its rotations about z, then x, then y. */
  #place(name: BoneName, parent: Matrix4, at: Vec3, [x, y, z]: Vec3, size = 1): Matrix4 {
    const bone = this.#byName.get(name)!;
    rotation.setFromEuler(euler.set(x, y, z, 'YXZ'));
    bone.matrix.compose(position.set(...at), rotation, scale.setScalar(size)).premultiply(parent);
    bone.matrixWorldNeedsUpdate = true;
    return bone.matrix;
  }

  /** Lays a bone from one joint to the next, along its own z axis. */
  #lay(name: BoneName, from: Vec3, to: Vec3, side: number): void {
    const bone = this.#byName.get(name)!;
    ahead.set(to[0] - from[0], to[1] - from[1], to[2] - from[2]).normalize();
    aside.crossVectors(upwards.set(0.35 * side, 1, 0), ahead).normalize();
    upwards.crossVectors(ahead, aside);
    bone.matrix.makeBasis(aside, upwards, ahead).setPosition(...from);
    bone.matrixWorldNeedsUpdate = true;
  }
}

/** Reused by each call, so that drawing allocates nothing. */
const [position, scale, ahead, aside, upwards] = [
  new Vector3(),
  new Vector3(),
  new Vector3(),
  new Vector3(),
  new Vector3(),
];
const rotation = new Quaternion();
const euler = new Euler();
