/** An answer has up to millions of groups. Figures and tables rank their numbers, and make entries only of those they show. */
import { descending } from 'd3-array';
import { firstRows } from '../../clients/pages/laboratory/rates-table.js';
import { PhiloxSequence } from '../../src/engine/stimulus/philox.js';
import { figuresOf } from '../../src/experiments/figures/experiment-figures.js';
import type { Chosen, Findings } from '../../src/experiments/figures/figure-kind.js';
import { highestFirst } from '../../src/experiments/figures/measured-entries.js';
import type { GroupResult } from '../../src/experiments/kinds/result-rows.js';

const GROUPS = 200_000;
/** The mean of a group is its number, up to this one; further groups repeat the lowest means. */
const HIGHEST = 149_999;
const CELLS = Array.from({ length: GROUPS }, (_, at): GroupResult => {
  const mean = at % (HIGHEST + 1);
  return { root_id: String(at), neurons: 1, rate_hz: { mean, sd: 0, trials: [mean] } };
});
const SEED = { set: 'seed', values: [0, 1] };
const DURATION = { set: 'duration_ms', values: [20, 40] };

const chosen: Chosen = ({ values }) => values[0]!;

function findingsOf(sweep: readonly (typeof SEED)[], cells: readonly GroupResult[] = CELLS): Findings {
  const reports = { cells: { type: 'rate', node_set: '*', group_by: ['neuron'], start_ms: 0, end_ms: null } };
  const parameters = sweep.reduce<Record<string, number>[]>(
    (all, { set, values }) => all.flatMap((each) => values.map((value) => ({ ...each, [set]: value }))),
    [{}],
  );
  const conditions = parameters.map((each) => ({ complete: true, parameters: each, groups: { cells } }));
  const experiment = { reports, trials: 1, inputs: {}, silence: [], ...(sweep.length > 0 && { sweep }) };
  return { head: { experiment }, conditions, unchanged: 0, typeOf: () => undefined } as unknown as Findings;
}

it.each([
  ['bars', [], 40],
  ['curves', [SEED], 6],
  ['maps', [SEED, DURATION], 6],
])('%s make entries only of the groups that they draw', (_, sweep, drawn) => {
  const named: string[] = [];
  const typeOf = (id: string) => {
    named.push(id);
    return 'LC4';
  };
  const found = { ...findingsOf(sweep), typeOf };
  const [kind] = figuresOf(found.head.experiment);
  expect(kind!.draw(found, chosen)).toBeDefined();
  expect(named).toHaveLength(drawn * found.conditions.length);
  const highest = Array.from({ length: drawn }, (_, rank) => String(HIGHEST - rank));
  expect(new Set(named)).toEqual(new Set(highest));

  named.length = 0;
  const { shown, all } = kind!.rows!(found, chosen);
  expect([shown.length, all]).toEqual([1000, GROUPS * found.conditions.length]);
  expect(named.length).toBeLessThan(1100);
});

it('the table of rates has the most active groups of a condition, and reads no more of a sweep than it shows', () => {
  const idsOf = ({ shown }: ReturnType<typeof firstRows>) => shown.map(({ group }) => group.root_id);
  const active = firstRows(findingsOf([]), 3);
  expect([idsOf(active), active.all]).toEqual([['149999', '149998', '149997'], GROUPS]);
  let reads = 0;
  const counting = new Proxy(CELLS, {
    get(cells, member, receiver): unknown {
      if (/^\d+$/.test(String(member))) reads++;
      return Reflect.get(cells, member, receiver);
    },
  });
  const first = firstRows(findingsOf([SEED], counting), 3);
  expect([idsOf(first), first.all]).toEqual([['0', '1', '2'], 2 * GROUPS]);
  expect(reads).toBe(3);
});

it('the highest are those of a sort of all, and ties keep their order', () => {
  const random = new PhiloxSequence(4, 5, 6);
  const all = Array.from({ length: 1000 }, (_, at) => {
    const rank = random.nextBelow(9);
    return { at, rank: rank === 0 ? -Infinity : rank, second: random.nextBelow(3) };
  });
  const sorted = all.toSorted((a, b) => descending(a.rank, b.rank) || descending(a.second, b.second));
  const [rankOf, secondOf] = [({ rank }: (typeof all)[0]) => rank, ({ second }: (typeof all)[0]) => second];
  for (const most of [0, 1, 40, 950, 1000, Infinity]) {
    expect(highestFirst(all, most, rankOf, secondOf)).toEqual(sorted.slice(0, most));
  }
});
