import { CodedError } from '../../engine/errors.js';
import { parseDocument } from './parse-document.js';

const LIMITS = { conditions: 2000, ids: 10_000 };
const CHANNELS = ['escape', 'walk'];
const parse = (value: unknown) => parseDocument(value, LIMITS, CHANNELS);

/** Error with which a document is refused. */
function refusal(value: unknown): {
  path: string | undefined;
  message: string;
  suggestions?: readonly string[];
} {
  try {
    parse(value);
  } catch (error) {
    expect(error).toBeInstanceOf(CodedError);
    const { code, path, message, suggestions } = error as CodedError;
    expect(code).toBe('INVALID_PARAMETER');
    return { path, message, ...(suggestions !== undefined && { suggestions }) };
  }
  throw new Error(`accepted: ${JSON.stringify(value).slice(0, 200)}`);
}

describe('a complete document', () => {
  it('has every default written out', () => {
    expect(parse({ inputs: { sugar: { node_set: '@sugar' } } })).toEqual({
      node_sets: {},
      inputs: {
        sugar: { node_set: '@sugar', module: 'poisson', rate_hz: 150, delay_ms: 0, duration_ms: 1000 },
      },
      silence: [],
      duration_ms: 1000,
      trials: 10,
      seed: 42,
      reports: {
        escape: {
          node_set: '@channel/escape',
          type: 'rate',
          group_by: ['side'],
          start_ms: 0,
          end_ms: 1000,
        },
        walk: { node_set: '@channel/walk', type: 'rate', group_by: ['side'], start_ms: 0, end_ms: 1000 },
      },
      on_missing: 'error',
    });
  });

  it('has its members in the order of the table, and names in the order of the request', () => {
    const document = parse({
      on_missing: 'skip',
      trials: 3,
      reports: { z: { bin_ms: 5, type: 'histogram', node_set: 'LC4' }, a: { node_set: 'LC4' } },
      inputs: { z: { rate_hz: 1, node_set: { side: 'left', type: 'LC4' } }, a: { node_set: 'LC4' } },
      name: 'order',
    });
    expect(JSON.stringify(document)).toBe(
      '{"name":"order","node_sets":{},' +
        '"inputs":{"z":{"node_set":{"type":"LC4","side":"left"},"module":"poisson","rate_hz":1,"delay_ms":0,"duration_ms":1000},' +
        '"a":{"node_set":"LC4","module":"poisson","rate_hz":150,"delay_ms":0,"duration_ms":1000}},' +
        '"silence":[],"duration_ms":1000,"trials":3,"seed":42,' +
        '"reports":{"z":{"node_set":"LC4","type":"histogram","group_by":[],"start_ms":0,"end_ms":1000,"bin_ms":5},' +
        '"a":{"node_set":"LC4","type":"rate","group_by":[],"start_ms":0,"end_ms":1000}},"on_missing":"skip"}',
    );
  });

  it('has the report of a rate for the name of neurons', () => {
    const reports = { m: '@MN9', z: { node_set: 'LC4', type: 'spikes' } };
    const written = { ...reports, m: { node_set: '@MN9' } };
    expect(JSON.stringify(parse({ reports }))).toBe(JSON.stringify(parse({ reports: written })));
    expect(parse({ reports }).reports['m']).toMatchObject({ node_set: '@MN9', type: 'rate' });
    expect(refusal({ reports: { m: ':left' } }).path).toBe('/reports/m/node_set');
    expect(refusal({ reports: { m: 5 } })).toEqual({
      path: '/reports/m',
      message: 'reports.m must be a JSON object, or a string that names neurons, got 5.',
    });
  });

  it('has an end of a window unless a sweep decides it', () => {
    const input = { node_set: 'LC4', delay_ms: 0.3 };
    const reports = { mn9: { node_set: '@MN9', end_ms: null } };
    const swept = (set: string, ...values: number[]) =>
      parse({ duration_ms: 500, inputs: { i: input }, reports, sweep: [{ set, values }] });
    const ends = (document: ReturnType<typeof parse>) => [
      document.inputs['i']!.duration_ms,
      document.reports['mn9']!.end_ms,
    ];
    expect(ends(parse({ duration_ms: 500, inputs: { i: input }, reports }))).toEqual([499.7, 500]);
    expect(ends(swept('seed', 1, 2))).toEqual([499.7, 500]);
    expect(ends(swept('inputs.i.delay_ms', 0, 2))).toEqual([null, 500]);
    expect(ends(swept('inputs.i.duration_ms', 1, 2))).toEqual([null, 500]);
    expect(ends(swept('duration_ms', 100, 200))).toEqual([null, null]);
  });

  it('takes a computed multiple of 0.1 ms for that multiple, and -0 for 0', () => {
    const at = (delay_ms: number) =>
      parse({ inputs: { i: { node_set: 'LC4', delay_ms } } }).inputs['i']!.delay_ms;
    const times_ms = Array.from({ length: 10_000 }, (_, tenth) => tenth / 10);
    expect(
      parse({ inputs: { i: { node_set: 'LC4', module: 'spikes', times_ms } } }).inputs['i'],
    ).toMatchObject({
      times_ms,
    });
    expect(at(0.1 * 3)).toBe(0.3);
    expect(Object.is(at(-0), 0)).toBe(true);
    expect(refusal({ inputs: { i: { node_set: 'LC4', delay_ms: 0.30001 } } })).toEqual({
      path: '/inputs/i/delay_ms',
      message: 'inputs.i.delay_ms must be a multiple of 0.1 from 0 to 599999.9, got 0.30001.',
    });
  });

  it('has given times in ascending order, by ascending root id', () => {
    const times_ms = { '720575940660219265': [2, 1.1], '720575940645521262': [3] };
    const { inputs } = parse({ inputs: { i: { node_set: '@MN9', module: 'spikes', times_ms } } });
    expect(JSON.stringify(inputs['i'])).toBe(
      '{"node_set":"@MN9","module":"spikes",' +
        '"times_ms":{"720575940645521262":[3],"720575940660219265":[1.1,2]},"delay_ms":0,"duration_ms":1000}',
    );
  });
});

describe('a sweep', () => {
  it('stands in the order of the schema, as ids depend on it', () => {
    const document = {
      on_missing: 'skip',
      sweep: [{ set: 'seed', values: [2, 1] }],
      controls: { shuffle: 'weights' },
    };
    expect(Object.keys(parse(document)).slice(-4)).toEqual(['reports', 'sweep', 'controls', 'on_missing']);
  });

  const swept = (axis: object) => parse({ inputs: { i: { node_set: 'LC4' } }, sweep: [axis] }).sweep![0];

  it.each([
    [{ from: 0, to: 0.5, step: 0.1 }, [0, 0.1, 0.2, 0.3, 0.4, 0.5]],
    [{ from: 10, to: 200, step: 95 }, [10, 105, 200]],
    [{ from: 0, to: 1, step: 0.3 }, [0, 0.3, 0.6, 0.9]],
    [{ from: 7, to: 7, step: 1 }, [7]],
    [{ from: 1e-7, to: 3e-7, step: 1e-7 }, [1e-7, 2e-7, 3e-7]],
  ])('from, to and step: %j', (range, values) => {
    expect(swept({ set: 'inputs.i.rate_hz', ...range })).toEqual({ set: 'inputs.i.rate_hz', values });
  });

  it('reaches the last of 2000 values without rounding', () => {
    const axis = { set: 'inputs.i.delay_ms', from: 0.1, to: 200, step: 0.1 };
    expect(swept(axis)).toEqual({
      set: axis.set,
      values: Array.from({ length: 2000 }, (_, i) => (i + 1) / 10),
    });
  });

  it('of groups has its defaults', () => {
    expect(swept({ each: { responders_of: 'baseline' }, as: 'silence' })).toEqual({
      each: { responders_of: 'baseline', top: 200 },
      group_by: ['neuron'],
      as: 'silence',
    });
    expect(swept({ as: 'inputs.i', group_by: ['type'], each: ['CB*', '@MN9'] })).toEqual({
      each: ['CB*', '@MN9'],
      group_by: ['type'],
      as: 'inputs.i',
    });
  });

  it('with too many conditions is refused without being expanded', () => {
    const axis = (set: string) => ({ set, from: 0, to: 999, step: 1 });
    const inputs = { a: { node_set: 'A' }, b: { node_set: 'B' } };
    const sweep = [axis('seed'), axis('inputs.a.delay_ms'), axis('inputs.b.delay_ms')];
    expect(refusal({ inputs, sweep })).toEqual({
      path: '/sweep',
      message: 'sweep must have at most 2000 conditions, got 1000000000: 1000 x 1000 x 1000.',
    });
    expect(refusal({ sweep: [{ set: 'seed', from: 0, to: 2 ** 32 - 1, step: 1 }] }).path).toBe('/sweep');
    expect(
      refusal({ inputs, sweep: [{ set: 'inputs.a.rate_hz', from: 0, to: 1, step: 5e-324 }] }).message,
    ).toBe('sweep must have at most 2000 conditions, got about 10^323.');
  });
});

describe('a document is refused', () => {
  const input = (members: object) => ({ inputs: { i: { node_set: 'LC4', ...members } } });
  const report = (members: object) => ({ reports: { r: { node_set: 'LC4', ...members } } });
  const sets = (node_sets: unknown) => ({ node_sets });
  const set = (members: object) => ({ inputs: { i: { node_set: 'LC4' } }, sweep: [members] });
  const nested = (levels: number, wrap: (inner: unknown) => unknown) => {
    let value: unknown = 'LC4';
    for (let level = 0; level < levels; level++) value = wrap(value);
    return value;
  };

  it.each<[string, unknown, string, RegExp]>([
    ['that is no object', [], '', /^The document must be a JSON object, got \[\]\.$/],
    ['that is null', null, '', /got null/],
    ['with an unknown member', { trails: 3 }, '/trails', /may have the members name, .*; near: trials\.$/],
    ['with a prototype’s name', JSON.parse('{"__proto__": {}}'), '/__proto__', /"__proto__"/],
    ['with a method’s name', { constructor: 1 }, '/constructor', /"constructor"/],
    [
      'with a set named like a prototype',
      sets(JSON.parse('{"__proto__": "LC4"}')),
      '/node_sets',
      /__proto__/,
    ],
    ['with an unknown member of an input', input({ rate: 3 }), '/inputs/i/rate', /near: rate_hz/],
    [
      'with a rate above its bound',
      input({ rate_hz: 600 }),
      '/inputs/i/rate_hz',
      /from 0 to 500, got 600\.$/,
    ],
    ['with a rate that is text', input({ rate_hz: '100' }), '/inputs/i/rate_hz', /a number .*, got "100"\.$/],
    [
      'with an unknown module',
      input({ module: 'spike' }),
      '/inputs/i/module',
      /one of poisson, spikes, background,/,
    ],
    [
      'with times for a Poisson train',
      input({ times_ms: [1] }),
      '/inputs/i/times_ms',
      /only if module is spikes, got poisson/,
    ],
    [
      'without times',
      input({ module: 'spikes' }),
      '/inputs/i/times_ms',
      /inputs\.i must have the member times_ms/,
    ],
    [
      'with the name of a neuron as a root id',
      { silence: [{ root_id: ['LC4_L_0001'] }] },
      '/silence/0/root_id/0',
      /a root id, which only measured cells have: a string/,
    ],
    [
      'with a time twice',
      input({ module: 'spikes', times_ms: [1, 2, 1] }),
      '/inputs/i/times_ms/2',
      /item 0 is the same/,
    ],
    [
      'with times after its end',
      input({ module: 'spikes', times_ms: [1000] }),
      '/inputs/i/times_ms',
      /before the end/,
    ],
    [
      'with a name of an input that has a dot',
      { inputs: { 'a.b': { node_set: 'A' } } },
      '/inputs',
      /got "a\.b"/,
    ],
    [
      'without the neurons of an input',
      { inputs: { i: {} } },
      '/inputs/i/node_set',
      /must have the member node_set/,
    ],
    [
      'with a window after the trial',
      input({ delay_ms: 1000 }),
      '/inputs/i/delay_ms',
      /less than the trial, 1000 ms/,
    ],
    [
      'with a window across the end',
      input({ delay_ms: 900, duration_ms: 100.1 }),
      '/inputs/i/duration_ms',
      /at most 100:/,
    ],
    [
      'with a report that ends before it starts',
      report({ start_ms: 5, end_ms: 5 }),
      '/reports/r/end_ms',
      /more than start_ms/,
    ],
    [
      'with bins of a rate',
      report({ bin_ms: 5 }),
      '/reports/r/bin_ms',
      /only if type is histogram, got rate/,
    ],
    [
      'with groups of a table',
      report({ type: 'spikes', group_by: ['side'] }),
      '/reports/r/group_by',
      /an empty list/,
    ],
    [
      'with a group twice',
      report({ group_by: ['side', 'side'] }),
      '/reports/r/group_by/1',
      /item 0 is the same/,
    ],
    [
      'with an id that is a number',
      sets({ a: { root_id: Number('720575940660219265') } }),
      '/node_sets/a/root_id',
      /exceed 2\^53/,
    ],
    ['with a leading zero in an id', sets({ a: { root_id: '01' } }), '/node_sets/a/root_id', /leading zero/],
    ['with a list of such ids', sets({ a: { root_id: ['1', 2] } }), '/node_sets/a/root_id/1', /exceed 2\^53/],
    [
      'with an id as a selector',
      sets({ a: [Number('720575940660219265')] }),
      '/node_sets/a/0',
      /ids are strings in root_id/,
    ],
    ['with an unknown label', sets({ a: { types: 'LC4' } }), '/node_sets/a/types', /near: type/],
    [
      'with a side that is none',
      sets({ a: { side: 'lft' } }),
      '/node_sets/a/side',
      /one of left, right, center/,
    ],
    ['with a suffix that is no side', sets({ a: 'LC4:lft' }), '/node_sets/a', /:left, :right, :center/],
    ['with only an exception', sets({ a: { except: 'LC4' } }), '/node_sets/a', /at least one of type/],
    [
      'with hops from nowhere',
      sets({ a: { type: 'LC4', hops: 2 } }),
      '/node_sets/a',
      /one of the members downstream_of, upstream_of\.$/,
    ],
    [
      'with only hops and an exception',
      sets({ a: { minimum_synapses: 9, except: 'LC4' } }),
      '/node_sets/a',
      /one of the members downstream_of, upstream_of\.$/,
    ],
    [
      'with four hops',
      sets({ a: { downstream_of: 'LC4', hops: 4 } }),
      '/node_sets/a/hops',
      /an integer from 1 to 3, got 4\.$/,
    ],
    [
      'with connections of no synapse',
      sets({ a: { upstream_of: 'LC4', minimum_synapses: 0 } }),
      '/node_sets/a/minimum_synapses',
      /an integer from 1 to 8191, got 0\.$/,
    ],
    [
      'with neighbours of nobody',
      sets({ a: { downstream_of: {} } }),
      '/node_sets/a/downstream_of',
      /at least one of type, .*, downstream_of, upstream_of, got \{\}\.$/,
    ],
    [
      'with 61 hops in all',
      sets({
        a: Array.from({ length: 20 }, (_, i) => ({ downstream_of: `T${i}`, hops: 3 })),
        b: { type: 'LC4', except: { upstream_of: 'LC4' } },
      }),
      '/node_sets/b/except/upstream_of',
      /over at most 60 hops in all, got more\.$/,
    ],
    ['with an empty list', sets({ a: [] }), '/node_sets/a', /at least one item/],
    ['with a selector twice', sets({ a: ['LC4', 'LC4'] }), '/node_sets/a/1', /item 0 is the same/],
    ['with a type twice', sets({ a: { type: ['LC4', 'LC4'] } }), '/node_sets/a/type/1', /item 0 is the same/],
    [
      'with a set in itself',
      sets({ a: 'a' }),
      '/node_sets/a',
      /node_sets\.a must not name itself: a -> a\.$/,
    ],
    [
      'with sets in a circle',
      sets({ x: 'a:left', a: ['b'], b: { type: 'T', except: 'a' } }),
      '/node_sets/a',
      /a -> b -> a\.$/,
    ],
    [
      'with neighbours in a circle',
      sets({ a: { downstream_of: ['b:left'] }, b: { type: 'T', upstream_of: { downstream_of: 'a' } } }),
      '/node_sets/a',
      /a -> b -> a\.$/,
    ],
    [
      'with 10,000 levels of neighbours',
      sets({ a: nested(10_000, (downstream_of) => ({ downstream_of })) }),
      `/node_sets/a${'/downstream_of'.repeat(16)}`,
      /at most 16 levels/,
    ],
    [
      'with 10,000 levels of lists',
      sets({ a: nested(10_000, (inner) => [inner]) }),
      `/node_sets/a${'/0'.repeat(16)}`,
      /at most 16 levels/,
    ],
    [
      'with 10,000 levels of exceptions',
      sets({ a: nested(10_000, (except) => ({ type: 'T', except })) }),
      `/node_sets/a${'/except'.repeat(16)}`,
      /at most 16 levels/,
    ],
    [
      'with 10,000 levels in place of a number',
      { trials: nested(10_000, (inner) => [inner]) },
      '/trials',
      /got a list/,
    ],
    ['with 10,000 levels in place of a document', nested(10_000, (inner) => [inner]), '', /got a list/],
    ['with fractions of trials', { trials: 1.5 }, '/trials', /an integer from 1 to 100, got 1\.5/],
    ['with a seed beyond its bound', { seed: 2 ** 32 }, '/seed', /got 4294967296/],
    ['with a name that has a line break', { name: 'a\nb' }, '/name', /got "a\\nb"/],
    ['with half a character', { name: '\ud800' }, '/name', /without control characters or lone surrogates,/],
    [
      'with a sweep of nothing',
      set({ set: 'inputs.j.rate_hz', values: [1] }),
      '/sweep/0/set',
      /near: inputs\.i\.rate_hz/,
    ],
    [
      'with a sweep of a method',
      set({ set: 'inputs.constructor.rate_hz', values: [1] }),
      '/sweep/0/set',
      /with the name of an input/,
    ],
    [
      'with a sweep of values out of bounds',
      set({ set: 'inputs.i.rate_hz', values: [1, 501] }),
      '/sweep/0/values/1',
      /got 501/,
    ],
    [
      'with a sweep that starts too low',
      set({ set: 'inputs.i.rate_hz', from: -1, to: 1, step: 1 }),
      '/sweep/0/from',
      /got -1/,
    ],
    ['with a sweep without steps', set({ set: 'seed', from: 1, to: 2, step: 0 }), '/sweep/0/step', /above 0/],
    [
      'with a sweep in fractions of a step',
      set({ set: 'inputs.i.delay_ms', from: 1, to: 2, step: 0.25 }),
      '/sweep/0/step',
      /multiple of 0\.1/,
    ],
    [
      'with a sweep in steps too small to be one',
      set({ set: 'inputs.i.delay_ms', from: 0, to: 1, step: 1e-8 }),
      '/sweep/0/step',
      /a multiple of 0\.1 above 0, got 1e-8/,
    ],
    [
      'with a swept window without an end',
      set({ set: 'inputs.i.duration_ms', values: [0] }),
      '/sweep/0/values/0',
      /a multiple of 0\.1 from 0\.1 to 600000, got 0\.$/,
    ],
    [
      'with a sweep that goes down',
      set({ set: 'seed', from: 2, to: 1, step: 1 }),
      '/sweep/0/to',
      /at least from/,
    ],
    ['with values and a range', set({ set: 'seed', values: [1], step: 1 }), '/sweep/0/step', /got both/],
    ['with neither', set({ set: 'seed' }), '/sweep/0', /must have values, or from, to and step/],
    ['with half a range', set({ set: 'seed', from: 1, to: 2 }), '/sweep/0/step', /must have step/],
    ['with a value twice', set({ set: 'seed', values: [0, -0] }), '/sweep/0/values/1', /item 0 is the same/],
    ['with groups for no input', set({ each: 'LC4', as: 'inputs.j' }), '/sweep/0/as', /near: inputs\.i/],
    [
      'with a parameter on two axes',
      {
        sweep: [
          { set: 'seed', values: [1] },
          { set: 'seed', values: [2] },
        ],
      },
      '/sweep/1/set',
      /item 0 is the same/,
    ],
    [
      'with a window out of a swept trial',
      { ...input({ duration_ms: 500 }), sweep: [{ set: 'duration_ms', values: [100, 2000] }] },
      '/inputs/i/duration_ms',
      /the shortest trial, 100 ms, got 500/,
    ],
  ])('%s', (_, document, path, message) => {
    const refused = refusal(document);
    expect(refused.path).toBe(path);
    expect(refused.message).toMatch(message);
    expect(refused.message.length).toBeLessThan(550);
  });
});
