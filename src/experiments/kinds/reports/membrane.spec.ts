import fc from 'fast-check';
import { tableFromIPC } from 'apache-arrow';
import { parquetReadObjects } from 'hyparquet';
import {
  answerOf,
  localReadings,
  localTrials,
  planOf,
  refusalOf,
  rowsOf,
  tableIn,
  type Answer,
} from '../../../../test/support/open-experiments.js';
import { smallBrain } from '../../../../test/support/small-brain.js';
import { populationsOf } from '../../../../test/support/tables.js';
import { buildConnectome } from '../../../tools/compiler/build-connectome.js';
import { encodeConnectome, openConnectome } from '../../../engine/connectome/format.js';
import { ReferenceEngine } from '../../../engine/simulation/reference-engine.js';
import { sampledSteps } from '../../../engine/simulation/simulation.js';
import { drawInputEvents } from '../../../engine/stimulus/input-events.js';
import { checkRequest } from '../../formats/answer.js';
import { answerWriter } from '../../formats/answer-writer.js';
import type { Format } from '../../formats/formats.js';
import { expectedWork, foundWork, priceMs } from '../../plan/prices.js';
import { recordingsOf, trialTask } from '../../plan/trial.js';
import { trialOf, TrialReader } from '../../run/readout.js';
import { membrane, sampleCount } from './membrane.js';

/** A pair: 300 synapses from A to B; and a crowd without connections. */
const PAIR = [
  { id: '1', type: 'A' },
  { id: '2', type: 'B' },
];
const CROWD = Array.from({ length: 1001 }, (_, at) => ({
  id: String(100 + at),
  type: at < 1000 ? 'M' : 'N',
}));
const connectome = openConnectome(
  encodeConnectome(
    buildConnectome(smallBrain([...PAIR, ...CROWD], [['1', '2', 300]]), {
      signRule: 'predicted',
      populations: populationsOf({ type: 'A' }, { motor: [{ type: 'B' }] }),
    }),
  ).buffer as ArrayBuffer,
);
const [A, B] = [0, 1];
const runTrial = localTrials(connectome);

/** An event for A at the end of step 10. */
const KICKED = {
  inputs: { kick: { node_set: 'A', module: 'spikes', times_ms: [1] } },
  duration_ms: 10,
  trials: 2,
};
const pair = (own: object = {}) => ({ pair: { node_set: ['A', 'B'], type: 'membrane', ...own } });
const run = (request: object, limits = {}): Promise<Answer> =>
  answerOf(planOf(connectome, request, limits), runTrial);
const refusal = (request: object, limits = {}) => refusalOf(() => planOf(connectome, request, limits));

describe('a report of membrane potentials', () => {
  it('has v at the end of steps, as worked out by hand', async () => {
    const { conditions } = await run({
      ...KICKED,
      reports: pair({ dt_ms: 0.1, start_ms: 0.9, end_ms: 3.1 }),
    });
    const rows = rowsOf(tableIn(conditions[0]!, 'pair'));
    // Two trials of the steps 9 to 30, and in each of them A before B.
    expect(rows.map(([trial, step, neuron]) => [trial, step, neuron])).toEqual(
      [0, 1].flatMap((trial) =>
        Array.from({ length: 44 }, (_, row) => [trial, 9 + Math.floor(row / 2), row % 2]),
      ),
    );
    const potentialOf = (neuron: number, step: number) =>
      rows.find((row) => row[1] === step && row[2] === neuron)![3];
    // A spikes in step 11; its synapses, 82.5 mV, arrive in step 29.
    expect([9, 10, 11].map((step) => potentialOf(A, step))).toEqual([-52, 16.75, -52]);
    expect([28, 29].map((step) => potentialOf(B, step))).toEqual([-52, -52]);
    expect(potentialOf(B, 30)).toBeCloseTo(-51.5926203381, 9);
  });

  it('begins at dt_ms, has the start of its window and not its end', async () => {
    const { conditions } = await run({
      ...KICKED,
      trials: 1,
      reports: {
        all: { node_set: 'B', type: 'membrane' },
        part: { node_set: 'B', type: 'membrane', dt_ms: 2, start_ms: 4, end_ms: 8 },
        odd: { node_set: 'B', type: 'membrane', dt_ms: 0.7, start_ms: 0.1, end_ms: 2.2 },
      },
    });
    const stepsIn = (report: string) => [...tableIn(conditions[0]!, report).steps];
    expect(stepsIn('all')).toEqual([10, 20, 30, 40, 50, 60, 70, 80, 90]);
    expect(stepsIn('part')).toEqual([40, 60]);
    expect(stepsIn('odd')).toEqual([7, 14, 21]);
  });

  it('counts the samples that the engine takes', () => {
    fc.assert(
      fc.property(fc.nat(300), fc.nat(300), fc.integer({ min: 1, max: 320 }), (a, b, everySteps) => {
        const window = { startStep: Math.min(a, b), endStep: Math.max(a, b) };
        expect(sampleCount(window, everySteps)).toBe(
          sampledSteps({ neurons: new Uint32Array(0), ...window, everySteps }, 300).length,
        );
      }),
    );
  });

  it('has the potentials of the reference engine', async () => {
    const plan = planOf(connectome, {
      inputs: { a: { node_set: 'A', rate_hz: 300 }, b: { node_set: 'B', rate_hz: 20 } },
      reports: { ...pair({ dt_ms: 0.3 }), late: { node_set: 'B', type: 'membrane', start_ms: 50 } },
      duration_ms: 100,
      trials: 1,
    });
    const task = trialTask({ ...plan.condition(0, []), countsAll: false }, 0);
    const results = [
      localReadings(connectome)(task),
      trialOf(new TrialReader(connectome, drawInputEvents), new ReferenceEngine(connectome))(task),
    ].map(({ reports }) => reports as unknown as { steps: Uint16Array; values: Float64Array[] }[]);
    results[0]!.forEach(({ steps, values: [potentials] }, report) => {
      const other = results[1]![report]!;
      expect(steps).toEqual(other.steps);
      potentials!.forEach((mv, row) => expect(mv).toBeCloseTo(other.values[0]![row]!, 9));
      expect(new Set(potentials).size).toBeGreaterThan(10);
    });
  });

  it('has the samples up to the step in which the event budget ended a trial', async () => {
    // The spike of A arrives in step 29, which is the last.
    const { conditions } = await run({ ...KICKED, reports: pair() }, { synapticEventsPerTrial: 0 });
    expect(conditions[0]).toMatchObject({ complete: false, stopped_at_ms: 3, responding_any: null });
    const table = tableIn(conditions[0]!, 'pair');
    expect([...table.trials]).toEqual([0, 0, 0, 0, 1, 1, 1, 1]);
    expect([...table.steps]).toEqual([10, 10, 20, 20, 10, 10, 20, 20]);
    expect(table.truncated).toBe(false);
  });

  it('is the same number in every format, to the last bit', async () => {
    const plan = planOf(connectome, { ...KICKED, reports: pair({ dt_ms: 0.1 }) });
    const answer = await answerOf(plan, runTrial);
    const potentials = [...tableIn(answer.conditions[0]!, 'pair').columns[0]!.values];
    expect(potentials).toHaveLength(2 * 2 * 99);
    expect(potentials.some((mv) => String(mv).length > 15)).toBe(true);
    const bytesAs = async (format: Format): Promise<Buffer> => {
      const writer = await answerWriter(format, { connectome, experiment: plan.head.experiment });
      const events = [
        { kind: 'head', head: answer.head } as const,
        { kind: 'condition', condition: answer.conditions[0]! } as const,
        { kind: 'totals', totals: answer.totals } as const,
      ];
      return Buffer.concat(events.flatMap((event) => [...writer.write(event)]));
    };
    const json = JSON.parse((await bytesAs('json')).toString()) as {
      conditions: { reports: { pair: Record<string, number[]> } }[];
    };
    const { pair: columns } = json.conditions[0]!.reports;
    expect(Object.keys(columns)).toEqual(['trial', 't_ms', 'root_id', 'v_mv']);
    expect(columns['v_mv']).toEqual(potentials);
    expect(columns['t_ms']!.slice(0, 6)).toEqual([0.1, 0.1, 0.2, 0.2, 0.3, 0.3]);
    const [header, ...lines] = (await bytesAs('csv')).toString().trimEnd().split('\r\n');
    expect(header).toBe('condition,trial,t_ms,root_id,type,side,v_mv');
    expect(lines.map((line) => Number(line.split(',').at(-1)))).toEqual(potentials);
    const arrow = tableFromIPC(await bytesAs('arrow')).getChild('v_mv')!;
    expect([...(arrow.toArray() as Float64Array)]).toEqual(potentials);
    const file = Uint8Array.from(await bytesAs('parquet')).buffer;
    expect((await parquetReadObjects({ file })).map(({ v_mv: mv }) => mv as number)).toEqual(potentials);
  });

  it('is not read as a response, and records only for its own reports', () => {
    const plan = planOf(connectome, {
      ...KICKED,
      reports: { rate: { node_set: 'B' }, ...pair({ dt_ms: 2, end_ms: 5 }) },
    });
    expect(plan.warnings.map(({ code }) => code)).not.toContain('READOUT_STIMULATED');
    const { reports } = plan.condition(0, []);
    expect(recordingsOf({ reports })).toEqual([
      { neurons: plan.reports[1]!.neurons, everySteps: 20, startStep: 0, endStep: 50, samples: 4 },
    ]);
    expect(recordingsOf({ reports: reports.slice(0, 1) })).toEqual([]);
  });
});

describe('the cost of membrane potentials', () => {
  const sweep = [{ set: 'duration_ms', values: [10, 20] }];

  it('is known before: rows in a dry run, samples and rows in the price', async () => {
    // 2 neurons; 9 samples in 10 ms and 19 in 20; 2 trials.
    const plan = planOf(connectome, { ...KICKED, sweep, reports: pair() });
    expect(plan.dryRun().cost).toMatchObject({ membrane_rows: 2 * 2 * (9 + 19) });
    expect(plan.dryRun(1).cost).toMatchObject({ membrane_rows: 2 * 2 * 19 });
    expect(plan.cost.work()).toMatchObject({ samples: 112, tableRows: 112, groups: 0 });
    expect(plan.cost.work(1)).toMatchObject({ samples: 76, tableRows: 76 });
    // Only reports that the answer reads are recorded.
    expect(plan.cost.work(0, 0, [])).toMatchObject({ samples: 0, tableRows: 0 });
    // 2 million samples, 13,000 rows.
    expect(priceMs({ samples: 1_000_000, tableRows: 6_500 })).toBe(1000);
    const task = plan.condition(1, [20]);
    const expected = expectedWork({ ...task, countsAll: false });
    expect(expected).toMatchObject({ samples: 38, tableRows: 38 });
    const reading = await runTrial({ ...task, countsAll: false }, 0, new AbortController().signal);
    expect(foundWork(reading, expected)).toMatchObject({ tableRows: 0 });
  });

  it('has a limit, whose message names the path and a size that fits', () => {
    const reports = { ...pair(), more: { node_set: 'B', type: 'membrane', dt_ms: 0.5 } };
    // 28 samples of two neurons and 19 + 39 of one, in two trials.
    const samples = 2 * (2 * 28 + 58);
    expect(() => planOf(connectome, { ...KICKED, sweep, reports }, { samples })).not.toThrow();
    expect(refusal({ ...KICKED, sweep, reports }, { samples: samples / 2 })).toMatchObject({
      code: 'TOO_EXPENSIVE',
      path: '/reports/more',
      message:
        'The answer has 228 membrane potentials (one for each neuron and sample in each trial of each condition); at most ' +
        '114 are allowed. With 50 % of the samples, as a longer dt_ms or a shorter window gives, or of the neurons, ' +
        'trials or conditions, they would fit.',
    });
  });

  it('has a limit of neurons, with the path of the report', () => {
    const crowd = (type: string) => ({ ...KICKED, reports: { crowd: { node_set: type, type: 'membrane' } } });
    expect(membrane.mostNeurons).toBe(1000);
    expect(() => planOf(connectome, crowd('M'))).not.toThrow();
    expect(
      refusal({ ...KICKED, reports: { crowd: { node_set: ['M', 'N'], type: 'membrane' } } }),
    ).toMatchObject({
      code: 'TOO_EXPENSIVE',
      path: '/reports/crowd/node_set',
      message: expect.stringContaining('of 1001 neurons; at most 1000 are allowed.'),
    });
  });

  it('is refused before it begins if one trial is larger than a page', () => {
    const order = { format: 'json', from: 0, truncate: false } as const;
    const plan = planOf(connectome, { ...KICKED, sweep, reports: pair() }, { tableRows: 37 });
    expect(() => checkRequest(plan, order)).toThrow(
      'Trial 0 of condition 1 has 38 rows of events; at most 37 are allowed in JSON and NDJSON. With truncate=true',
    );
    expect(() => checkRequest(plan, order, 38)).not.toThrow();
    expect(() => checkRequest(plan, { ...order, truncate: true })).not.toThrow();
    // A table that has none of these rows does not mind them.
    const both = { ...pair(), rate: { node_set: 'B' } };
    const plans = planOf(connectome, { ...KICKED, sweep, reports: both }, { tableRows: 37 });
    expect(() => checkRequest(plans, { ...order, format: 'csv', table: 'rates' })).not.toThrow();
    expect(() => checkRequest(plans, { ...order, format: 'csv', table: 'membrane' })).toThrow('in a table');
  });
});

describe('a document with membrane potentials', () => {
  const with_ = (own: object, others: object = {}) => ({ ...KICKED, ...others, reports: pair(own) });

  it.each<[string, object, string, RegExp, object]>([
    [
      'a dt_ms of 0',
      with_({ dt_ms: 0 }),
      '/reports/pair/dt_ms',
      /from 0\.1 to 600000, got 0/,
      with_({ dt_ms: 0.1 }),
    ],
    ['a negative dt_ms', with_({ dt_ms: -1 }), '/reports/pair/dt_ms', /got -1/, with_({ dt_ms: 1 })],
    [
      'a dt_ms between steps',
      with_({ dt_ms: 0.15 }),
      '/reports/pair/dt_ms',
      /multiple of 0\.1/,
      with_({ dt_ms: 0.3 }),
    ],
    [
      'a dt_ms beyond any trial',
      with_({ dt_ms: 600_000.1 }),
      '/reports/pair/dt_ms',
      /600000/,
      with_({ dt_ms: 9.9 }),
    ],
    [
      'a dt_ms that is a text',
      with_({ dt_ms: '1' }),
      '/reports/pair/dt_ms',
      /a multiple of 0\.1/,
      with_({ dt_ms: 1 }),
    ],
    ['a dt_ms that is null', with_({ dt_ms: null }), '/reports/pair/dt_ms', /got null/, with_({})],
    ['a list for dt_ms', with_({ dt_ms: [1] }), '/reports/pair/dt_ms', /got \[1\]/, with_({ dt_ms: 1 })],
    [
      'dt_ms as long as the trial',
      with_({ dt_ms: 10 }),
      '/reports/pair/dt_ms',
      /from 0\.1 to 9\.9 ms, got 10/,
      with_({ dt_ms: 9.9 }),
    ],
    [
      'a window between two samples',
      with_({ start_ms: 1.1, end_ms: 2 }),
      '/reports/pair/dt_ms',
      /from 1\.1 to 1\.9 ms/,
      with_({ start_ms: 1.1, end_ms: 2.1 }),
    ],
    [
      'a window of only step 0',
      with_({ dt_ms: 0.1, end_ms: 0.1 }),
      '/reports/pair/dt_ms',
      /multiple in the time of the report/,
      with_({ dt_ms: 0.1, end_ms: 0.2 }),
    ],
    [
      'no sample in the shortest trial of a sweep',
      with_({ dt_ms: 5 }, { sweep: [{ set: 'duration_ms', values: [10, 5] }] }),
      '/reports/pair/dt_ms',
      /from 0\.1 to 4\.9 ms, got 5/,
      with_({ dt_ms: 5 }, { sweep: [{ set: 'duration_ms', values: [10, 6] }] }),
    ],
    [
      'groups',
      with_({ group_by: ['type'] }),
      '/reports/pair/group_by',
      /an empty list/,
      with_({ group_by: [] }),
    ],
    [
      'bins',
      with_({ bin_ms: 1 }),
      '/reports/pair/bin_ms',
      /only if type is histogram, got membrane/,
      with_({ dt_ms: 1 }),
    ],
    [
      'samples of a rate',
      with_({ type: 'rate', dt_ms: 1 }),
      '/reports/pair/dt_ms',
      /only if type is membrane, got rate/,
      with_({ type: 'rate' }),
    ],
    [
      'samples of spikes',
      with_({ type: 'spikes', dt_ms: 1 }),
      '/reports/pair/dt_ms',
      /only if type is membrane, got spikes/,
      with_({ type: 'spikes' }),
    ],
    [
      'a type in the plural',
      with_({ type: 'membranes' }),
      '/reports/pair/type',
      /membrane/,
      with_({ type: 'membrane' }),
    ],
    ['another name of dt_ms', with_({ dt: 1 }), '/reports/pair/dt', /dt_ms/, with_({ dt_ms: 1 })],
    [
      'a start at the end',
      with_({ start_ms: 10 }),
      '/reports/pair/start_ms',
      /less than the trial, 10 ms/,
      with_({ start_ms: 9 }),
    ],
    [
      'an end before the start',
      with_({ start_ms: 5, end_ms: 4 }),
      '/reports/pair/end_ms',
      /more than start_ms/,
      with_({ start_ms: 4, end_ms: 5.1 }),
    ],
    [
      'no neurons',
      { ...KICKED, reports: { pair: { type: 'membrane' } } },
      '/reports/pair/node_set',
      /must have the member node_set/,
      with_({}),
    ],
    [
      'a swept dt_ms',
      with_({}, { sweep: [{ set: 'reports.pair.dt_ms', values: [1] }] }),
      '/sweep/0/set',
      /must be/,
      with_({}, { sweep: [{ set: 'seed', values: [1] }] }),
    ],
    [
      'a group of classes in the plural',
      { ...KICKED, reports: { r: { node_set: 'A', group_by: ['classes'] } } },
      '/reports/r/group_by/0',
      /class, sub_class/,
      { ...KICKED, reports: { r: { node_set: 'A', group_by: ['class'] } } },
    ],
    [
      'sub-classes with a dash',
      { ...KICKED, reports: { r: { node_set: 'A', group_by: ['sub-class'] } } },
      '/reports/r/group_by/0',
      /sub_class/,
      { ...KICKED, reports: { r: { node_set: 'A', group_by: ['sub_class', 'class'] } } },
    ],
    [
      'a label of groups twice',
      { ...KICKED, reports: { r: { node_set: 'A', group_by: ['class', 'class'] } } },
      '/reports/r/group_by/1',
      /item 0 is the same/,
      { ...KICKED, reports: { r: { node_set: 'A', group_by: ['class', 'sub_class'] } } },
    ],
    [
      'a class that is no list',
      { ...KICKED, reports: { r: { node_set: 'A', group_by: 'class' } } },
      '/reports/r/group_by',
      /a list .*got "class"/,
      { ...KICKED, reports: { r: { node_set: 'A', group_by: ['class'] } } },
    ],
    [
      'sub-classes of a sweep in the plural',
      { ...KICKED, sweep: [{ each: 'A', group_by: ['sub_classes'], as: 'silence' }] },
      '/sweep/0/group_by/0',
      /sub_class/,
      { ...KICKED, sweep: [{ each: 'A', group_by: ['sub_class'], as: 'silence' }] },
    ],
    [
      'statements of answers about the whole brain',
      { ...KICKED, reports: { r: { node_set: 'A', responding_any: true } } },
      '/reports/r/responding_any',
      /got "responding_any"/,
      { ...KICKED, reports: { r: { node_set: 'A' } } },
    ],
  ])('is refused with %s, and its neighbour is not', (_, document, path, message, neighbour) => {
    expect(refusal(document)).toMatchObject({
      code: 'INVALID_PARAMETER',
      path,
      message: expect.stringMatching(message),
    });
    expect(() => planOf(connectome, neighbour)).not.toThrow();
  });

  it('is complete with dt_ms after its window, and complete as it is', () => {
    const { experiment } = planOf(connectome, with_({})).head;
    expect(JSON.stringify(experiment.reports['pair'])).toBe(
      '{"node_set":["A","B"],"type":"membrane","group_by":[],"start_ms":0,"end_ms":10,"dt_ms":1}',
    );
    expect(planOf(connectome, experiment).head.id).toBe(planOf(connectome, with_({})).head.id);
  });
});
