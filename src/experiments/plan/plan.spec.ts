import { smallConnectome } from '../../../test/support/small-connectome.js';
import { encodeConnectome, openConnectome } from '../../engine/connectome/format.js';
import type { ConnectomeMetadata } from '../../engine/connectome/connectome.js';
import { answerOf, localTrials, planOf, refusalOf, tableIn } from '../../../test/support/open-experiments.js';
import { dryRunJson } from '../formats/answer-json.js';

function connectomeWith(metadata: Partial<ConnectomeMetadata> = {}, further: object = {}) {
  const content = smallConnectome();
  const changed = { ...content, metadata: { ...content.metadata, ...metadata }, ...further };
  return openConnectome(encodeConnectome(changed).buffer as ArrayBuffer);
}

const connectome = connectomeWith();
const INPUT = { s: { node_set: 'S_sugar', rate_hz: 100 } };

const refusal = (request: object, limits = {}) => refusalOf(() => planOf(connectome, request, limits));

describe('the cost of an experiment', () => {
  it('is known beforehand: conditions x trials x duration, and the expected input events', () => {
    const sweep = [
      { set: 'duration_ms', values: [500, 1500] },
      { set: 'inputs.s.rate_hz', values: [0, 100] },
    ];
    const plan = planOf(connectome, { inputs: INPUT, trials: 5, sweep });
    expect(plan.conditions).toBe(4);
    // 2 x (0.5 s + 1.5 s) x 5; 12 neurons at 100 Hz for 0.5 and 1.5 s, five times each.
    expect(plan.dryRun().cost).toEqual({ brain_seconds: 20, input_events: 5 * 12 * 100 * 2 });
  });

  it('is a whole number of milliseconds, since Redis counts it in integers', () => {
    // 1001 / 1000 * 1000 is not 1001.
    expect(planOf(connectome, { inputs: INPUT, duration_ms: 1001, trials: 1 }).cost.work().brainMs).toBe(
      1001,
    );
  });

  it('stands in a dry run, which is JSON as a whole and in its parts', () => {
    const dryRun = planOf(connectome, { node_sets: { mine: 'S_*' }, inputs: INPUT, trials: 5 }).dryRun();
    const json = dryRunJson(dryRun);
    expect(new TextDecoder().decode(json)).toBe(JSON.stringify(dryRun));
  });

  it('counts given events that are within the window', () => {
    const times = { node_set: 'S_sugar', module: 'spikes', times_ms: [0, 9.9, 10, 20, 29.9, 30] };
    const inputs = { given: { ...times, delay_ms: 10, duration_ms: 20 } };
    expect(planOf(connectome, { inputs, trials: 1 }).dryRun().cost.input_events).toBe(3 * 12);
  });

  it('names the rows of tables: of input events as many as expected, of spikes as many as there can be', async () => {
    const neuronIds = Array.from({ length: connectome.neuronCount }, (_, at) => String(1000 + at));
    const measured = connectomeWith({ wiring: 'measured' }, { neuronIds });
    const inputs = {
      list: {
        node_set: 'S_sugar',
        module: 'spikes',
        times_ms: [0, 5, 9.9, 20, 29.9],
        delay_ms: 5,
        duration_ms: 20,
      },
      ids: {
        node_set: ['S_sugar', 'S_song'],
        module: 'spikes',
        times_ms: { 1000: [1, 12, 25], 1001: [12] },
      },
    };
    const reports = {
      rows: { node_set: ['S_*', 'C_walk'], type: 'spikes', start_ms: 10, end_ms: 20.1 },
      events: { node_set: 'S_sugar', type: 'inputs', start_ms: 6, end_ms: 25 },
      again: { node_set: '*', type: 'inputs' },
    };
    for (const further of [
      {},
      { sweep: [{ set: 'inputs.list.delay_ms', values: [0, 7] }] },
      { sweep: [{ each: ['S_sugar', 'S_song', 'C_walk'], group_by: ['type'], as: 'inputs.list' }] },
    ]) {
      const plan = planOf(measured, { inputs, reports, duration_ms: 40, trials: 2, ...further });
      const { cost } = plan.dryRun();
      const { conditions } = await answerOf(plan, localTrials(measured));
      const rowsOf = (names: string[]) =>
        conditions.reduce(
          (sum, condition) =>
            sum + names.reduce((rows, name) => rows + tableIn(condition, name).steps.length, 0),
          0,
        );
      expect(cost.input_rows).toBe(rowsOf(['events', 'again']));
      expect(cost.input_rows).toBeGreaterThan(50);
      expect(cost.spike_rows_at_most).toBeGreaterThan(rowsOf(['rows']));
    }
    // Stimulated neurons, 24 of the 120 of stimuli, may spike in each of 101 steps. The others, and the four of the
    // channel, are refractory for 22 steps: five spikes. Two trials.
    expect(planOf(measured, { inputs, reports, duration_ms: 40, trials: 2 }).dryRun().cost).toMatchObject({
      spike_rows_at_most: 2 * (24 * 101 + (96 + 4) * 5),
    });
    // 12 neurons at 100 Hz for 10 of the 19 ms.
    const poisson = { mine: { node_set: 'S_sugar', rate_hz: 100, delay_ms: 15 } };
    const { events } = reports;
    expect(
      planOf(measured, { inputs: poisson, reports: { events }, trials: 100, duration_ms: 40 }).dryRun().cost,
    ).toEqual({ brain_seconds: 4, input_events: 3000, input_rows: 1200 });
  });

  it('is that of all places if responders decide', () => {
    const sweep = [{ each: { responders_of: 'baseline', top: 7 }, as: 'silence' }];
    const plan = planOf(connectome, { inputs: INPUT, trials: 3, sweep });
    expect(plan.dryRun()).toMatchObject({
      conditions: [{ index: 0, parameters: { silence: null } }],
      cost: { brain_seconds: 24, input_events: 8 * 3 * 1200 },
    });
  });

  it.each([
    [90, true],
    [89.9, false],
  ])('names the job that would be accepted: up to %d brain seconds', (brainSecondsOfJob, isNamed) => {
    const asked = { inputs: INPUT, trials: 30, sweep: [{ set: 'seed', values: [1, 2, 3] }] };
    const { message } = refusal(asked, { brainSeconds: 20, brainSecondsOfJob });
    expect(message.endsWith('it would fit. As a job (Prefer: respond-async) it fits as it is.')).toBe(
      isNamed,
    );
  });

  it('is refused above the limit, with a size that fits', () => {
    const error = refusal(
      { inputs: INPUT, trials: 30, sweep: [{ set: 'seed', values: [1, 2, 3] }] },
      { brainSeconds: 20 },
    );
    expect(error).toMatchObject({
      code: 'TOO_EXPENSIVE',
      path: '/trials',
      message:
        'The experiment has 90 brain seconds (3 conditions x 30 trials); at most 20 are allowed. With 6 trials it would fit.',
    });
    expect(() =>
      planOf(
        connectome,
        { inputs: INPUT, trials: 6, sweep: [{ set: 'seed', values: [1, 2, 3] }] },
        { brainSeconds: 20 },
      ),
    ).not.toThrow();
    expect(
      refusal({ inputs: INPUT, trials: 1, sweep: [{ set: 'seed', values: [1, 2, 3] }] }, { brainSeconds: 2 }),
    ).toMatchObject({
      code: 'TOO_EXPENSIVE',
      path: '/sweep',
    });
    const controls = { shuffle: 'weights', count: 20 };
    expect(refusal({ inputs: INPUT, trials: 1, controls }, { brainSeconds: 2 })).toMatchObject({
      path: '/controls',
    });
    expect(refusal({ inputs: INPUT, trials: 1 }, { brainSeconds: 0.5 })).toMatchObject({
      path: '/duration_ms',
    });
  });

  it('has a limit of input events and one of numbers in the reports', () => {
    expect(refusal({ inputs: INPUT, trials: 1 }, { inputEventsPerTrial: 600 })).toMatchObject({
      code: 'TOO_EXPENSIVE',
      path: '/inputs',
      message:
        'A trial of condition 0 has 1200 input events on average; at most 600 are allowed. ' +
        'With 50 % of the neurons, of the rates or of the duration it would fit.',
    });
    expect(refusal({ inputs: INPUT, trials: 1 }, { inputEventsPerTrial: 6 })).toMatchObject({
      message: expect.stringContaining('With less than 1 % of the neurons,'),
    });
    // Numbers of conditions count no controls.
    const compared = {
      inputs: INPUT,
      trials: 1,
      sweep: [{ set: `inputs.${Object.keys(INPUT)[0]}.rate_hz`, values: [0, 100] }],
      controls: { shuffle: 'weights', count: 20 },
    };
    expect(refusal(compared, { inputEventsPerTrial: 600 })).toMatchObject({
      message: expect.stringContaining('A trial of condition 1 has 1200 input events'),
    });
    const reports = { s: { node_set: 'S_sugar', group_by: ['neuron'], type: 'histogram', bin_ms: 100 } };
    // 12 neurons: 10 numbers, one trial and ten bins each.
    expect(() => planOf(connectome, { reports, trials: 1 }, { groupNumbers: 252 })).not.toThrow();
    expect(refusal({ reports, trials: 1 }, { groupNumbers: 251 })).toMatchObject({
      code: 'TOO_EXPENSIVE',
      path: '/reports',
    });
  });

  it('counts the groups of a sweep among the conditions', () => {
    const sweep = [{ each: 'S_*', group_by: ['neuron'], as: 'silence' }];
    expect(planOf(connectome, { inputs: INPUT, trials: 1, sweep }, { conditions: 121 }).conditions).toBe(121);
    expect(refusal({ inputs: INPUT, trials: 1, sweep }, { conditions: 120 })).toMatchObject({
      code: 'INVALID_PARAMETER',
      path: '/sweep',
      message: 'sweep must have at most 120 conditions, got 121: 120 groups + 1 without any.',
    });
    const values = { set: 'seed', from: 1, to: 10, step: 1 };
    const responders = { each: { responders_of: 'baseline', top: 200 }, as: 'silence' };
    expect(
      refusal({ inputs: INPUT, trials: 1, sweep: [responders, values] }, { conditions: 2000 }),
    ).toMatchObject({
      path: '/sweep',
      message: 'sweep must have at most 2000 conditions, got 2010: (200 groups + 1 without any) x 10 values.',
    });
  });
});

describe('refusals of a plan', () => {
  it.each([
    [{ inputs: { s: { node_set: 'S_suger' } } }, 'UNKNOWN_NEURONS', '/inputs/s/node_set'],
    [
      { inputs: { s: { node_set: { type: 'S_sugar', class: 'made_up', except: 'S_*' } } } },
      'EMPTY_NODE_SET',
      '/inputs/s/node_set',
    ],
    [{ silence: ['S_sugar', 'S_suger'] }, 'UNKNOWN_NEURONS', '/silence/1'],
    [{ sweep: [{ each: 'S_suger', as: 'silence' }] }, 'UNKNOWN_NEURONS', '/sweep/0/each'],
    [
      { node_sets: { 'reports.x': 'S_song' }, reports: { x: { node_set: 'S_song' } } },
      'INVALID_PARAMETER',
      '/node_sets/reports.x',
    ],
    [
      { inputs: INPUT, sweep: [{ each: { responders_of: 'baseline' }, group_by: [], as: 'silence' }] },
      'INVALID_PARAMETER',
      '/sweep/0/group_by',
    ],
    [
      { inputs: { s: { node_set: 'S_sugar', module: 'spikes', times_ms: { 12: [1] } } } },
      'UNKNOWN_NEURONS',
      '/inputs/s/times_ms',
    ],
  ])('%j', (request, code, path) => {
    expect(refusal(request)).toMatchObject({ code, path });
  });
});

describe('the head of an answer', () => {
  it('names the same experiment the same, and no other', () => {
    const id = (request: object, own = connectome) => planOf(own, request).head.id;
    expect(id({ inputs: INPUT })).toMatch(/^[0-9a-f]{32}$/);
    expect(id({ inputs: INPUT, seed: 42, trials: 10 })).toBe(id({ trials: 10, inputs: INPUT }));
    expect(id({ inputs: INPUT, seed: 43 })).not.toBe(id({ inputs: INPUT }));
    expect(id({ inputs: INPUT }, connectomeWith({ name: 'Another' }))).not.toBe(id({ inputs: INPUT }));
  });

  it('says which neurons every name stands for', () => {
    const { resolved } = planOf(connectome, {
      node_sets: { taste: ['S_sugar', 'S_bitter'] },
      inputs: { s: { node_set: 'taste' } },
      silence: ['C_escape', { type: 'C_walk', side: 'left' }],
      reports: { motor: { node_set: 'C_motor' } },
    }).head;
    expect(resolved).toEqual({
      taste: {
        neurons: 24,
        sides: { left: 12, right: 12 },
        types: { S_bitter: 12, S_sugar: 12 },
        missing: [],
      },
      'inputs.s': {
        neurons: 24,
        sides: { left: 12, right: 12 },
        types: { S_bitter: 12, S_sugar: 12 },
        missing: [],
      },
      silence: { neurons: 6, sides: { left: 4, right: 2 }, types: { C_escape: 4, C_walk: 2 }, missing: [] },
      'reports.motor': { neurons: 4, sides: { left: 2, right: 2 }, types: { C_motor: 4 }, missing: [] },
    });
  });
});

it('cites the sources of the published node sets that the document names, each once', () => {
  const { cite } = planOf(connectome, { inputs: INPUT, reports: { motor: { node_set: 'C_motor' } } });
  // The types that replace both sets if there are no root ids.
  const types = connectome.metadata.types.map((type) =>
    type.name === 'S_sugar'
      ? { ...type, name: 'LB3' }
      : type.name === 'C_escape'
        ? { ...type, name: 'CB0701' }
        : type,
  );
  const named = planOf(connectomeWith({ types }), {
    node_sets: { mine: ['@MN9', 'C_motor'] },
    inputs: { s: { node_set: '@shiu2024/sugar:left' }, t: { node_set: ['@sugar', 'mine'] } },
    reports: { motor: { node_set: 'C_motor' } },
  });
  const shiu = 'Shiu et al. 2024, doi:10.1038/s41586-024-07763-9';
  expect(named.cite).toEqual([
    ...cite,
    `${shiu}: Figures 1 to 4; its second neuron is the other one of its type in release 783`,
    `${shiu}: Figures 1 to 3; list of release 630, neu_sugar in figures.ipynb of philshiu/Drosophila_brain_model`,
  ]);
});

describe('warnings', () => {
  const codes = (request: object, own = connectome) => planOf(own, request).warnings.map(({ code }) => code);
  const PAIRS = 2_700_513;
  /** Sides are not compared, and their input is not either. */
  const BOTH_SIDES = { reports: { all: { node_set: '@all' } } };

  it('tell of a synthetic wiring and of one that lacks pairs of the release', () => {
    expect(codes({})).toEqual(['SYNTHETIC_WIRING', 'PARTIAL_WIRING']);
    expect(
      codes(BOTH_SIDES, {
        ...connectome,
        metadata: { ...connectome.metadata, wiring: 'measured', connectionCount: PAIRS },
      }),
    ).toEqual([]);
    expect(
      codes(BOTH_SIDES, {
        ...connectome,
        metadata: { ...connectome.metadata, wiring: 'measured', connectionCount: PAIRS - 1 },
      }),
    ).toEqual(['PARTIAL_WIRING']);
    const messageWith = (connectionCount: number) =>
      planOf({ ...connectome, metadata: { ...connectome.metadata, connectionCount } }, {}).warnings[1]!
        .message;
    expect(messageWith(PAIRS - 1)).toContain('; less than 1 % are missing.');
    expect(messageWith(2_313_358)).toContain('; 14 % are missing.');
    expect(messageWith(1)).toContain('; more than 99 % are missing.');
    const strict = {
      ...connectome.metadata,
      wiring: 'measured',
      connectionCount: PAIRS,
      minimumSynapses: 10,
    } as const;
    expect(planOf({ ...connectome, metadata: strict }, BOTH_SIDES).warnings).toEqual([
      { code: 'PARTIAL_WIRING', message: 'Pairs of neurons with fewer than 10 synapses are left out.' },
    ]);
  });

  it('tell of a network without connections', () => {
    const metadata = {
      ...connectome.metadata,
      dataset: 'Mine',
      connectionCount: 0,
      wiring: 'custom',
    } as const;
    expect(planOf({ ...connectome, metadata }, BOTH_SIDES).warnings).toEqual([
      {
        code: 'PARTIAL_WIRING',
        message: 'The network has no connections, so only stimulated neurons can spike.',
      },
    ]);
  });

  it('say nothing of FlyWire if the network is another one', () => {
    const metadata = { name: 'Mine', dataset: 'My network', release: null, wiring: 'custom' } as const;
    const { head, warnings, cite } = planOf(connectomeWith(metadata), {});
    expect(head.model).toMatch(/^my-network-custom-corrected-[0-9a-f]{12}$/);
    expect(head.wiring).toBe('custom');
    expect(warnings).toEqual([]);
    expect(cite).toEqual([
      expect.stringMatching(/^Shiu et al\. 2024, A Drosophila computational brain model/),
    ]);
    expect(head.side_convention).toBe('Left and right are those of My network, as the model was compiled.');
    expect(JSON.stringify([head, warnings, cite])).not.toMatch(/flywire|fafb|783/i);
    // A shuffled wiring is of the same neurons: their sources are cited, its pairs are not counted.
    const shuffled = { name: 'Shuffled', dataset: 'FlyWire FAFB', release: 783, wiring: 'custom' } as const;
    const plan = planOf(connectomeWith(shuffled), {});
    expect(plan.head.model).toMatch(/^fafb-783-custom-/);
    expect(plan.warnings).toEqual([]);
    expect(plan.cite).toHaveLength(4);
  });

  it('tell of a report that reads stimulated neurons, also by the groups of a sweep', () => {
    const reports = { s: { node_set: 'S_sugar' }, events: { node_set: 'S_sugar', type: 'inputs' } };
    const { warnings } = planOf(connectome, { inputs: INPUT, reports });
    expect(warnings.slice(2)).toEqual([
      {
        code: 'READOUT_STIMULATED',
        message:
          'The report s reads 12 of 12 neurons that an input stimulates: their spikes are the stimulus, not a response.',
      },
    ]);
    const swept = {
      inputs: { s: { node_set: 'S_song' } },
      sweep: [{ each: 'S_sugar', as: 'inputs.s' }],
      reports,
    };
    expect(codes(swept)).toContain('READOUT_STIMULATED');
    // The groups take the place of S_sugar, which nothing stimulates.
    const replaced = {
      inputs: { s: { node_set: 'S_sugar' } },
      sweep: [{ each: 'S_song', as: 'inputs.s' }],
      reports,
    };
    expect(codes(replaced)).not.toContain('READOUT_STIMULATED');
    expect(codes({ inputs: { s: { node_set: 'S_song' } }, reports })).not.toContain('READOUT_STIMULATED');
    const table = (nodeSet: string) => ({ table: { node_set: nodeSet, type: 'spikes' } });
    expect(codes({ inputs: INPUT, reports: table('S_sugar') })).toContain('READOUT_STIMULATED');
    expect(codes({ inputs: INPUT, reports: table('@all') })).not.toContain('READOUT_STIMULATED');
    expect(codes({ inputs: INPUT, reports: { all: { node_set: '@all' } } })).toContain('READOUT_STIMULATED');
  });

  it('tell of skipped names and of types that stand for measured cells', () => {
    const skipping = { inputs: { s: { node_set: ['S_sugar', 'Nobody'] } }, on_missing: 'skip' };
    expect(planOf(connectome, skipping).warnings).toContainEqual({
      code: 'MISSING_SKIPPED',
      message: 'The model lacks Nobody; skipped.',
    });
  });

  it('tell of controls that are not the published ones', () => {
    const controls = (shuffle: string) => ({ inputs: INPUT, controls: { shuffle, count: 20 } });
    expect(codes(controls('weights'))).toContain('PRUNED_CONTROLS');
    expect(codes(controls('targets'))).not.toContain('PRUNED_CONTROLS');
    // The tables had no weaker ones.
    const metadata = { ...connectome.metadata, minimumSynapses: 1 };
    expect(codes(controls('weights'), { ...connectome, metadata })).toContain('PRUNED_CONTROLS');
    const synapseCounts = connectome.synapseCounts.with(7, 1);
    expect(codes(controls('weights'), { ...connectome, metadata, synapseCounts })).not.toContain(
      'PRUNED_CONTROLS',
    );
  });

  it.each(['wiring', 'controls'])('tell of %s that shuffle within the only super-class', (member) => {
    const document = {
      inputs: INPUT,
      [member]: { shuffle: 'targets_within_super_class', ...(member === 'controls' && { count: 20 }) },
    };
    expect(codes(document)).not.toContain('NO_EFFECT');
    const classes = connectome.metadata.classes.map((labels) => ({ ...labels, superClass: '' }));
    const metadata = { ...connectome.metadata, classes };
    expect(codes(document, { ...connectome, metadata })).toContain('NO_EFFECT');
  });

  it('tell of a runaway, in which conditions, and count only neurons that no input stimulates', async () => {
    const runaways = async (document: object) => {
      const plan = planOf(connectome, { trials: 1, duration_ms: 100, reports: {}, ...document });
      const { totals } = await answerOf(plan, localTrials(connectome));
      return totals.warnings.filter(({ code }) => code === 'RUNAWAY').map(({ message }) => message);
    };
    const loom = { loom: { node_set: 'S_loom', rate_hz: 200 } };
    expect(await runaways({ inputs: loom })).toEqual([]);
    expect(await runaways({ inputs: { all: { node_set: '@all', rate_hz: 200 } } })).toEqual([]);
    const gains = { set: 'constants.synapse_mv', values: [0.275, 10] };
    // Background names all neurons, but stimulates few.
    const rare = { node_set: '@all', rate_hz: 0.01, module: 'background' };
    for (const others of [{}, { rare }]) {
      expect(await runaways({ inputs: { ...loom, ...others }, sweep: [gains] })).toEqual([
        expect.stringMatching(
          /^In condition 1 more than \d+ of the \d+ neurons responded without being stimulated/,
        ),
      ]);
    }
  });
});

describe('a task', () => {
  it('has the given times of all its neurons in one piece of memory, because each piece takes long to send', () => {
    const content = smallConnectome();
    const ids = content.neuronIds.map((_, i) => String(10n ** 17n + BigInt(i)));
    const metadata = { ...content.metadata, wiring: 'measured' as const };
    const measured = openConnectome(
      encodeConnectome({ ...content, metadata, neuronIds: ids }).buffer as ArrayBuffer,
    );
    const times = { [ids[3]!]: [0.5, 2], [ids[7]!]: [1] };
    const inputs = { given: { node_set: 'S_sugar', module: 'spikes', times_ms: times } };
    const [input] = planOf(measured, { inputs }).condition(0, []).protocol.inputs;
    const { neurons, train } = input!;
    const steps = train.kind === 'spikes' ? (train.steps as readonly Uint32Array[]) : [];
    expect(neurons).toHaveLength(12);
    expect(steps.map((list) => [...list])).toEqual(
      Array.from(neurons, (neuron) => ({ 3: [5, 20], 7: [10] })[neuron] ?? []),
    );
    expect(new Set(steps.map(({ buffer }) => buffer)).size).toBe(1);
    expect(steps[0]!.buffer).toBeInstanceOf(SharedArrayBuffer);
  });
});
