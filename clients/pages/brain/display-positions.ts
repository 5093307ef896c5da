/**
 * Where each neuron is drawn. Measured cell bodies stay where they are, but for the grid they were rounded
 * to. Estimates come from connectivity, or from the mean and spread of a cell type, and lie on planes, in
 * points or in clouds without an edge: they lean on measured neurons of the same type and side where there
 * are some; the others are drawn into the ellipsoid that has the mean and spread of their type, and the optic
 * neurons, nearly all estimates, into that of their lobe. For display only; the atlas keeps the positions.
 */
import type { CompactAtlas } from '../../../src/connectome/atlas-binary.js';
import { SIDES } from '../../../src/connectome/connectome.js';

/** Spread of measured neurons, in units of the atlas, where the brain is about 1 wide (0.85 mm). */
const MEASURED_JITTER = 0.0035;
/**
 * Estimates stand on planes of depth 0.0204 apart. A normal spread of half that distance fills the gaps evenly, so that
 * the brain shows no slabs from the side and from above.
 */
const ESTIMATED_JITTER = 0.021;
/** A plane of depth on which more than this share of the measured neurons stand is one that they were rounded to. */
const PLANE_SHARE = 0.004;
/** Depths of the atlas that are told apart, for each unit. */
const DEPTH_STEPS = 4095;
/** Spread of an estimate around a measured neuron of its type; larger where many estimates share few of these. */
const SIBLING_JITTER = 0.02;
const SIBLING_JITTER_MAXIMUM = 0.09;
/** Standard deviations at which the ellipsoid of a lobe and that of a type end. */
const LOBE_EDGE = 2.5;
const TYPE_EDGE = 1.6;
/** Fewer estimates of a type on a side have no shape, and stay near their places. */
const SMALLEST_CLOUD = 12;
const OPTIC = 'optic';
/** Spread of places of neurons whose data set has no positions. */
const MADE_UP_SPREAD = 0.09;

/** False where all neurons lie in one point, because the data set says nothing of where they are. */
export function hasPositions({ positions }: CompactAtlas): boolean {
  return positions.some((value, at) => value !== positions[at % 3]);
}

/** @returns x, y, z of neuron i at 3i, in units of the atlas */
export function displayPositions(atlas: CompactAtlas): Float32Array {
  if (!hasPositions(atlas)) return madeUpPositions(atlas);
  const drawn = atlas.positions.slice();
  const spread = (i: number, jitter: number): void => {
    for (let axis = 0; axis < 3; axis++) drawn[3 * i + axis]! += jitter * bell(i, 1 + axis);
  };
  if (!atlas.isWhole) {
    // For a moment, and soon there: neurons that have yet to come lie around their neighbours.
    for (let i = 0; i < atlas.neuronCount; i++) spread(i, ESTIMATED_JITTER);
    return drawn;
  }
  const isOnPlane = planesOf(atlas);
  for (const { measured, estimated } of groupsOf(atlas, typeOnSide)) {
    if (measured.length > 0) {
      const crowding = Math.cbrt(estimated.length / measured.length);
      const jitter = Math.min(SIBLING_JITTER_MAXIMUM, SIBLING_JITTER * crowding);
      for (const i of estimated) {
        const sibling = 3 * measured[Math.floor(uniform(i, 0) * measured.length)]!;
        drawn.set(atlas.positions.subarray(sibling, sibling + 3), 3 * i);
        spread(i, jitter);
      }
      for (const i of measured) {
        spread(i, MEASURED_JITTER);
        if (isOnPlane(i)) drawn[3 * i + 2] = atlas.positions[3 * i + 2]! + ESTIMATED_JITTER * bell(i, 3);
      }
    } else {
      if (estimated.length >= SMALLEST_CLOUD) drawIn(atlas, estimated, TYPE_EDGE, drawn);
      for (const i of estimated) spread(i, ESTIMATED_JITTER);
    }
  }
  for (const { estimated } of groupsOf(atlas, opticOnSide)) {
    drawIn(atlas, estimated, LOBE_EDGE, drawn);
    for (const i of estimated) spread(i, ESTIMATED_JITTER);
  }
  return drawn;
}

/** @returns a test of measured neurons: whether their depth was rounded to one that many others have */
function planesOf({ positions, estimated, neuronCount }: CompactAtlas): (i: number) => boolean {
  const depthOf = (i: number): number => Math.round(DEPTH_STEPS * positions[3 * i + 2]!);
  const counts = new Uint32Array(DEPTH_STEPS + 1);
  let measured = 0;
  for (let i = 0; i < neuronCount; i++) {
    if (estimated[i] === 1) continue;
    measured++;
    counts[depthOf(i)]!++;
  }
  return (i) => counts[depthOf(i)]! > PLANE_SHARE * measured;
}

/** Two balls side by side for the left and the right, and the rest between them: places that claim nothing. */
function madeUpPositions({ neuronCount, sides }: CompactAtlas): Float32Array {
  const drawn = new Float32Array(3 * neuronCount);
  for (let i = 0; i < neuronCount; i++) {
    const side = SIDES[sides[i]!]!;
    const centre = side === 'left' ? 0.3 : side === 'right' ? 0.7 : 0.5;
    [centre, 0.5, 0.5].forEach((at, axis) => (drawn[3 * i + axis] = at + MADE_UP_SPREAD * bell(i, 1 + axis)));
  }
  return drawn;
}

interface Group {
  readonly measured: number[];
  readonly estimated: number[];
}

/** Neurons with equal keys; those without one are in no group. */
function groupsOf(
  atlas: CompactAtlas,
  keyOf: (atlas: CompactAtlas, i: number) => number | undefined,
): Iterable<Group> {
  const groups = new Map<number, Group>();
  for (let i = 0; i < atlas.neuronCount; i++) {
    const key = keyOf(atlas, i);
    if (key === undefined) continue;
    let group = groups.get(key);
    if (group === undefined) groups.set(key, (group = { measured: [], estimated: [] }));
    (atlas.estimated[i] === 1 ? group.estimated : group.measured).push(i);
  }
  return groups.values();
}

/** Neurons without a type have nothing in common: each is a group of its own. */
function typeOnSide({ types, typeIndices, sides }: CompactAtlas, i: number): number {
  const type = typeIndices[i]!;
  return types[type]!.name === '' ? -1 - i : SIDES.length * type + sides[i]!;
}

function opticOnSide({ types, typeIndices, sides, estimated }: CompactAtlas, i: number): number | undefined {
  return types[typeIndices[i]!]!.superClass === OPTIC && estimated[i] === 1 ? sides[i]! : undefined;
}

/**
 * Moves neurons towards the centre of the ellipsoid that has their mean and covariance, the more the farther out they are;
 * none ends beyond the edge.
 */
function drawIn(
  { positions }: CompactAtlas,
  neurons: readonly number[],
  edge: number,
  drawn: Float32Array,
): void {
  const mean = new Float64Array(3);
  const covariance = new Float64Array(9);
  for (const i of neurons) {
    for (let axis = 0; axis < 3; axis++) mean[axis]! += positions[3 * i + axis]! / neurons.length;
  }
  for (const i of neurons) {
    for (let a = 0; a < 3; a++) {
      for (let b = 0; b < 3; b++) {
        covariance[3 * a + b]! +=
          ((positions[3 * i + a]! - mean[a]!) * (positions[3 * i + b]! - mean[b]!)) / neurons.length;
      }
    }
  }
  const inverse = inverted(covariance);
  const offset = new Float64Array(3);
  for (const i of neurons) {
    for (let axis = 0; axis < 3; axis++) offset[axis] = positions[3 * i + axis]! - mean[axis]!;
    let squared = 0;
    for (let a = 0; a < 3; a++) {
      for (let b = 0; b < 3; b++) squared += offset[a]! * (inverse?.[3 * a + b] ?? 0) * offset[b]!;
    }
    const distance = Math.sqrt(squared);
    const scale = distance === 0 ? 1 : (edge * Math.tanh(distance / edge)) / distance;
    for (let axis = 0; axis < 3; axis++) drawn[3 * i + axis] = mean[axis]! + scale * offset[axis]!;
  }
}

/** Inverse of a symmetric 3 x 3 matrix, or nothing where it is flat. */
function inverted(m: Float64Array): Float64Array | undefined {
  const [a, b, c, , d, e, , , f] = m as unknown as [number, number, number, 0, number, number, 0, 0, number];
  const [A, B, C] = [d * f - e * e, c * e - b * f, b * e - c * d];
  const determinant = a * A + b * B + c * C;
  if (!(determinant > 1e-18)) return undefined;
  const [D, E, F] = [a * f - c * c, b * c - a * e, a * d - b * b];
  return Float64Array.of(A, B, C, B, D, E, C, E, F).map((x) => x / determinant);
}

/** 32 bits, the same for the same neuron and purpose on every visit. */
function hashOf(neuron: number, purpose: number): number {
  let hash = Math.imul(neuron + 1, 0x9e3779b1) ^ Math.imul(purpose + 1, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** 0 to 1. */
function uniform(neuron: number, purpose: number): number {
  return hashOf(neuron, purpose) / 2 ** 32;
}

/** About normal: mean 0, standard deviation 0.5, never beyond 1.5. Three draws of 10 bits. */
function bell(neuron: number, purpose: number): number {
  const hash = hashOf(neuron, purpose);
  return ((hash & 1023) + ((hash >>> 10) & 1023) + ((hash >>> 20) & 1023)) / 1023 - 1.5;
}
