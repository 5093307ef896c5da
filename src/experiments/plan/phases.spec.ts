import { Grid, type Axis } from '../kinds/grid.js';
import type { Groups } from '../kinds/groups.js';
import { phasesOf } from './phases.js';

const values = (...list: number[]): Axis => ({ kind: 'values', name: 'seed', values: list });
const groups = (name: string, count: number): Axis => ({
  kind: 'groups',
  name,
  groups: { count } as Groups,
  sparesSilent: name === 'silence',
});
const responders = (name: string, top: number): Axis => ({
  kind: 'responders',
  name,
  top,
  groupBy: ['type'],
  sparesSilent: name === 'silence',
});

/** Phases worked out by hand from the deciders of each cell. */
it.each<[string, Axis[], number[][]]>([
  ['one condition', [], [[0]]],
  [
    'only values',
    [values(1, 2, 3, 4, 5)],
    [
      [0, 2, 4],
      [1, 3],
    ],
  ],
  [
    'inputs, which no baseline decides',
    [groups('inputs.a', 4)],
    [
      [0, 2, 4],
      [1, 3],
    ],
  ],
  ['lesions, which the baseline decides', [groups('silence', 4)], [[0], [1, 3, 4], [2]]],
  // At each of two values: the baseline, then its two lesions.
  ['lesions at two values', [values(1, 2), groups('silence', 2)], [[0, 3], [1, 4, 5], [2]]],
  // Places (a, b) of 3 x 3: (0,0); then one of them; then both.
  ['two lesions', [groups('silence', 2), responders('inputs.a', 2)], [[0], [1, 3, 6], [2], [4, 7, 8], [5]]],
  // The inputs themselves are decided by nothing, the lesions by the baseline of each input.
  ['inputs and lesions', [groups('inputs.a', 1), groups('silence', 2)], [[0, 3], [1, 4, 5], [2]]],
])('conditions follow those that decide on them: %s', (_, axes, expected) => {
  const grid = new Grid(axes);
  const phases = phasesOf(grid, 0);
  expect(phases).toEqual(expected);
  const known = new Set<number>();
  for (const phase of phases) {
    for (const index of phase) {
      expect(grid.decidersOf(index).filter((decider) => !known.has(decider))).toEqual([]);
    }
    for (const index of phase) known.add(index);
  }
  expect(known.size).toBe(grid.size);
});

it('a condition is decided by its baselines, and by the conditions that decide on these', () => {
  const grid = new Grid([groups('silence', 2), groups('silence', 3), responders('inputs.a', 4)]);
  // The origin has the responders; each lesion is decided by the condition without it.
  const at = (...places: number[]) =>
    places.reduce((sum, place, axis) => sum + place * grid.strides[axis]!, 0);
  expect(grid.decidersOf(at(2, 3, 4))).toEqual([at(0, 0, 0), at(0, 0, 4), at(0, 3, 4), at(2, 0, 4)]);
  expect(grid.decidersOf(at(0, 0, 0))).toEqual([]);
});
