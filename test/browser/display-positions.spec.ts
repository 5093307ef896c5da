/** Places at which the page draws neurons: spread only if the depth of cell bodies was rounded. */
import { displayPositions } from '../../clients/pages/brain/display-positions.js';

const STEPS = 4095;
/** Planes of depth that cell bodies were rounded to, and a step between them. */
const [FIRST_PLANE, SPACING, PLANES] = [400, 100, 10];

describe('the positions that the page draws', () => {
  const count = 4000;
  const depths = Array.from({ length: count }, (_, i) =>
    // One in ten has a depth of its own.
    i % 10 === 0 ? 2000 + i / 10 : FIRST_PLANE + SPACING * (i % PLANES),
  );
  const atlas = {
    neuronCount: count,
    isWhole: true,
    positions: Float32Array.from({ length: 3 * count }, (_, at) =>
      at % 3 === 2 ? depths[(at - 2) / 3]! / STEPS : (at % 97) / 97,
    ),
    estimated: new Uint8Array(count),
    typeIndices: new Uint16Array(count),
    sides: new Uint8Array(count),
    types: [{ name: 'T', superClass: 'central' }],
  };
  const drawn = displayPositions(atlas);
  const moved = (i: number, axis: number) => drawn[3 * i + axis]! - atlas.positions[3 * i + axis]!;
  const neurons = Array.from({ length: count }, (_, i) => i);

  it('fill the gaps between planes of depth, half a gap to either side', () => {
    const onPlanes = neurons.filter((i) => i % 10 !== 0);
    const squares = onPlanes.reduce((sum, i) => sum + moved(i, 2) ** 2, 0);
    expect(Math.sqrt(squares / onPlanes.length)).toBeCloseTo(0.021 / 2, 3);
    const mean = onPlanes.reduce((sum, i) => sum + moved(i, 2), 0) / onPlanes.length;
    expect(Math.abs(mean)).toBeLessThan(0.001);
  });

  it('stay within their grid if a depth is a cell body’s own, and in width and height', () => {
    for (const i of neurons) {
      for (const axis of i % 10 === 0 ? [0, 1, 2] : [0, 1]) {
        expect(Math.abs(moved(i, axis))).toBeLessThanOrEqual(1.5 * 0.0035 + 1e-6);
      }
    }
  });

  it('are the same on every visit', () => {
    expect(displayPositions(atlas)).toEqual(drawn);
  });
});
