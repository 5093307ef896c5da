import fc from 'fast-check';
import { withoutPauses } from '../parts.js';
import { type Connections, type Direction, DIRECTIONS, neighboursOf } from './neighbours.js';

type Pair = readonly [pre: number, post: number, synapses: number];

/**
 * A circle of three neurons, 0 to 2, with ways out of it, and a neuron that connects only with itself:
 *
 *     0 -5-> 1 -9-> 2 -9-> 3      1 -6-> 4      2 -5-> 0      5 -7-> 5
 */
const CHAIN: readonly Pair[] = [
  [0, 1, 5],
  [1, 2, 9],
  [1, 4, 6],
  [2, 0, 5],
  [2, 3, 9],
  [5, 5, 7],
];

/** @param pairs ascending */
function wiringOf(neuronCount: number, pairs: readonly Pair[]): Connections {
  const rowStart = new Uint32Array(neuronCount + 1);
  for (const [pre] of pairs) rowStart.fill(rowStart[pre + 1]! + 1, pre + 1);
  return {
    neuronCount,
    rowStart,
    targets: Uint32Array.from(pairs, ([, post]) => post),
    synapseCounts: Uint16Array.from(pairs, ([, , synapses]) => synapses),
  };
}

function neighbours(
  wiring: Connections,
  direction: Direction,
  origin: readonly number[],
  hops: number,
  minimumSynapses: number,
): number[] {
  const walk = { direction, hops, minimumSynapses };
  return [...withoutPauses(neighboursOf(wiring, Uint32Array.from(origin), walk))];
}

describe('neighbours', () => {
  it.each<[Direction, number[], number, number, number[]]>([
    ['downstream_of', [0], 1, 5, [1]],
    ['downstream_of', [0], 2, 5, [1, 2, 4]],
    // Around the circle the walk returns to its origin.
    ['downstream_of', [0], 3, 5, [0, 1, 2, 3, 4]],
    ['downstream_of', [0], 3, 6, []],
    ['downstream_of', [1], 3, 6, [2, 3, 4]],
    // A neuron of the origin that another neuron of the origin reaches.
    ['downstream_of', [0, 1], 1, 5, [1, 2, 4]],
    ['downstream_of', [3, 4], 3, 5, []],
    ['downstream_of', [5], 2, 7, [5]],
    ['downstream_of', [5], 2, 8, []],
    ['upstream_of', [3], 1, 5, [2]],
    ['upstream_of', [3], 2, 5, [1, 2]],
    ['upstream_of', [3], 3, 5, [0, 1, 2]],
    ['upstream_of', [3], 3, 9, [1, 2]],
    ['upstream_of', [0], 3, 5, [0, 1, 2]],
    ['upstream_of', [1, 2], 1, 5, [0, 1]],
    ['upstream_of', [5], 1, 5, [5]],
    ['upstream_of', [], 3, 5, []],
  ])('%s %j over %d hops of %d synapses are %j', (direction, origin, hops, minimum, expected) => {
    expect(neighbours(wiringOf(6, CHAIN), direction, origin, hops, minimum)).toEqual(expected);
  });

  it('are the ends of all paths, one connection after the other', () => {
    const pairs = fc.uniqueArray(
      fc.tuple(fc.nat(11), fc.nat(11), fc.integer({ min: 5, max: 8 })).map((pair): Pair => pair),
      { maxLength: 30, selector: ([pre, post]) => 12 * pre + post },
    );
    fc.assert(
      fc.property(
        pairs,
        fc.constantFrom(...DIRECTIONS),
        fc.uniqueArray(fc.nat(11), { maxLength: 4 }),
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 5, max: 8 }),
        (unsorted, direction, origin, hops, minimum) => {
          const sorted = unsorted.toSorted(([a, b], [c, d]) => a - c || b - d);
          const reached = new Set<number>();
          const follow = (neuron: number, left: number): void => {
            for (const [pre, post, synapses] of left > 0 ? sorted : []) {
              const [from, to] = direction === 'downstream_of' ? [pre, post] : [post, pre];
              if (from !== neuron || synapses < minimum) continue;
              reached.add(to);
              follow(to, left - 1);
            }
          };
          for (const neuron of origin) follow(neuron, hops);
          expect(
            neighbours(wiringOf(12, sorted), direction, origin.toSorted(numerically), hops, minimum),
          ).toEqual([...reached].toSorted(numerically));
        },
      ),
      { numRuns: 500 },
    );
  });
});

function numerically(a: number, b: number): number {
  return a - b;
}
