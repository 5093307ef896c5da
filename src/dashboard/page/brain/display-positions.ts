/**
 * Where each neuron is drawn. Measured cell bodies stay where they are, but for the grid they were rounded
 * to. Estimates come from connectivity and pile up on planes and points: they lean on measured neurons of the
 * same type and side where there are some, and the optic lobes, nearly all estimates, are drawn into the
 * ellipsoid that has their mean and spread. For display only; the atlas keeps the positions as they are.
 */
import type { CompactAtlas } from '../../../connectome/atlas-binary.js';
import { SIDES } from '../../../connectome/connectome.js';

/** In units of the atlas, where the brain is about 1 wide (0.85 mm). */
const MEASURED_JITTER = 0.0035;
const ESTIMATED_JITTER = 0.016;
/** Of an estimate around a measured neuron of its type; more where many share few of these. */
const SIBLING_JITTER = 0.02;
const SIBLING_JITTER_MAXIMUM = 0.09;
/** Standard deviations at which a lobe ends. */
const LOBE_EDGE = 2.5;

/** @returns x, y, z of neuron i at 3i, in units of the atlas */
export function displayPositions(atlas: CompactAtlas): Float32Array {
  const positions = atlas.positions.slice();
  const typesOnSides = measuredByTypeAndSide(atlas);
  const lobes = ['left', 'right'].map((_, side) => lobeOf(atlas, side));
  const point = new Float64Array(3);
  for (let i = 0; i < atlas.neuronCount; i++) {
    for (let axis = 0; axis < 3; axis++) point[axis] = positions[3 * i + axis]!;
    let jitter = MEASURED_JITTER;
    if (atlas.estimated[i] === 1) {
      jitter = ESTIMATED_JITTER;
      const { measured, estimated } = typesOnSides.get(typeAndSide(atlas, i)) ?? NOBODY;
      if (measured.length > 0) {
        const sibling = measured[Math.floor(uniform(i, 0) * measured.length)]!;
        for (let axis = 0; axis < 3; axis++) point[axis] = atlas.positions[3 * sibling + axis]!;
        jitter = Math.min(SIBLING_JITTER_MAXIMUM, SIBLING_JITTER * Math.cbrt(estimated / measured.length));
      } else if (isOptic(atlas, i)) {
        lobes[atlas.sides[i]!]?.drawIn(point);
      }
    }
    for (let axis = 0; axis < 3; axis++) {
      positions[3 * i + axis] = point[axis]! + jitter * bell(i, 1 + axis);
    }
  }
  return positions;
}

interface TypeOnSide {
  /** Its neurons with a measured position. */
  readonly measured: number[];
  /** How many have an estimate. */
  estimated: number;
}

const NOBODY: TypeOnSide = { measured: [], estimated: 0 };

function typeAndSide({ typeIndices, sides }: CompactAtlas, i: number): number {
  return SIDES.length * typeIndices[i]! + sides[i]!;
}

/** Neurons without a type have nothing in common, so they are not in it. */
function measuredByTypeAndSide(atlas: CompactAtlas): Map<number, TypeOnSide> {
  const found = new Map<number, TypeOnSide>();
  for (let i = 0; i < atlas.neuronCount; i++) {
    if (atlas.types[atlas.typeIndices[i]!]!.name === '') continue;
    const key = typeAndSide(atlas, i);
    let entry = found.get(key);
    if (entry === undefined) found.set(key, (entry = { measured: [], estimated: 0 }));
    if (atlas.estimated[i] === 1) entry.estimated++;
    else entry.measured.push(i);
  }
  return found;
}

function isOptic({ types, typeIndices }: CompactAtlas, i: number): boolean {
  return types[typeIndices[i]!]!.superClass === 'optic';
}

interface Lobe {
  /** Moves a point towards the centre, the more the farther out it is; none ends beyond the edge. */
  drawIn(point: Float64Array): void;
}

/** The ellipsoid of the optic neurons of one side (an index into SIDES), if it has enough of them. */
function lobeOf(atlas: CompactAtlas, side: number): Lobe | undefined {
  const mean = new Float64Array(3);
  const covariance = new Float64Array(9);
  let count = 0;
  const eachNeuron = (visit: (at: number) => void): void => {
    for (let i = 0; i < atlas.neuronCount; i++) {
      if (atlas.sides[i] === side && isOptic(atlas, i)) visit(3 * i);
    }
  };
  eachNeuron((at) => {
    count++;
    for (let axis = 0; axis < 3; axis++) mean[axis]! += atlas.positions[at + axis]!;
  });
  if (count < 100) return undefined;
  for (let axis = 0; axis < 3; axis++) mean[axis]! /= count;
  eachNeuron((at) => {
    for (let a = 0; a < 3; a++) {
      for (let b = 0; b < 3; b++) {
        covariance[3 * a + b]! +=
          ((atlas.positions[at + a]! - mean[a]!) * (atlas.positions[at + b]! - mean[b]!)) / count;
      }
    }
  });
  const inverse = inverted(covariance);
  if (inverse === undefined) return undefined;
  return {
    drawIn(point) {
      const offset = [point[0]! - mean[0]!, point[1]! - mean[1]!, point[2]! - mean[2]!];
      let squared = 0;
      for (let a = 0; a < 3; a++) {
        for (let b = 0; b < 3; b++) squared += offset[a]! * inverse[3 * a + b]! * offset[b]!;
      }
      const distance = Math.sqrt(squared);
      if (distance === 0) return;
      const scale = (LOBE_EDGE * Math.tanh(distance / LOBE_EDGE)) / distance;
      for (let axis = 0; axis < 3; axis++) point[axis] = mean[axis]! + offset[axis]! * scale;
    },
  };
}

/** Inverse of a symmetric 3 x 3 matrix, or nothing where it is flat. */
function inverted(m: Float64Array): Float64Array | undefined {
  const [a, b, c, , d, e, , , f] = m as unknown as [number, number, number, 0, number, number, 0, 0, number];
  const [A, B, C] = [d * f - e * e, c * e - b * f, b * e - c * d];
  const determinant = a * A + b * B + c * C;
  if (!(determinant > 0)) return undefined;
  const [D, E, F] = [a * f - c * c, b * c - a * e, a * d - b * b];
  return Float64Array.of(A, B, C, B, D, E, C, E, F).map((x) => x / determinant);
}

/** 0 to 1, the same for the same neuron and purpose on every visit. */
function uniform(neuron: number, purpose: number): number {
  let hash = Math.imul(neuron + 1, 0x9e3779b1) ^ Math.imul(purpose + 1, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/** About normal, mean 0, standard deviation near 0.6, never beyond 1.5. */
function bell(neuron: number, purpose: number): number {
  return (
    uniform(neuron, 3 * purpose) + uniform(neuron, 3 * purpose + 1) + uniform(neuron, 3 * purpose + 2) - 1.5
  );
}
