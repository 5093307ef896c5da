/** The shape of the wings, as one transparent geometry. */
import { BufferAttribute, BufferGeometry, Color } from 'three';
import { WING_LENGTH } from './anatomy.js';
import type { BoneName } from './bones.js';
import { Builder } from './builder.js';

/** Angles between which the blur of a beating wing reaches, in radians; 0 is level. */
const BLUR_FROM = -0.55;
const BLUR_TO = 1.15;

/**
 * Offsets of the left wing's edges at a fraction of its length, from 0 (base) to 1 (tip). Leading is positive.
 */
function edges(share: number): readonly [leading: number, trailing: number] {
  const round = Math.sqrt(Math.max(0, 1 - (2 * share - 1) ** 2));
  const tip = Math.min(1, (1 - share) * 6) ** 0.5;
  return [
    0.03 + 0.2 * Math.sin(Math.PI * share * 0.72) * tip,
    -0.05 - 0.62 * round ** 0.8 * (0.35 + 0.65 * share) * tip,
  ];
}

/**
 * Both wings and the blur of both, seen from both sides.
 * @param membrane colour between the veins
 */
export function wingGeometry(membrane: string, vein: string): BufferGeometry {
  const wings = new Builder();
  for (const side of [1, -1] as const) {
    const bone = side === 1 ? 'leftWing' : 'rightWing';
    addMembrane(wings, bone, side, membrane);
    // The edge, five veins along and two across.
    const along = (from: number, to: number, lane: (share: number) => number) =>
      addVein(wings, bone, side, from, to, lane, vein);
    along(0, 0.98, () => 0);
    along(0.02, 0.62, (share) => 0.05 + 0.1 * Math.sin(Math.PI * share));
    along(0.02, 0.97, (share) => 0.1 + 0.17 * share);
    along(0.02, 0.95, (share) => 0.16 + 0.34 * share);
    along(0.02, 0.84, (share) => 0.24 + 0.66 * share);
    along(0.02, 0.5, (share) => 0.34 + 1.2 * share);
    addCrossVein(wings, bone, side, 0.38, 0.23, 0.29, vein);
    addCrossVein(wings, bone, side, 0.62, 0.37, 0.64, vein);
    addBlur(wings, side === 1 ? 'leftBlur' : 'rightBlur', side, membrane);
  }
  return wings.build();
}

/** A point on the wing: `lane` 0 is the leading edge, 1 the trailing edge. */
function onWing(side: number, share: number, lane: number): readonly [number, number, number] {
  const [leading, trailing] = edges(share);
  const across = leading + (trailing - leading) * lane;
  return [side * across, 0.03 * Math.sin(Math.PI * lane) * (1 - share), -WING_LENGTH * share];
}

function addMembrane(wings: Builder, bone: BoneName, side: number, membrane: string): void {
  const [rows, lanes] = [22, 6];
  const tint = new Color();
  const grid = gridOf(rows, lanes, (row, lane) => onWing(side, row / rows, lane / lanes));
  const [pink, green] = [new Color('#ff9ad5'), new Color('#8fffd0')];
  wings.add(
    bone,
    grid,
    (x, _y, z, into) => {
      // Thin films shimmer.
      const film = 0.5 + 0.5 * Math.sin(9 * x + 4 * z);
      into.set(membrane).lerp(tint.lerpColors(pink, green, film), 0.22);
    },
    () => 0.3,
  );
}

function addVein(
  wings: Builder,
  bone: BoneName,
  side: number,
  from: number,
  to: number,
  lane: (share: number) => number,
  colour: string,
): void {
  const rows = 14;
  const width = 0.022;
  const strip = gridOf(rows, 1, (row, edge) => {
    const share = from + ((to - from) * row) / rows;
    const [x, y, z] = onWing(side, share, Math.min(1, lane(share)));
    return [x + side * (edge - 0.5) * width * (1.2 - share), y + 0.004, z];
  });
  wings.add(bone, strip, colour, () => 0.9);
}

function addCrossVein(
  wings: Builder,
  bone: BoneName,
  side: number,
  share: number,
  fromLane: number,
  toLane: number,
  colour: string,
): void {
  const strip = gridOf(1, 1, (row, edge) => {
    const [x, y, z] = onWing(side, share, row === 0 ? fromLane : toLane);
    return [x, y + 0.004, z + (edge - 0.5) * 0.024];
  });
  wings.add(bone, strip, colour, () => 0.9);
}

/** A fan around the base of the wing, across the body. It is most visible at the turning points of the beat. */
function addBlur(wings: Builder, bone: BoneName, side: number, membrane: string): void {
  const [arcs, rings] = [16, 3];
  const fan = gridOf(arcs, rings, (arc, ring) => {
    const angle = BLUR_FROM + ((BLUR_TO - BLUR_FROM) * arc) / arcs;
    const radius = WING_LENGTH * (0.15 + (0.85 * ring) / rings);
    return [side * Math.cos(angle) * radius, Math.sin(angle) * radius, 0.12 * Math.sin(angle * 2)];
  });
  wings.add(bone, fan, membrane, (i) => {
    const arc = Math.floor(i / (rings + 1)) / arcs;
    const isRim = i % (rings + 1) === rings || arc === 0 || arc === 1;
    return isRim ? 0.02 : 0.03 + 0.22 * Math.abs(2 * arc - 1) ** 2;
  });
}

/** A grid of (rows + 1) x (columns + 1) vertices. */
function gridOf(
  rows: number,
  columns: number,
  place: (row: number, column: number) => readonly [number, number, number],
): BufferGeometry {
  const positions: number[] = [];
  const indices: number[] = [];
  for (let row = 0; row <= rows; row++) {
    for (let column = 0; column <= columns; column++) {
      positions.push(...place(row, column));
      if (row === rows || column === columns) continue;
      const at = row * (columns + 1) + column;
      indices.push(at, at + 1, at + columns + 1, at + 1, at + columns + 2, at + columns + 1);
    }
  }
  const grid = new BufferGeometry();
  grid.setAttribute('position', new BufferAttribute(new Float32Array(positions), 3));
  grid.setIndex(indices);
  grid.computeVertexNormals();
  return grid;
}
