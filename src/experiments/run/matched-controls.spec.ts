/** Controls with other neurons, through to their answers. */
import {
  answerOf,
  groupsIn,
  localTrials,
  planOf,
  refusalOf,
} from '../../../test/support/open-experiments.js';
import { smallConnectome } from '../../../test/support/small-connectome.js';
import { SIDES } from '../../engine/connectome/connectome.js';
import { encodeConnectome, openConnectome } from '../../engine/connectome/format.js';
import { philox4x32, PhiloxSequence } from '../../engine/stimulus/philox.js';
import type { EventTable } from '../kinds/result-rows.js';
import { Page, type PageStart } from './pages.js';

const content = smallConnectome();
const neuronIds = content.neuronIds.map((_, i) => String(10n ** 17n + BigInt(i)));
const model = openConnectome(
  encodeConnectome({ ...content, metadata: { ...content.metadata, wiring: 'measured' }, neuronIds })
    .buffer as ArrayBuffer,
);
const runTrial = localTrials(model);
const run = (document: object, options = {}) => answerOf(planOf(model, document), runTrial, options);

/** All neurons without a type: they connect stimuli with channels. */
const INTERNEURONS = Array.from({ length: model.neuronCount }, (_, neuron) => neuron).filter(
  (neuron) => model.metadata.types[model.typeIndices[neuron]!]!.name === '',
);
const idsOf = (neurons: readonly number[]) => ({ root_id: neurons.map((neuron) => model.neuronId(neuron)) });
const MATCH = ['super_class', 'side', 'activity'];
const BASE = {
  inputs: { sugar: { node_set: 'S_sugar', rate_hz: 150 } },
  reports: { motor: { node_set: 'C_*', group_by: ['side'] } },
  duration_ms: 200,
  trials: 2,
};
const screenOf = (each: object, group_by: string[], as = 'silence') => ({
  ...BASE,
  sweep: [{ each, group_by, as }],
  controls: { [as === 'silence' ? as : 'inputs']: 'matched', match: MATCH, count: 6 },
});
const SOME = INTERNEURONS.slice(10, 22);
const drawnIn = ({ parameters }: { readonly parameters: object }, as = 'silence') =>
  (parameters as Record<string, { drawn: string } | null>)[as]?.drawn.split(' ');

describe('matched controls', () => {
  it('are those of their neurons silenced by name, also if only they are asked for', async () => {
    const document = screenOf(idsOf(SOME.slice(0, 5)), []);
    const { conditions, totals } = await run(document);
    expect(conditions.map(({ index }) => index)).toEqual([0, 1]);
    expect(groupsIn(conditions[0]!, 'motor').every(({ control }) => control === undefined)).toBe(true);
    const inControls = groupsIn(conditions[1]!, 'motor').map(({ control }) => control!.values);
    const seen = new Set<string>();
    for (let only = 1; only <= 6; only++) {
      const alone = await run({ ...document, controls: { ...document.controls, only } });
      const rates = groupsIn(alone.conditions[1]!, 'motor').map(({ rate_hz: rate }) => rate!.mean);
      expect(rates).toEqual(inControls.map((values) => values[only - 1]));
      const drawn = drawnIn(alone.conditions[1]!)!;
      expect(drawn).toHaveLength(5);
      const named = await run({ ...BASE, silence: [{ root_id: drawn }] });
      expect(groupsIn(named.conditions[0]!, 'motor').map(({ rate_hz: rate }) => rate!.mean)).toEqual(rates);
      seen.add(drawn.join());
    }
    expect(seen.size).toBe(6);
    expect(new Set(inControls.flat()).size).toBeGreaterThan(6);
    expect(totals.screen!.tests).toBe(groupsIn(conditions[1]!, 'motor').length);
  });

  it('stimulate other neurons at the same rate', async () => {
    const inputs = { sugar: BASE.inputs.sugar, more: { node_set: 'S_song', rate_hz: 80 } };
    const document = { ...screenOf(idsOf(SOME.slice(0, 4)), [], 'inputs.more'), inputs };
    const { conditions } = await run(document);
    const alone = await run({ ...document, controls: { ...document.controls, only: 3 } });
    const root_id = drawnIn(alone.conditions[1]!, 'inputs.more');
    expect(root_id).toHaveLength(4);
    const named = await run({ ...BASE, inputs: { ...inputs, more: { node_set: { root_id }, rate_hz: 80 } } });
    expect(groupsIn(named.conditions[0]!, 'motor').map(({ rate_hz: rate }) => rate!.mean)).toEqual(
      groupsIn(conditions[1]!, 'motor').map(({ control }) => control!.values[2]),
    );
  });

  it.each(['source', 'target'])(
    'have other neurons at the %s of an override, within the price',
    async (end) => {
      const as = `connection_overrides.o.${end}`;
      const others = { source: '@all', target: '@all', weight: 0.3 };
      const document = {
        ...BASE,
        connection_overrides: { o: others },
        sweep: [{ each: idsOf(SOME.slice(0, 4)), group_by: [], as }],
        controls: { connection_overrides: 'matched', match: MATCH, count: 6 },
      };
      const { conditions } = await run(document);
      const inControls = groupsIn(conditions[1]!, 'motor').map(({ control }) => control!.values);
      const { editedPairs: price = 0 } = planOf(model, document).preparationAt(9);
      for (let only = 1; only <= 6; only++) {
        const alone = await run({ ...document, controls: { ...document.controls, only } });
        const root_id = drawnIn(alone.conditions[1]!, as);
        expect(root_id).toHaveLength(4);
        const named = { ...BASE, connection_overrides: { o: { ...others, [end]: { root_id } } } };
        const [found] = (await run(named)).conditions;
        expect(groupsIn(found!, 'motor').map(({ rate_hz: rate }) => rate!.mean)).toEqual(
          inControls.map((values) => values[only - 1]),
        );
        expect(planOf(model, named).preparationAt(0).editedPairs).toBeLessThanOrEqual(price);
      }
      expect(new Set(inControls.flat()).size).toBeGreaterThan(4);
    },
  );

  it('are drawn in turns, and charged', async () => {
    const document = screenOf(idsOf(SOME), []);
    let isInTurn = false;
    const turns: boolean[] = [];
    const word = jest.spyOn(PhiloxSequence.prototype, 'nextBelow').mockImplementation(function (
      this: PhiloxSequence,
      limit,
    ) {
      turns.push(isInTurn);
      return this.nextUint32() % limit;
    });
    const { conditions } = await run(document, {
      turn: async (compute: () => unknown) => {
        isInTurn = true;
        const computed = compute();
        isInTurn = false;
        return computed;
      },
    });
    word.mockRestore();
    expect(conditions).toHaveLength(2);
    expect(turns.length).toBeGreaterThanOrEqual(6 * SOME.length);
    expect(turns).not.toContain(false);
    const neuronsOf = (changed: object, reports?: []) =>
      planOf(model, { ...document, ...changed }).cost.work(0, 0, reports).matchedNeurons;
    const index = (model.neuronCount * (1 + MATCH.length)) / 16;
    expect(neuronsOf({})).toBe(index + 6 * SOME.length);
    expect(neuronsOf({ controls: { ...document.controls, only: 9 } })).toBe(index + SOME.length);
    expect(neuronsOf({ controls: undefined })).toBe(0);
    expect(neuronsOf({}, [])).toBe(0);
  });

  it('run equal sets once, and a set that never spikes in the baseline not at all', async () => {
    const screen = screenOf(idsOf(SOME), ['neuron']);
    const { conditions, totals } = await run({
      ...screen,
      controls: { ...screen.controls, match: [], count: 100 },
    });
    let trials = 0;
    const count = (...all: Parameters<typeof runTrial>) => (trials++, runTrial(...all));
    const plan = planOf(model, { ...screen, controls: { ...screen.controls, match: [], count: 100 } });
    const again = await answerOf(plan, count, { inFlight: 7 });
    expect(again).toEqual({ head: again.head, conditions, totals });
    expect(totals.cost.brain_seconds).toBeCloseTo(trials * 0.2, 6);
    expect(trials).toBeLessThan(2 * (1 + SOME.length + model.neuronCount));
    expect(plan.cost.work().brainMs).toBe(200 * 2 * (1 + 12 * 101));
    // Neurons without a spike in the baseline give its rates.
    const baseline = groupsIn(conditions[0]!, 'motor').map(({ rate_hz: rate }) => rate!.mean);
    const values = groupsIn(conditions[1]!, 'motor').map(({ control }) => control!.values);
    const same = values[0]!.filter((_, at) => values.every((each, group) => each[at] === baseline[group]));
    expect(same.length).toBeGreaterThan(20);
  });

  it('compare different sets only, so that a screen of a whole pool has every rank once', async () => {
    // Background stimulates no neuron, so the 11 others of the type are free.
    const { conditions, totals } = await run({
      ...screenOf({ type: 'S_song' }, ['neuron']),
      inputs: {
        sugar: { node_set: 'S_sugar', rate_hz: 200 },
        song: { module: 'background', node_set: 'S_song', rate_hz: 40, event_mv: 60 },
      },
      reports: { motor: { node_set: 'C_*' } },
      controls: { silence: 'matched', match: ['type'], count: 200 },
      ...{ duration_ms: 500, trials: 4 },
    });
    const controls = conditions.slice(1).map((each) => groupsIn(each, 'motor')[0]!.control!);
    expect(controls.map(({ compared }) => compared)).toEqual(new Array(12).fill(11));
    const [{ values, incomplete }] = controls as [(typeof controls)[number]];
    expect([values.length, values.filter((value) => value !== null).length, incomplete]).toEqual([
      200,
      11,
      [],
    ]);
    const ranks = controls.map(({ p }) => p! * 12).sort((a, b) => a - b);
    ranks.forEach((rank, at) => expect(rank).toBeCloseTo(at + 1, 6));
    expect(totals.cost.brain_seconds).toBe((1 + 12 + 12) * 4 * 0.5);
    expect(totals.warnings.map(({ code }) => code)).toContain('FEW_CONTROLS');
    expect(totals.screen).toEqual({ tests: 12, found: [] });
  });

  it('have no screen in an answer that lacks conditions, because q corrects for those of all', async () => {
    const reports = { ...BASE.reports, rows: { node_set: 'S_sugar', type: 'spikes' } };
    const document = { ...screenOf(idsOf(SOME.slice(0, 3)), ['neuron']), reports };
    const page = (start: PageStart, rows: number, isLater = false) => ({
      from: start.condition,
      page: new Page(start, { rows, formats: 'JSON' }, isLater),
    });
    const start = { condition: 0, trial: 0 };
    const all = await run(document, page(start, Infinity));
    const last = all.conditions.at(-1)!.index;
    expect(all.totals.screen!.tests).toBeGreaterThan(1);
    expect((await run(document)).totals.screen).toEqual(all.totals.screen);
    const rows = (all.conditions[0]!.reports['rows'] as EventTable).steps.length;
    const first = await run(document, page(start, rows));
    expect(first.totals.next_page).toBeDefined();
    const rest = await run(document, page({ condition: 0, trial: 1 }, Infinity, true));
    const later = await run(document, { from: last });
    for (const { totals } of [first, rest, later]) expect(totals).not.toHaveProperty('screen');
  });

  it('give p that is uniform for neurons drawn at random', async () => {
    const EXPERIMENTS = 500;
    const COUNT = 19;
    const random = new PhiloxSequence(11, 0, 3);
    const ps: number[] = [];
    for (let seed = 0; seed < EXPERIMENTS; seed++) {
      const group = new Set<number>();
      while (group.size < 4) group.add(INTERNEURONS[random.nextBelow(INTERNEURONS.length)]!);
      const { conditions } = await run({
        ...screenOf(idsOf([...group]), []),
        // So many spikes that few rates are equal: equal ones make p larger.
        inputs: { all: { node_set: 'S_*', rate_hz: 100 } },
        reports: { motor: { node_set: 'C_*' } },
        controls: { silence: 'matched', match: ['type'], count: COUNT },
        ...{ seed, trials: 1, duration_ms: 100 },
      });
      if (conditions.length > 1) ps.push(groupsIn(conditions[1]!, 'motor')[0]!.control!.p!);
      else ps.push(1);
    }
    // Kolmogorov-Smirnov at the steps of p; critical value at 0.05.
    const shares = Array.from({ length: 1 + COUNT }, (_, at) => (at + 1) / (1 + COUNT));
    const distance = Math.max(
      ...shares.map((share) => Math.abs(ps.filter((p) => p <= share + 1e-9).length / EXPERIMENTS - share)),
    );
    expect(distance).toBeLessThan(1.358 / Math.sqrt(EXPERIMENTS));
    // 99 % of binomial numbers with 500 draws at 0.05 are from 13 to 38.
    const falsePositives = ps.filter((p) => p <= 0.05).length;
    expect(falsePositives).toBeGreaterThanOrEqual(13);
    expect(falsePositives).toBeLessThanOrEqual(38);
  });
});

describe('the draw of matched neurons', () => {
  /** Written only from "Matched neurons" of docs/wiring.md. */
  function drawnByHand(
    group: readonly number[],
    match: readonly string[],
    leftOut: ReadonlySet<number>,
    spikes: (neuron: number) => number,
    [seed, control, condition]: readonly [number, number, number],
  ): number[] {
    const all = Array.from({ length: model.neuronCount }, (_, neuron) => neuron);
    const counts = all
      .map(spikes)
      .filter((count) => count > 0)
      .sort((a, b) => a - b);
    const edges = [50, 75, 90, 97].map((p) => counts[Math.floor((p * counts.length) / 100)]!);
    const binOf = (neuron: number) => {
      if (!match.includes('activity') || spikes(neuron) === 0) return 0;
      return 1 + edges.filter((edge) => spikes(neuron) >= edge).length;
    };
    const labels = match.filter((label) => label !== 'activity');
    const labelOf = (neuron: number, label: string) => {
      const { superClass } = model.metadata.classes[model.classIndices[neuron]!]!;
      const type = model.metadata.types[model.typeIndices[neuron]!]!.name;
      return { super_class: superClass, side: SIDES[model.sides[neuron]!]!, type }[label]!;
    };
    const alike = (a: number, b: number, of: readonly string[], distance: number) =>
      of.every((label) => labelOf(a, label) === labelOf(b, label)) &&
      Math.abs(binOf(a) - binOf(b)) <= distance;
    const words: number[] = [];
    let block = 0;
    const word = () => {
      if (words.length === 0) {
        const out = new Uint32Array(4);
        philox4x32(out, block++, condition, 0, 6, seed, control);
        words.push(...out);
      }
      return words.shift()!;
    };
    const drawn: number[] = [];
    const sets: number[][] = [];
    for (const neuron of group) {
      const set = sets.find(([first]) => alike(first!, neuron, labels, 0));
      if (set === undefined) sets.push([neuron]);
      else set.push(neuron);
    }
    for (const set of sets) {
      const isFree = (neuron: number) => !drawn.includes(neuron);
      const isOther = (neuron: number) => isFree(neuron) && !group.includes(neuron);
      const places = all.filter((each) => !leftOut.has(each));
      const pools = labels
        .map((_, at) => labels.slice(0, labels.length - at))
        .concat([[]])
        .flatMap((kept) => [0, 1, 2, 3, 4].map((distance) => [kept, distance] as const))
        .map(([kept, distance]) =>
          places.filter(
            (each) => alike(set[0]!, each, kept, distance) && (binOf(each) === 0) === (binOf(set[0]!) === 0),
          ),
        );
      const pool = pools.find((each) => each.filter(isOther).length >= set.length) ?? places;
      for (let left = Math.min(set.length, pool.filter(isFree).length); left > 0;) {
        const given = word();
        if (given < 2 ** 32 % pool.length) continue;
        const neuron = pool[given % pool.length]!;
        if (!isFree(neuron)) continue;
        drawn.push(neuron);
        left--;
      }
    }
    return drawn.sort((a, b) => a - b);
  }

  it.each([
    ['labels and activity', MATCH, SOME],
    ['nothing', [], SOME],
    ['activity', ['activity'], [...SOME.slice(0, 3), ...INTERNEURONS.slice(60, 70)]],
    [
      'labels that too few share',
      ['super_class', 'side', 'type'],
      [...INTERNEURONS.slice(0, 70), 20, 21, 30],
    ],
    [
      'more than there are',
      ['side', 'activity'],
      Array.from({ length: model.neuronCount }, (_, neuron) => neuron),
    ],
  ])('is the one that the docs describe, with %s', async (name, match, group) => {
    const silence = idsOf([INTERNEURONS[5]!]);
    const document = { ...screenOf(idsOf(group), []), silence: [silence], seed: 4_000_000_000 };
    const baseline = await run({
      ...BASE,
      silence: [silence],
      seed: document.seed,
      reports: { all: { node_set: '@all', group_by: ['neuron'] } },
    });
    const rates = groupsIn(baseline.conditions[0]!, 'all');
    expect(rates).toHaveLength(model.neuronCount);
    const neuronsOf = (type: RegExp) =>
      Array.from({ length: model.neuronCount }, (_, neuron) => neuron).filter((neuron) =>
        type.test(model.metadata.types[model.typeIndices[neuron]!]!.name),
      );
    const stimulated = new Set(neuronsOf(/^S_sugar$/));
    const leftOut = new Set([...stimulated, ...neuronsOf(/^C_/), INTERNEURONS[5]!]);
    const byId = new Map(rates.map(({ root_id: id, rate_hz: rate }) => [id, Math.round(rate!.mean * 0.4)]));
    const spikes = (neuron: number) => byId.get(model.neuronId(neuron))!;
    const isWidened = /few|more/.test(name);
    for (const only of [1, 2, 20]) {
      const { conditions, totals } = await run({
        ...document,
        controls: { silence: 'matched', match, only },
      });
      const sorted = [...group].sort((a, b) => a - b);
      const byHand = drawnByHand(sorted, match, leftOut, spikes, [document.seed, only, 1]);
      expect(drawnIn(conditions[1]!)).toEqual(byHand.map((neuron) => model.neuronId(neuron)));
      const warning = totals.warnings.find(({ code }) => code === 'MATCH_WIDENED');
      const parts = match.map((label) => (label === 'activity' ? 'activity bin [0-5]' : '[^,;]+')).join(', ');
      if (name === 'more than there are') {
        const free = `only ${byHand.length} of ${group.length} neurons were free, because reports read the others`;
        expect(warning!.message).toContain(free);
      } else if (isWidened) expect(warning!.message).not.toContain('free');
      if (isWidened)
        expect(warning!.message).toMatch(new RegExp(`Too few had: ${parts}(; ${parts})*(; and others)?[.]$`));
      else expect(warning).toBeUndefined();
    }
  });
});

it.each([
  [
    'no form',
    { count: 5 },
    '/controls/shuffle',
    /one of shuffle, counts, signs, silence, inputs and connection_overrides/,
  ],
  ['two forms', { shuffle: 'weights', silence: 'matched' }, '/controls/silence', /there is shuffle too/],
  ['no axis', { inputs: 'matched' }, '/controls/inputs', /got none\. {"each": SELECTOR/],
  ['an unknown label', { silence: 'matched', match: ['size'] }, '/controls/match/0', /activity/],
  ['a shuffle that matches', { shuffle: 'weights', match: ['side'] }, '/controls/match', /left out/],
  ['a shuffle by itself', { shuffle: 'weights', only: 1 }, '/controls/only', /left out/],
])('refuses controls with %s', (_, controls, path, message) => {
  const refusal = refusalOf(() => planOf(model, { ...screenOf(idsOf(SOME), []), controls }));
  expect(refusal).toMatchObject({ code: 'INVALID_PARAMETER', path });
  expect(refusal.message).toMatch(message);
});
