/**
 * Computes the position at which each neuron is drawn. This is only for display; the atlas keeps its positions.
 *
 * Measured cell bodies stay, except that jitter hides the grid to which they were rounded. Estimated positions come
 * from connectivity, or from the mean and spread of a cell type. They lie on planes, in points or in unbounded clouds.
 * If there are measured neurons of the same type and side, estimates move near these. Others move into the ellipsoid of
 * their type. Optic neurons, which are nearly all estimated, move into the ellipsoid of their lobe.
 */
import type { CompactAtlas } from '../../../src/engine/connectome/atlas-binary.js';
import { SIDES } from '../../../src/engine/connectome/connectome.js';

/** Jitter of measured neurons, in units of the atlas, in which the brain is about 1 wide (0.85 mm). */
const MEASURED_JITTER = 0.0035;
/**
 * Estimates lie on planes 0.0204 apart in depth. A normal spread of half that distance fills the gaps evenly, so that
 * no slabs are visible from the side and from above.
 */
const ESTIMATED_JITTER = 0.021;
/** If more than this fraction of the measured neurons share a depth, they were rounded to it. */
const PLANE_SHARE = 0.004;
/** Number of distinct depths for each unit of the atlas. */
const DEPTH_STEPS = 4095;
/** Spread of an estimate around a measured neuron of its type; larger if many estimates share few measured neurons. */
const SIBLING_JITTER = 0.02;
const SIBLING_JITTER_MAXIMUM = 0.09;
/** Radii of the ellipsoids of a lobe and of a type, in standard deviations. */
const LOBE_EDGE = 2.5;
const TYPE_EDGE = 1.6;
/** Fewer estimates of a type on a side have no shape, so they stay near their positions. */
const SMALLEST_CLOUD = 12;
const OPTIC = 'optic';
/** Spread of invented positions, for data sets without positions. */
const MADE_UP_SPREAD = 0.09;
/** Fraction of the neurons beyond each end of an extent, because a few are far from the others. */
const OUTLYING_SHARE = 0.003;
/** Number of neurons used to measure an extent. */
const MEASURED_NEURONS = 10_000;

/** False if all neurons lie in one point, because the data set has no positions. */
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
    // The first part of an atlas is visible only briefly, so it gets only jitter.
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

/** The ends of nearly all neurons along an axis. */
export function extentOf(positions: Float32Array, axis: number): [low: number, high: number] {
  const each = 3 * Math.ceil(positions.length / (3 * MEASURED_NEURONS));
  const length = Math.ceil(positions.length / each);
  const along = Float32Array.from({ length }, (_, k) => positions[each * k + axis]!).sort();
  const outlying = Math.floor(OUTLYING_SHARE * along.length);
  return [along[outlying] ?? 0, along.at(-1 - outlying) ?? 0];
}

/** @returns a test whether a measured neuron's depth was rounded to a common plane */
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

/** Invented positions: a ball for each side, and the remaining neurons between them. */
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

/** Groups neurons by key; neurons without a key are in no group. */
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

/** Untyped neurons have nothing in common, so each gets its own group. */
function typeOnSide({ types, typeIndices, sides }: CompactAtlas, i: number): number {
  const type = typeIndices[i]!;
  return types[type]!.name === '' ? -1 - i : SIDES.length * type + sides[i]!;
}

function opticOnSide({ types, typeIndices, sides, estimated }: CompactAtlas, i: number): number | undefined {
  return types[typeIndices[i]!]!.superClass === OPTIC && estimated[i] === 1 ? sides[i]! : undefined;
}

/**
 * Moves neurons towards the centre of the ellipsoid with their mean and covariance. Outer neurons move farther, and
 * none remains beyond the edge.
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

/** Inverse of a symmetric 3 x 3 matrix; undefined if it is singular. */
function inverted(m: Float64Array): Float64Array | undefined {
  const [a, b, c, , d, e, , , f] = m as unknown as [number, number, number, 0, number, number, 0, 0, number];
  const [A, B, C] = [d * f - e * e, c * e - b * f, b * e - c * d];
  const determinant = a * A + b * B + c * C;
  if (!(determinant > 1e-18)) return undefined;
  const [D, E, F] = [a * f - c * c, b * c - a * e, a * d - b * b];
  return Float64Array.of(A, B, C, B, D, E, C, E, F).map((x) => x / determinant);
}

/** A 32-bit hash, so that a neuron has the same position on every visit. */
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

/** Approximately normal from three draws of 10 bits: mean 0, standard deviation 0.5, within 1.5 of 0. */
function bell(neuron: number, purpose: number): number {
  const hash = hashOf(neuron, purpose);
  return ((hash & 1023) + ((hash >>> 10) & 1023) + ((hash >>> 20) & 1023)) / 1023 - 1.5;
}
