/** A document runs on every fly: with `on_missing: skip` nothing is refused because a selector selects nothing. */
import { answerOf, localTrials, planOf, refusalOf } from '../../../test/support/open-experiments.js';
import { smallConnectome } from '../../../test/support/small-connectome.js';
import { encodeConnectome, openConnectome } from '../../engine/connectome/format.js';
import { FORMATS } from '../formats/formats.js';
import { answerWriter } from '../formats/answer-writer.js';
import { runExperiment } from '../run/run-experiment.js';

const content = smallConnectome();
const metadata = { ...content.metadata, wiring: 'measured' as const };
const neuronIds = content.neuronIds.map((_, i) => String(10n ** 17n + BigInt(i)));
const connectome = openConnectome(
  encodeConnectome({ ...content, metadata, neuronIds }).buffer as ArrayBuffer,
);
const runTrial = localTrials(connectome);

const BASE = {
  inputs: { s: { node_set: 'S_sugar', rate_hz: 200 } },
  duration_ms: 60,
  trials: 2,
  reports: { walk: { node_set: 'C_walk' } },
};
const ID = '720575940699999999';
const report = (more: object) => (lacking: unknown) => ({
  reports: { ...BASE.reports, r: { node_set: lacking, ...more } },
});
const input = (more: object) => (lacking: unknown) => ({
  inputs: { ...BASE.inputs, i: { node_set: lacking, ...more } },
});
const override = (ends: (lacking: unknown) => object) => (lacking: unknown) => ({
  connection_overrides: { o: { source: 'S_sugar', target: '@all', weight: 1, ...ends(lacking) } },
});
const each =
  (as: string, more: object = {}) =>
  (lacking: unknown) => ({ ...more, sweep: [{ each: lacking, group_by: ['type'], as }] });

/** Every member that has a selector. */
const MEMBERS: Readonly<Record<string, (lacking: unknown) => object>> = {
  node_sets: (lacking) => ({ node_sets: { mine: lacking } }),
  'node_sets that others name': (lacking) => ({
    node_sets: { mine: lacking },
    silence: ['mine'],
    reports: { ...BASE.reports, r: { node_set: ['mine', 'C_stop'] } },
  }),
  poisson: input({ rate_hz: 100 }),
  'rates in time': input({ rate_hz: { times_ms: [0, 10], values: [10, 100] } }),
  pattern: (lacking) => ({ inputs: { ...BASE.inputs, i: { rates: [{ node_set: lacking, rate_hz: 50 }] } } }),
  'rows of a pattern': (lacking) => ({
    inputs: {
      ...BASE.inputs,
      i: { rates: ['S_loom', lacking].map((node_set) => ({ node_set, rate_hz: 50 })) },
    },
  }),
  background: input({ module: 'background', rate_hz: 0.5 }),
  spikes: input({ module: 'spikes', times_ms: [10] }),
  'spikes by id': input({ module: 'spikes', times_ms: { [ID]: [10] } }),
  silence: (lacking) => ({ silence: ['C_stop', lacking] }),
  'only silence': (lacking) => ({ silence: [lacking] }),
  'timed silence': (lacking) => ({ silence: [{ node_set: lacking, start_ms: 10, end_ms: 20 }] }),
  source: override((source) => ({ source })),
  target: override((target) => ({ target })),
  'both ends, rewired': (lacking) => ({
    ...override(() => ({ source: lacking, target: lacking }))(lacking),
    wiring: { shuffle: 'weights' },
  }),
  rate: report({}),
  'rate by type, controlled': (lacking) => ({
    ...report({ group_by: ['type', 'side'] })(lacking),
    controls: { shuffle: 'weights', count: 2 },
  }),
  histogram: report({ type: 'histogram', bin_ms: 10 }),
  latency: report({ type: 'latency' }),
  'spikes of neurons': report({ type: 'spikes' }),
  'inputs of neurons': report({ type: 'inputs' }),
  membrane: report({ type: 'membrane' }),
  'each silenced': each('silence'),
  'each stimulated': each('inputs.s'),
  'each at one end': each('connection_overrides.o.source', override(() => ({}))('')),
  'each at the other end': each('connection_overrides.o.target', override(() => ({}))('')),
};

const LACKING = {
  'a type that the model lacks': 'Nobody',
  'an id that it lacks': { root_id: [ID] },
  'a side without neurons': { type: 'C_walk', side: 'center' },
};

describe.each(Object.entries(LACKING))('%s', (_, lacking) => {
  it.each(Object.entries(MEMBERS))('in %s is refused, or skipped with a warning', async (_name, member) => {
    const document = { ...BASE, ...member(lacking) };
    expect(refusalOf(() => planOf(connectome, document)).code).toMatch(/^(UNKNOWN_NEURONS|EMPTY_NODE_SET)$/);
    const plan = planOf(connectome, { ...document, on_missing: 'skip' });
    expect(plan.warnings.map(({ code }) => code)).toContain('MISSING_SKIPPED');
    plan.dryRun();
    const { conditions } = await answerOf(plan, runTrial);
    expect(conditions).toHaveLength(1);
    expect(conditions[0]!.spikes!.mean).toBeGreaterThanOrEqual('sweep' in document ? 0 : 5);
    for (const format of Object.keys(FORMATS) as (keyof typeof FORMATS)[]) {
      for (const table of format.endsWith('json') ? [undefined] : tablesOf(document)) {
        const writer = await answerWriter(format, {
          connectome,
          experiment: plan.head.experiment,
          ...(table && { table }),
        });
        let bytes = 0;
        for await (const event of runExperiment(plan, runTrial, { inFlight: 1 })) {
          for (const piece of writer.write(event)) bytes += piece.length;
        }
        expect(bytes).toBeGreaterThan(10);
      }
    }
  });
});

function tablesOf({ reports }: { reports: object }): string[] {
  const types = Object.values(reports as Record<string, { type?: string }>).map(({ type = 'rate' }) => type);
  return [...new Set(types.map((type) => (type === 'rate' ? 'rates' : type)))];
}

it('lists skipped names, by the name of the selector in the answer', () => {
  const { warnings, head } = planOf(connectome, {
    ...BASE,
    node_sets: { mine: 'Nobody' },
    inputs: { ...BASE.inputs, i: { node_set: 'mine' } },
    silence: ['C_stop', { type: 'C_walk', side: 'center' }],
    reports: { ...BASE.reports, r: { node_set: { type: 'C_walk', side: 'center' } } },
    on_missing: 'skip',
  });
  expect(warnings.filter(({ code }) => code === 'MISSING_SKIPPED').map(({ message }) => message)).toEqual([
    'The model lacks Nobody; skipped.',
    'The model has no neuron for mine, inputs.i, silence.1, reports.r; skipped.',
  ]);
  expect(head.resolved['reports.r']).toEqual({ neurons: 0, sides: {}, types: {}, missing: [] });
});

it('skips an override between neurons that are not connected here, and says so', () => {
  const document = {
    ...BASE,
    connection_overrides: { o: { source: 'S_sugar', target: 'S_loom', weight: 0 } },
  };
  expect(refusalOf(() => planOf(connectome, document)).code).toBe('NO_CONNECTION');
  expect(planOf(connectome, { ...document, on_missing: 'skip' }).warnings).toContainEqual({
    code: 'NO_EFFECT',
    message:
      'The override o changes nothing: the model has no connection from one of its sources to one of its targets.',
  });
});
