/**
 * Statistics of the positions of a group of cells: mean and full covariance ellipsoid. The ellipsoid preserves the shape of
 * layers, such as the retina. Measuring and sampling must agree, so both are in this file.
 */
import type { PhiloxSequence } from '../../engine/stimulus/philox.js';
import type { NeuronColumns } from '../compiler/brain.js';
import type { CellGroup } from './statistics.js';

const NM_PER_UM = 1000;
const AXES = [0, 1, 2] as const;
/** Estimated positions are ignored if at least one in this many cells has a measured position. */
const CELLS_PER_MEASURED = 4;

/** A uniform ball of radius sqrt(5) has the standard deviation 1 along each axis. In thousandths. */
const BALL_RADIUS = 2236;

type PositionStatistics = Pick<CellGroup, 'position_um' | 'position_spread_um'>;

export function measurePositions(cells: Uint32Array, neurons: NeuronColumns): PositionStatistics {
  const measured = cells.filter((cell) => neurons.positionEstimated[cell] === 0);
  const leading = CELLS_PER_MEASURED * measured.length >= cells.length ? measured : cells;
  const alongUm = AXES.map((axis) =>
    Array.from(leading, (cell) => neurons.positionsNm[3 * cell + axis]! / NM_PER_UM),
  );
  const meanUm = alongUm.map((values) => values.reduce((sum, x) => sum + x, 0) / values.length);
  const covariance = (a: number, b: number): number =>
    alongUm[a]!.reduce((sum, x, i) => sum + (x - meanUm[a]!) * (alongUm[b]![i]! - meanUm[b]!), 0) /
    leading.length;
  return {
    position_um: meanUm.map(rounded),
    position_spread_um: cells.length === 1 ? [] : choleskyFactor(covariance).map(rounded),
  };
}

/** To the nearest integer, halves up, and never -0. */
function rounded(x: number): number {
  return Math.round(x) + 0;
}

/** xx, yx, yy, zx, zy, zz of the lower triangular L with L L' = the covariance; 0 along axes without spread. */
function choleskyFactor(covariance: (a: number, b: number) => number): number[] {
  const over = (numerator: number, denominator: number): number =>
    denominator === 0 ? 0 : numerator / denominator;
  const root = (x: number): number => Math.sqrt(Math.max(0, x));
  const xx = root(covariance(0, 0));
  const yx = over(covariance(1, 0), xx);
  const yy = root(covariance(1, 1) - yx * yx);
  const zx = over(covariance(2, 0), xx);
  const zy = over(covariance(2, 1) - zx * yx, yy);
  const zz = root(covariance(2, 2) - zx * zx - zy * zy);
  return [xx, yx, yy, zx, zy, zz];
}

/**
 * Samples positions uniformly in the solid ellipsoid with the mean and covariance of the statistics. All sampling uses only
 * integers, so that every machine gives the same result.
 * @param positionsNm receives x, y, z of cell i at 3i
 */
export function samplePositions(
  { position_um: meanUm, position_spread_um: spreadUm }: PositionStatistics,
  cells: Uint32Array,
  random: PhiloxSequence,
  positionsNm: Int32Array,
): void {
  const [xx = 0, yx = 0, yy = 0, zx = 0, zy = 0, zz = 0] = spreadUm;
  for (const cell of cells) {
    const [x, y, z] = spreadUm.length === 0 ? [0, 0, 0] : sampleInBall(random);
    // µm times thousandths is nm.
    const offsetsNm = [xx * x, yx * x + yy * y, zx * x + zy * y + zz * z];
    for (const axis of AXES) {
      positionsNm[3 * cell + axis] = NM_PER_UM * meanUm[axis]! + offsetsNm[axis]!;
    }
  }
}

function sampleInBall(random: PhiloxSequence): [number, number, number] {
  for (;;) {
    const along = (): number => random.nextBelow(2 * BALL_RADIUS + 1) - BALL_RADIUS;
    const [x, y, z] = [along(), along(), along()];
    if (x * x + y * y + z * z <= BALL_RADIUS * BALL_RADIUS) return [x, y, z];
  }
}
