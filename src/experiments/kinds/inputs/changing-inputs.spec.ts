import {
  answerOf,
  localTrials,
  planOf,
  refusalOf,
  rowsOf,
  tableIn,
} from '../../../../test/support/open-experiments.js';
import { smallBrain } from '../../../../test/support/small-brain.js';
import { populationsOf } from '../../../../test/support/tables.js';
import { buildConnectome } from '../../../tools/compiler/build-connectome.js';
import { encodeConnectome, openConnectome } from '../../../engine/connectome/format.js';
import type { Connectome, SignRule } from '../../../engine/connectome/connectome.js';
import { expectedWork } from '../../plan/prices.js';
import { background as backgroundKind } from './background.js';

/** Three neurons of type A, two of B, one C; nothing is connected but A to C, too weakly to matter. */
const brain = smallBrain(
  [
    { id: '1', type: 'A', side: 'left' },
    { id: '2', type: 'A', side: 'right' },
    { id: '3', type: 'A', side: 'right' },
    { id: '4', type: 'B', side: 'left' },
    { id: '5', type: 'B', side: 'right' },
    { id: '6', type: 'C', side: 'center' },
  ],
  [['1', '6', 5]],
);
const populations = populationsOf({ type: 'A' }, { motor: [{ type: 'C' }] });
const connectome = openConnectome(
  encodeConnectome(buildConnectome(brain, { signRule: 'predicted', populations })).buffer as ArrayBuffer,
);
const runTrial = localTrials(connectome);
const plan = (request: object, limits = {}) => planOf(connectome, request, limits);
const EVENTS = { reports: { events: { node_set: '@all', type: 'inputs' } } };

/** Input events of one trial as step, neuron and place of the input. */
async function eventsOf(request: object): Promise<number[][]> {
  const { conditions } = await answerOf(plan({ trials: 1, ...EVENTS, ...request }), runTrial);
  return rowsOf(tableIn(conditions.at(-1)!, 'events')).map(([, ...event]) => event);
}

const input = (more: object) => ({ inputs: { i: { node_set: 'A', ...more } } });
const rates = (times_ms: readonly unknown[], values: readonly unknown[]) =>
  input({ rate_hz: { times_ms, values } });
const rows = (...all: readonly object[]) => ({ inputs: { i: { rates: all } } });
const background = (more: object) => input({ module: 'background', rate_hz: 0.5, ...more });
const sweep = (set: string, ...values: number[]) => ({ sweep: [{ set, values }] });
const A = { node_set: 'A', rate_hz: 10 };
const B = { node_set: 'B', rate_hz: 20 };

/** Refused documents, each with a valid one. */
const REFUSED: readonly (readonly [
  name: string,
  wrong: object,
  right: object,
  path: string,
  message: RegExp,
  code?: string,
])[] = [
  [
    'a time before 0',
    rates([-1, 2], [1, 2]),
    rates([0, 2], [1, 2]),
    '/inputs/i/rate_hz/times_ms/0',
    /from 0 to 599999\.9/,
  ],
  [
    'a first time above 0',
    rates([1, 2], [1, 2]),
    rates([0, 2], [1, 2]),
    '/inputs/i/rate_hz/times_ms/0',
    /must be 0, the start/,
  ],
  [
    'a time twice',
    rates([0, 5, 5], [1, 2, 3]),
    rates([0, 5, 5.1], [1, 2, 3]),
    '/inputs/i/rate_hz/times_ms/2',
    /above the time before it, which is 5, got 5/,
  ],
  [
    'times that go back',
    rates([0, 5, 3], [1, 2, 3]),
    rates([0, 3, 5], [1, 2, 3]),
    '/inputs/i/rate_hz/times_ms/2',
    /got 3/,
  ],
  [
    'a time between two steps',
    rates([0, 0.05], [1, 2]),
    rates([0, 0.1], [1, 2]),
    '/inputs/i/rate_hz/times_ms/1',
    /a multiple of 0\.1/,
  ],
  [
    'a time that is hardly one',
    rates([0, 1e-9], [1, 2]),
    rates([0, 0.1 * 3], [1, 2]),
    '/inputs/i/rate_hz/times_ms/1',
    /a multiple of 0\.1 from 0 to 599999\.9, got 1e-9/,
  ],
  [
    'a time beyond the longest trial',
    { duration_ms: 600_000, ...rates([0, 600_000], [1, 2]) },
    { duration_ms: 600_000, ...rates([0, 599_999.9], [1, 2]) },
    '/inputs/i/rate_hz/times_ms/1',
    /to 599999\.9, got 600000/,
  ],
  [
    'a time at the end of the trial',
    { duration_ms: 300, ...rates([0, 300], [1, 2]) },
    { duration_ms: 300, ...rates([0, 299.9], [1, 2]) },
    '/inputs/i/rate_hz/times_ms/1',
    /before the end of the trial at 300 ms, got 300/,
  ],
  [
    'a rate too few',
    rates([0, 1], [1]),
    rates([0, 1], [1, 1]),
    '/inputs/i/rate_hz/values',
    /a rate for each of the 2 times, got 1/,
  ],
  [
    'a rate too many',
    rates([0], [1, 1]),
    rates([0], [1]),
    '/inputs/i/rate_hz/values',
    /each of the 1 times, got 2/,
  ],
  ['no rates', rates([], []), rates([0], [0]), '/inputs/i/rate_hz/times_ms', /a list of at least 1 items/],
  [
    'a rate above 500 Hz',
    rates([0, 1], [1, 500.1]),
    rates([0, 1], [1, 500]),
    '/inputs/i/rate_hz/values/1',
    /from 0 to 500, got 500\.1/,
  ],
  [
    'a negative rate',
    rates([0], [-1]),
    rates([0], [0]),
    '/inputs/i/rate_hz/values/0',
    /from 0 to 500, got -1/,
  ],
  ['a rate that is text', rates([0], ['1']), rates([0], [1]), '/inputs/i/rate_hz/values/0', /got "1"/],
  [
    'only rates',
    input({ rate_hz: [1, 2] }),
    rates([0, 1], [1, 2]),
    '/inputs/i/rate_hz',
    /a number from 0 to 500, or an object with times_ms and values, got \[1,2\]/,
  ],
  [
    'times without rates',
    input({ rate_hz: { times_ms: [0] } }),
    rates([0], [1]),
    '/inputs/i/rate_hz/values',
    /must have the member values/,
  ],
  [
    'a member that rates lack',
    input({ rate_hz: { times_ms: [0], values: [1], unit: 'Hz' } }),
    rates([0], [1]),
    '/inputs/i/rate_hz/unit',
    /the members times_ms, values, got "unit"/,
  ],
  [
    '60,001 rates',
    {
      duration_ms: 5000,
      inputs: Object.fromEntries(
        ['i', 'j'].map((name, at) => [
          name,
          { node_set: 'A', rate_hz: { times_ms: tenths(30_000 + at), values: tenths(30_000 + at).fill(1) } },
        ]),
      ),
    },
    {
      duration_ms: 5000,
      inputs: Object.fromEntries(
        ['i', 'j'].map((name) => [
          name,
          { node_set: 'A', rate_hz: { times_ms: tenths(30_000), values: tenths(30_000).fill(1) } },
        ]),
      ),
    },
    '/inputs/j/rate_hz/times_ms',
    /at most 60000 rates in time in all/,
  ],
  [
    'a sweep of rates in time',
    { ...rates([0, 1], [1, 2]), ...sweep('inputs.i.rate_hz', 1) },
    { ...rates([0, 1], [1, 2]), ...sweep('inputs.i.scale', 1) },
    '/sweep/0/set',
    /a single number, such as the scale .* got "inputs\.i\.rate_hz"/,
  ],
  [
    'a scale above 10',
    input({ rate_hz: 1, scale: 10.1 }),
    input({ rate_hz: 1, scale: 10 }),
    '/inputs/i/scale',
    /from 0 to 10, got 10\.1/,
  ],
  ['a negative scale', input({ scale: -1 }), input({ scale: 0 }), '/inputs/i/scale', /from 0 to 10, got -1/],
  [
    'a scale that makes a rate too high',
    input({ rate_hz: 60, scale: 10 }),
    input({ rate_hz: 50, scale: 10 }),
    '/inputs/i/scale',
    /at most 8\.33\d*, with which the highest rate of the input, 60 Hz, becomes 500 Hz, got 10/,
  ],
  [
    'a scale that makes one of the rates too high',
    input({ rate_hz: { times_ms: [0, 1, 2], values: [0, 300, 1] }, scale: 2 }),
    input({ rate_hz: { times_ms: [0, 1, 2], values: [0, 250, 1] }, scale: 2 }),
    '/inputs/i/scale',
    /the highest rate of the input, 300 Hz/,
  ],
  [
    'a swept scale that makes a rate too high',
    { ...input({ rate_hz: 200 }), ...sweep('inputs.i.scale', 1, 3) },
    { ...input({ rate_hz: 200 }), ...sweep('inputs.i.scale', 1, 2.5) },
    '/sweep/0',
    /200 Hz, becomes 500 Hz, got 3/,
  ],
  [
    'a swept rate that a scale makes too high',
    { ...input({ rate_hz: 1, scale: 2 }), ...sweep('inputs.i.rate_hz', 1, 251) },
    { ...input({ rate_hz: 1, scale: 2 }), ...sweep('inputs.i.rate_hz', 1, 250) },
    '/inputs/i/scale',
    /251 Hz, becomes 500 Hz, got 2/,
  ],
  [
    'rates and scales that are swept together',
    {
      ...input({}),
      sweep: [
        { set: 'inputs.i.rate_hz', values: [10, 100] },
        { set: 'inputs.i.scale', values: [1, 6] },
      ],
    },
    {
      ...input({}),
      sweep: [
        { set: 'inputs.i.rate_hz', values: [10, 100] },
        { set: 'inputs.i.scale', values: [1, 5] },
      ],
    },
    '/sweep/1',
    /100 Hz, becomes 500 Hz, got 6/,
  ],
  [
    'a scale of given spikes',
    input({ module: 'spikes', times_ms: [1], scale: 1 }),
    input({ module: 'spikes', times_ms: [1] }),
    '/inputs/i/scale',
    /may have scale only if module is poisson, got spikes/,
  ],
  [
    'rows and a node set',
    { inputs: { i: { node_set: 'C', rates: [A, B] } } },
    rows(A, B),
    '/inputs/i/node_set',
    /may have the members rates, module, scale, delay_ms, duration_ms, got "node_set"/,
  ],
  [
    'rows and a rate',
    { inputs: { i: { rate_hz: 5, rates: [A, B] } } },
    rows(A, B),
    '/inputs/i/rate_hz',
    /got "rate_hz"/,
  ],
  [
    'rows of background',
    { inputs: { i: { module: 'background', rates: [A] } } },
    rows(A),
    '/inputs/i/rates',
    /may have rates only if module is poisson, got background/,
  ],
  ['no rows', rows(), rows(A), '/inputs/i/rates', /a list of 1 to 10000 items/],
  [
    'a row without a rate',
    rows(A, { node_set: 'B' }),
    rows(A, B),
    '/inputs/i/rates/1/rate_hz',
    /must have the member rate_hz/,
  ],
  [
    'a row without neurons',
    rows(A, { rate_hz: 1 }),
    rows(A, B),
    '/inputs/i/rates/1/node_set',
    /must have the member node_set/,
  ],
  [
    'a row with a rate too high',
    rows(A, { ...B, rate_hz: 501 }),
    rows(A, { ...B, rate_hz: 500 }),
    '/inputs/i/rates/1/rate_hz',
    /got 501/,
  ],
  [
    'a row with times in disorder',
    rows({ ...A, rate_hz: { times_ms: [0, 2, 1], values: [1, 2, 3] } }),
    rows({ ...A, rate_hz: { times_ms: [0, 1, 2], values: [1, 2, 3] } }),
    '/inputs/i/rates/0/rate_hz/times_ms/2',
    /above the time before it, which is 2/,
  ],
  [
    '10,001 rows',
    rows(...tenths(10_001).map(() => ({ node_set: '@all', rate_hz: 1 }))),
    rows(A),
    '/inputs/i/rates',
    /a list of 1 to 10000 items/,
  ],
  [
    'a neuron in two rows',
    rows(A, B, { node_set: ['A:left', 'C'], rate_hz: 1 }),
    rows(A, B, { node_set: 'C', rate_hz: 1 }),
    '/inputs/i/rates/2/node_set',
    /inputs\.i\.rates\[2\]\.node_set must have no neuron of another row, got 1, which inputs\.i\.rates\[0\]\.node_set has too/,
  ],
  [
    'a row of a type that the model lacks',
    rows(A, { node_set: 'Z', rate_hz: 1 }),
    { on_missing: 'skip', ...rows(A, { node_set: 'Z', rate_hz: 1 }) },
    '/inputs/i/rates/1/node_set',
    /lacks "Z"/,
    'UNKNOWN_NEURONS',
  ],
  [
    'a row that selects nothing',
    rows(A, { node_set: 'C:left', rate_hz: 1 }),
    rows(A, { node_set: 'C:center', rate_hz: 1 }),
    '/inputs/i/rates/1/node_set',
    /at least one neuron/,
    'EMPTY_NODE_SET',
  ],
  [
    '501 rows with a wildcard',
    rows(...tenths(501).map((at) => ({ node_set: `A${at}*`, rate_hz: 1 }))),
    rows({ node_set: 'A*', rate_hz: 1 }),
    '/inputs/i/rates/500/node_set',
    /at most 500 lists, objects/,
  ],
  [
    'a scale of a pattern that makes one of its rates too high',
    { inputs: { i: { rates: [A, { ...B, rate_hz: 100 }], scale: 6 } } },
    { inputs: { i: { rates: [A, { ...B, rate_hz: 100 }], scale: 5 } } },
    '/inputs/i/scale',
    /100 Hz, becomes 500 Hz, got 6/,
  ],
  [
    'groups in place of rows',
    { ...rows(A), sweep: [{ each: 'B', as: 'inputs.i' }] },
    { ...input({}), sweep: [{ each: 'B', as: 'inputs.i' }] },
    '/sweep/0/as',
    /an input with a node_set, because the rows of rates name their own neurons, got "inputs\.i"/,
  ],
  [
    'a sweep of a rate of rows',
    { ...rows(A), ...sweep('inputs.i.rate_hz', 1) },
    { ...rows(A), ...sweep('inputs.i.scale', 1) },
    '/sweep/0/set',
    /a single number, such as the scale/,
  ],
  [
    'background above 40 Hz',
    background({ rate_hz: 40.1 }),
    background({ rate_hz: 40 }),
    '/inputs/i/rate_hz',
    /from 0 to 40, got 40\.1/,
  ],
  [
    'background without a rate',
    input({ module: 'background' }),
    background({}),
    '/inputs/i/rate_hz',
    /must have the member rate_hz/,
  ],
  [
    'background whose rate changes',
    background({ rate_hz: { times_ms: [0], values: [1] } }),
    background({ rate_hz: 1 }),
    '/inputs/i/rate_hz',
    /a number from 0 to 40, got/,
  ],
  [
    'events above 68.75 mV',
    background({ event_mv: 68.76 }),
    background({ event_mv: 68.75 }),
    '/inputs/i/event_mv',
    /from 0 to 68\.75, got 68\.76/,
  ],
  [
    'events below 0 mV',
    background({ event_mv: -1 }),
    background({ event_mv: 0 }),
    '/inputs/i/event_mv',
    /got -1/,
  ],
  [
    'events of another kind in mV',
    input({ event_mv: 5 }),
    background({ event_mv: 5 }),
    '/inputs/i/event_mv',
    /may have event_mv only if module is background, got poisson/,
  ],
  [
    'a scale of background',
    background({ scale: 2 }),
    background({}),
    '/inputs/i/scale',
    /may have scale only if module is poisson, got background/,
  ],
  [
    'two of background',
    { inputs: { i: background({}).inputs.i, j: { ...background({}).inputs.i, node_set: 'B' } } },
    { inputs: { i: background({}).inputs.i, j: { node_set: 'B' } } },
    '/inputs/j/module',
    /must not be background: a document may have one such input/,
  ],
  [
    'swept background above its bound',
    { ...background({}), ...sweep('inputs.i.rate_hz', 41) },
    { ...background({}), ...sweep('inputs.i.rate_hz', 40) },
    '/sweep/0/values/0',
    /from 0 to 40, got 41/,
  ],
  [
    'a swept event above its bound',
    { ...background({}), ...sweep('inputs.i.event_mv', 70) },
    { ...background({}), ...sweep('inputs.i.event_mv', 60) },
    '/sweep/0/values/0',
    /got 70/,
  ],
];

function tenths(count: number): number[] {
  return Array.from({ length: count }, (_, tenth) => tenth / 10);
}

describe('a document with inputs that change', () => {
  it.each(REFUSED.map(([name, ...rest]) => [name, rest] as const))(
    'is refused with %s, and its neighbour is not',
    (_, [wrong, right, path, message, code = 'INVALID_PARAMETER']) => {
      expect(() => plan(right, { selectedNeurons: 100_000 })).not.toThrow();
      const refusal = refusalOf(() => plan(wrong));
      expect([refusal.code, refusal.path]).toEqual([code, path]);
      expect(refusal.message).toMatch(message);
      expect(refusal.message.length).toBeLessThan(500);
    },
  );

  it('has in its complete form only the members that were given', () => {
    const completed = (request: object) => JSON.stringify(plan(request).head.experiment.inputs['i']);
    const window = '"delay_ms":0,"duration_ms":1000}';
    expect(completed(input({ scale: 1 }))).toBe(
      `{"node_set":"A","module":"poisson","rate_hz":150,"scale":1,${window}`,
    );
    expect(completed(rates([0, 0.1 * 3], [-0, 2]))).toBe(
      `{"node_set":"A","module":"poisson","rate_hz":{"times_ms":[0,0.3],"values":[0,2]},${window}`,
    );
    expect(completed({ inputs: { i: { scale: 2, rates: [{ rate_hz: 1, node_set: 'A' }] } } })).toBe(
      `{"rates":[{"node_set":"A","rate_hz":1}],"module":"poisson","scale":2,${window}`,
    );
    expect(completed(background({}))).toBe(
      `{"node_set":"A","module":"background","rate_hz":0.5,"event_mv":68.75,${window}`,
    );
  });

  it('bounds the neurons of rows while they are searched', () => {
    const many = rows(...tenths(1000).map(() => ({ node_set: '@all', rate_hz: 1 })));
    expect(() => plan(many, { selectedNeurons: 20 })).toThrow(
      'The selectors of the experiment select at least 24 neurons in all; at most 20 are allowed.',
    );
  });

  it('may have 10,000 rows beside 500 other selectors, and as many ids', () => {
    const ids = (from: number, count: number) =>
      tenths(count).map((tenth) => String(from + Math.round(10 * tenth)));
    const request = {
      on_missing: 'skip',
      ...rows(A, ...ids(10, 9999).map((root_id) => ({ node_set: { root_id }, rate_hz: 1 }))),
      reports: { r: { node_set: ['B', { root_id: ids(20_000, 9999) }] } },
    };
    const { head } = plan(request);
    expect(head.resolved['inputs.i']).toMatchObject({ neurons: 3, types: { A: 3 } });
    expect(head.resolved['inputs.i']!.missing).toHaveLength(9999);
  });
});

describe('events of inputs that change', () => {
  it('are those of each rate in its time, whatever the window', async () => {
    const request = { duration_ms: 400, ...rates([0, 100, 300], [100, 500, 0]) };
    const [low, high] = await Promise.all(
      [100, 500].map((rate_hz) => eventsOf({ duration_ms: 400, ...input({ rate_hz }) })),
    );
    const expected = [
      ...low!.filter(([step]) => step! < 1000),
      ...high!.filter(([step]) => step! >= 1000 && step! < 3000),
    ];
    expect(expected.length).toBeGreaterThan(250);
    expect(await eventsOf(request)).toEqual(expected);
    const windowed = { ...request, inputs: { i: { ...request.inputs.i, delay_ms: 50, duration_ms: 100 } } };
    expect(await eventsOf(windowed)).toEqual(expected.filter(([step]) => step! >= 500 && step! < 1500));
  });

  it('have a scale, given or swept, and one of 1 is none', async () => {
    const at = (more: object) => eventsOf({ duration_ms: 300, ...input(more) });
    expect(await at({ rate_hz: 50, scale: 4 })).toEqual(await at({ rate_hz: 200 }));
    expect(await at({ rate_hz: 50, scale: 1 })).toEqual(await at({ rate_hz: 50 }));
    const twice = await eventsOf({
      duration_ms: 300,
      ...rates([0, 100], [50, 100]),
      ...sweep('inputs.i.scale', 1, 2),
    });
    expect(twice).toEqual(await eventsOf({ duration_ms: 300, ...rates([0, 100], [100, 200]) }));
  });

  it('of a pattern are those of its rows, each with the name of the input, in one set', async () => {
    const varying = { times_ms: [0, 50], values: [400, 0] };
    const request = {
      duration_ms: 200,
      inputs: {
        i: {
          rates: [
            { node_set: 'B:right', rate_hz: varying },
            { node_set: ['A', 'C'], rate_hz: 80 },
          ],
          scale: 1.25,
        },
        j: { node_set: 'B', rate_hz: 30 },
      },
    };
    const alone = async (more: object) =>
      (await eventsOf({ duration_ms: 200, ...input(more) })).map((event) => event);
    const expected = [
      ...(await alone({ node_set: 'B:right', rate_hz: { ...varying, values: [500, 0] } })),
      ...(await alone({ node_set: ['A', 'C'], rate_hz: 100 })),
    ].sort(([step, neuron], [otherStep, other]) => step! - otherStep! || neuron! - other!);
    const events = await eventsOf(request);
    expect(events.filter(([, , place]) => place === 0)).toEqual(expected);
    expect(new Set(expected.map(([, neuron]) => neuron))).toEqual(new Set([0, 1, 2, 4, 5]));
    expect(plan(request).head.resolved['inputs.i']).toEqual({
      neurons: 5,
      sides: { left: 1, right: 3, center: 1 },
      types: { A: 3, B: 1, C: 1 },
      missing: [],
    });
  });

  it('of background stand in the report of inputs, beside others', async () => {
    const base = { node_set: '@all', module: 'background', rate_hz: 40 };
    const alone = await eventsOf({ duration_ms: 2000, inputs: { base } });
    expect(alone.length).toBeGreaterThan(400);
    expect(await eventsOf({ duration_ms: 2000, inputs: { other: base } })).toEqual(alone);
    const beside = await eventsOf({ duration_ms: 2000, inputs: { sugar: { node_set: 'A' }, base } });
    expect(beside.filter(([, , place]) => place === 1).map((event) => event.slice(0, 2))).toEqual(
      alone.map((event) => event.slice(0, 2)),
    );
  });

  it('are as many as were expected, and cost so much', async () => {
    const requests = [
      rates([0, 1000, 3000], [100, 500, 0]),
      {
        inputs: {
          i: {
            rates: [
              { ...A, rate_hz: 300 },
              { ...B, rate_hz: { times_ms: [0, 2500], values: [0, 400] } },
            ],
          },
        },
      },
      { inputs: { i: { rates: [A, B], scale: 5, delay_ms: 1000, duration_ms: 3000 } } },
      background({ node_set: '@all', rate_hz: 35 }),
    ];
    const expected = [3 * (100 + 500 * 2), 3 * 300 * 5 + 2 * 400 * 2.5, (3 * 50 + 2 * 100) * 3, 6 * 35 * 5];
    for (const [at, request] of requests.entries()) {
      const planned = plan({ duration_ms: 5000, trials: 1, reports: {}, ...request });
      const events = planned.dryRun().cost.input_events;
      expect(events).toBe(expected[at]);
      const task = { ...planned.condition(0, []), countsAll: false };
      const reading = await runTrial(task, 0, new AbortController().signal);
      expect(Math.abs(reading.inputEvents - events)).toBeLessThan(5 * Math.sqrt(events));
      // A task has the expected work of its plan.
      const work = planned.cost.work();
      for (const [name, amount] of Object.entries(expectedWork(task))) {
        expect([name, work[name as keyof typeof work]]).toEqual([name, expect.closeTo(amount, 6)]);
      }
    }
  });

  it('that are drawn and hidden are paid for', () => {
    const workOf = (rate_hz: unknown) => {
      const request = { duration_ms: 5000, trials: 1, reports: {}, ...input({ rate_hz }) };
      const { trains, hiddenEvents } = plan(request).cost.work();
      return { trains, hiddenEvents };
    };
    // Three neurons for five seconds.
    expect(workOf(500)).toEqual({ trains: 18, hiddenEvents: 0 });
    expect(workOf({ times_ms: [0], values: [500] })).toEqual({ trains: 18, hiddenEvents: 0 });
    // Trains of 500 Hz are drawn, and 0.15 of 7,500 events stay: a price only for events would be that of 0 Hz.
    expect(workOf({ times_ms: [0, 4999.9], values: [0, 500] })).toEqual({
      trains: 18,
      hiddenEvents: expect.closeTo(7500 - 0.15, 6),
    });
  });

  it('of background are priced with the spikes that they cause', () => {
    const workOf = (more: object) =>
      plan({
        duration_ms: 2000,
        trials: 3,
        reports: {},
        ...background({ node_set: '@all', ...more }),
      }).cost.work();
    // 6 neurons at 0.5 Hz for 2 s, three times: 18 events, each with 40 synaptic events of its own and 2,500 beside.
    expect(workOf({})).toMatchObject({
      inputEvents: 18,
      synapticEvents: 18 * 2540,
      trains: (3 * 6 * 3) / 40,
    });
    expect(workOf({ event_mv: 7 })).toMatchObject({ inputEvents: 18, synapticEvents: 0 });
    // The part that goes on by itself has a bound: 17 million a second.
    const whole = { metadata: connectome.metadata } as Connectome;
    const settings = { input: { rate_hz: 40, event_mv: 68.75 } as never, startStep: 0, endStep: 10_000 };
    const of = (signRule: SignRule) => {
      const { metadata } = whole;
      const model = { ...whole, metadata: { ...metadata, signRule } };
      return backgroundKind.expected(model).of(100_000, settings).synapticEvents;
    };
    expect(of('predicted')).toBe(40 * 4_000_000 + 17_000_000);
    expect(of('corrected')).toBe(40 * 4_000_000);
  });

  it('of background are refused before they begin if they are too many', () => {
    const request = { ...background({ node_set: '@all', rate_hz: 10 }), duration_ms: 5000 };
    expect(() => plan(request, { inputEventsPerTrial: 299 })).toThrow(
      'A trial of condition 0 has 300 input events on average; at most 299 are allowed.',
    );
    expect(() => plan(request, { inputEventsPerTrial: 300 })).not.toThrow();
  });
});
