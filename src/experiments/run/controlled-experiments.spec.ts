/** Experiments on rewired brains, through to their answers. */
import { setImmediate } from 'node:timers/promises';
import { answerOf, groupsIn, localTrials, planOf } from '../../../test/support/open-experiments.js';
import { smallConnectome } from '../../../test/support/small-connectome.js';
import { encodeConnectome, openConnectome } from '../../engine/connectome/format.js';
import { CodedError } from '../../engine/errors.js';
import { answerOfResults, answerOfRun, type AnswerRequest } from '../formats/answer.js';
import type { Format } from '../formats/formats.js';
import { phasesOf } from '../plan/phases.js';
import type { ExperimentPlan } from '../plan/plan.js';
import type { ConditionResult } from './condition-result.js';
import { decodeResult, encodeResult } from '../../workers/thread/result-bytes.js';
import type { RunTrial } from './condition-run.js';
import { ChunkRunner } from './chunk-runner.js';
import { neededCells } from './run-experiment.js';
import { inOneGo } from './turn.js';

const content = smallConnectome();
const measured = openConnectome(
  encodeConnectome({
    ...content,
    metadata: { ...content.metadata, wiring: 'measured', dataset: 'FlyWire FAFB', release: 783 },
    neuronIds: content.neuronIds.map((_, i) => String(10n ** 17n + BigInt(i))),
  }).buffer as ArrayBuffer,
);
const runTrial = localTrials(measured);
const INTERNEURONS = { super_class: 'central', sub_class: 'inter' };
const COUNT = 5;

const BASE = {
  inputs: { sugar: { node_set: 'S_sugar', rate_hz: 120 } },
  duration_ms: 80,
  trials: 3,
  reports: {
    inter: { node_set: INTERNEURONS, group_by: ['side'] },
    motor: { node_set: 'C_*', group_by: ['type'], start_ms: 20, end_ms: 70 },
  },
};
const CONTROLLED = { ...BASE, controls: { shuffle: 'targets', count: COUNT } };
/** Reports of every shape, two axes, a screen among them. */
const SWEEP = {
  ...CONTROLLED,
  reports: {
    ...BASE.reports,
    bins: { node_set: 'C_motor', type: 'histogram', bin_ms: 10 },
    rows: { node_set: 'C_*', type: 'spikes' },
  },
  sweep: [
    { set: 'inputs.sugar.rate_hz', values: [60, 150] },
    { each: { responders_of: 'baseline', top: 2 }, group_by: ['type'], as: 'silence' },
  ],
};

/** The same, with other neurons in place of the silenced ones. */
const MATCHED = {
  ...SWEEP,
  sweep: [
    SWEEP.sweep[0],
    { each: { responders_of: 'baseline', top: 3 }, group_by: ['neuron', 'type'], as: 'silence' },
  ],
  controls: { silence: 'matched', match: ['super_class', 'activity'], count: COUNT },
};

const run = (document: object, options = {}) => answerOf(planOf(measured, document), runTrial, options);
const all = <T>(items: readonly T[]) => items;

describe('controls', () => {
  it('are those of the same wiring in an experiment of its own', async () => {
    const { conditions } = await run(CONTROLLED);
    const [condition] = conditions;
    for (const [report, { group_by: labels }] of Object.entries(BASE.reports)) {
      expect(labels).toHaveLength(1);
      const groups = groupsIn(condition!, report);
      for (let seed = 1; seed <= COUNT; seed++) {
        const alone = await run({ ...BASE, wiring: { shuffle: 'targets', seed } });
        expect(groupsIn(alone.conditions[0]!, report).map(({ rate_hz: rate }) => rate!.mean)).toEqual(
          groups.map(({ control }) => control!.values[seed - 1]),
        );
        expect(alone.head.wiring).toBe('rewired');
      }
      expect(new Set(groups.flatMap(({ control }) => control!.values)).size).toBeGreaterThan(COUNT);
    }
  });

  it('leave a condition as it is without them, except the groups of its rates', async () => {
    const reports = { ...BASE.reports, bins: { node_set: 'C_motor', type: 'histogram', bin_ms: 10 } };
    const [plain] = (await run({ ...BASE, reports })).conditions;
    const { conditions, head, totals } = await run({ ...CONTROLLED, reports });
    expect(conditions).toHaveLength(1);
    expect(head.wiring).toBe('measured');
    const without = Object.fromEntries(
      Object.keys(reports).map((name) => [
        name,
        groupsIn(conditions[0]!, name).map(({ control, ...group }) => {
          expect(control === undefined).toBe(name === 'bins');
          return group;
        }),
      ]),
    );
    expect({ ...conditions[0], reports: without }).toEqual(plain);
    expect(totals.cost.brain_seconds).toBeCloseTo((1 + COUNT) * 3 * 0.08, 10);
  });

  it('have their mean, standard deviation, p and q', async () => {
    const { conditions } = await run({ ...CONTROLLED, controls: { shuffle: 'weights', count: 20 } });
    for (const name of Object.keys(BASE.reports)) {
      const groups = groupsIn(conditions[0]!, name);
      const ps = groups.map(({ rate_hz: rate, control }) => {
        const values = control!.values.map((value) => value!);
        const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
        expect(control!.mean).toBeCloseTo(mean, 3);
        const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
        expect(control!.sd).toBeCloseTo(Math.sqrt(squares / values.length), 3);
        const centre = (rate!.mean + 20 * mean) / 21;
        const isFar = (value: number) => Math.abs(value - centre) >= Math.abs(rate!.mean - centre) - 1e-3;
        expect(control!.p).toBeCloseTo((1 + values.filter(isFar).length) / 21, 10);
        expect(control!.incomplete).toEqual([]);
        return control!.p!;
      });
      groups.forEach(({ control }, at) => {
        const least = Math.min(
          ...ps.filter((p) => p >= ps[at]!).map((p) => (p * ps.length) / ps.filter((q) => q <= p).length),
        );
        expect(control!.q).toBeCloseTo(least, 10);
      });
    }
  });

  it('count as at least as far if the event budget ends them, and are named', async () => {
    const whole = await run(CONTROLLED);
    const groups = groupsIn(whole.conditions[0]!, 'motor');
    // More than the condition itself delivers in a trial, and less than some control does.
    const alone = await Promise.all(
      Array.from({ length: COUNT }, (_, at) =>
        run({ ...BASE, wiring: { shuffle: 'targets', seed: at + 1 } }),
      ),
    );
    const most = (answer: (typeof alone)[number]) => answer.conditions[0]!.synaptic_events / 3;
    const budget = Math.ceil(1.15 * most(whole));
    const limited = planOf(measured, CONTROLLED, { synapticEventsPerTrial: budget });
    const [condition] = (await answerOf(limited, runTrial)).conditions;
    expect(condition!.complete).toBe(true);
    groupsIn(condition!, 'motor').forEach(({ control }, at) => {
      const { incomplete, values, p } = control!;
      expect(incomplete.length).toBeGreaterThan(0);
      expect(incomplete.length).toBeLessThan(COUNT);
      const before = groups[at]!.control!.values;
      expect(values).toEqual(before.map((value, place) => (incomplete.includes(place + 1) ? null : value)));
      expect(p).toBeGreaterThanOrEqual((1 + incomplete.length) / (1 + COUNT));
    });
    // The condition itself is ended.
    const ended = planOf(measured, CONTROLLED, { synapticEventsPerTrial: 100 });
    const [stopped] = (await answerOf(ended, runTrial)).conditions;
    expect(groupsIn(stopped!, 'motor')[0]!.control).toEqual({
      mean: null,
      sd: null,
      values: new Array<null>(COUNT).fill(null),
      incomplete: [1, 2, 3, 4, 5],
      p: null,
      q: null,
    });
  });

  it('are none of a condition that is not run', async () => {
    const { conditions, totals } = await run({
      ...CONTROLLED,
      sweep: [{ each: ['S_loom', 'S_sugar'], group_by: ['type'], as: 'silence' }],
    });
    expect(totals.unchanged).toHaveLength(1);
    expect(conditions.map(({ index }) => index)).toEqual([0, 2]);
    expect(groupsIn(conditions[1]!, 'motor')[0]!.control!.values).toHaveLength(COUNT);
    expect(totals.cost.brain_seconds).toBeCloseTo(2 * (1 + COUNT) * 3 * 0.08, 10);
  });

  it('share the trains of the condition, and keep whatever else it edits', async () => {
    const edited = { silence: ['S_song'], constants: { synapse_mv: 0.3 }, wiring: { minimum_synapses: 20 } };
    const { conditions } = await run({ ...CONTROLLED, ...edited });
    const alone = await run({
      ...BASE,
      ...edited,
      wiring: { minimum_synapses: 20, shuffle: 'targets', seed: 2 },
    });
    expect(groupsIn(conditions[0]!, 'inter').map(({ control }) => control!.values[1])).toEqual(
      groupsIn(alone.conditions[0]!, 'inter').map(({ rate_hz: rate }) => rate!.mean),
    );
    expect(alone.totals.cost.input_events * (1 + COUNT)).toBe(
      (await run({ ...CONTROLLED, ...edited })).totals.cost.input_events,
    );
  });
});

describe('an answer with controls', () => {
  const MAKING = { turn: inOneGo, pieceBytes: 4000 };
  const ORDERS: [Format, Partial<AnswerRequest>][] = [
    ['json', {}],
    ['json', { from: 3 }],
    ['ndjson', {}],
    ['csv', {}],
    ['csv', { table: 'controls' }],
    ['csv', { table: 'spikes' }],
    ['arrow', {}],
    ['parquet', { from: 2 }],
  ];
  const orderOf = ([format, more]: (typeof ORDERS)[number]): AnswerRequest => ({
    format,
    from: 0,
    truncate: false,
    ...more,
  });

  async function bytesOf(answer: Awaited<ReturnType<typeof answerOfRun>>): Promise<string> {
    const parts: Uint8Array[] = [];
    for await (const { bytes } of answer.pieces) parts.push(bytes);
    return Buffer.concat(parts).toString('latin1');
  }

  /** Ends trials in an order of its own. */
  function delayed(seed: number): RunTrial {
    let state = seed;
    return async (task, trial, signal) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      for (let turns = state >>> 28; turns > 0; turns--) await setImmediate();
      return runTrial(task, trial, signal);
    };
  }

  /** Conditions and controls in chunks, as several processes compute them, the last ones first. */
  async function kept(plan: ExperimentPlan): Promise<ReadonlyMap<number, Buffer>> {
    const results = new Map<number, Buffer>();
    const load = async (index: number): Promise<ConditionResult> => decodeResult(results.get(index)!);
    for (const phase of phasesOf(plan.grid, 0)) {
      for (let to = phase.length; to > 0; to -= 4) {
        const chunk = phase.slice(Math.max(0, to - 4), to);
        const options = { inFlight: 3, wiringsAtOnce: () => 2 };
        for await (const [index, result] of new ChunkRunner(plan).run(chunk, load, runTrial, options)) {
          results.set(index, await encodeResult(result));
        }
      }
    }
    return results;
  }

  it.each([
    ['shuffled', SWEEP],
    ['matched', MATCHED],
  ])('is the same for any number of workers, order of trials, and as a job, if %s', async (_, document) => {
    const plan = planOf(measured, document);
    const results = await kept(plan);
    for (const each of ORDERS) {
      const wanted = orderOf(each);
      const answer = (trials: RunTrial, options: { inFlight: number; wiringsAtOnce?: () => number }) =>
        answerOfRun(plan, trials, wanted, options, MAKING).then(bytesOf);
      const expected = await answer(runTrial, { inFlight: 1 });
      expect(expected.length).toBeGreaterThan(400);
      for (const workers of [1, 2, 5]) {
        const options = { inFlight: 2 * workers, wiringsAtOnce: () => workers };
        expect(await answer(delayed(workers), options)).toBe(expected);
      }
      const fromJob = (async function* () {
        const reports = each[1].table === 'spikes' ? plan.reports.slice(3) : plan.reports;
        for (const index of neededCells(plan, wanted.from, reports)) {
          yield [index, await decodeResult(results.get(index)!)] as const;
        }
      })();
      const options = { limitRows: plan.tableRows, isPartial: false };
      expect(await answerOfResults(plan, fromJob, wanted, options, MAKING).then(bytesOf)).toBe(expected);
    }
  });

  it('has the bytes of each condition in an experiment of its own', async () => {
    const swept = { ...CONTROLLED, sweep: [{ set: 'inputs.sugar.rate_hz', values: [60, 150] }] };
    const { conditions } = await run(swept);
    for (const [at, rate] of [60, 150].entries()) {
      const inputs = { sugar: { ...BASE.inputs.sugar, rate_hz: rate } };
      const [alone] = (await run({ ...CONTROLLED, inputs })).conditions;
      expect({ ...conditions[at], index: 0, parameters: {} }).toEqual(alone);
    }
  });

  it('leaves out conditions whose controls a job has not yet', async () => {
    const plan = planOf(measured, { ...CONTROLLED, sweep: [{ set: 'seed', values: [1, 2, 3] }] });
    const results = await kept(plan);
    const wanted = orderOf(['json', {}]);
    const some = (async function* () {
      for (const index of neededCells(plan, 0)) {
        yield [index, index === 8 ? undefined : await decodeResult(results.get(index)!)] as const;
      }
    })();
    const answer = await answerOfResults(plan, some, wanted, { limitRows: 1000, isPartial: true }, MAKING);
    const { conditions } = JSON.parse(await bytesOf(answer)) as { conditions: { index: number }[] };
    expect(conditions.map(({ index }) => index)).toEqual([0, 2]);
  });

  it('has pages, and controls on each of them', async () => {
    const document = { ...SWEEP, trials: 8 };
    const plan = planOf(measured, document, { tableRows: 30 });
    const whole = await run(document);
    let page: string | undefined;
    let pages = 0;
    const found = new Map<number, unknown>();
    do {
      const [condition, trial] = (page ?? '0.0').split('.').map(Number) as [number, number];
      const wanted = {
        ...orderOf(['json', {}]),
        from: condition,
        ...(page !== undefined && { page: { condition, trial } }),
      };
      const answer = await answerOfRun(
        plan,
        runTrial,
        wanted,
        { inFlight: 3, wiringsAtOnce: () => 2 },
        MAKING,
      );
      const body = JSON.parse(await bytesOf(answer)) as {
        conditions: { index: number; reports: Record<string, unknown> }[];
        next_page?: string;
      };
      for (const { index, reports } of body.conditions) found.set(index, reports['motor']);
      page = body.next_page;
      pages++;
    } while (page !== undefined);
    expect(pages).toBeGreaterThan(2);
    expect([...found]).toEqual(whole.conditions.map((each) => [each.index, groupsIn(each, 'motor')]));
  });

  it('has columns and a table of its controls', async () => {
    const plan = planOf(measured, CONTROLLED);
    const { conditions } = await run(CONTROLLED);
    const rowsIn = async (more: Partial<AnswerRequest>) => {
      const answer = await answerOfRun(plan, runTrial, orderOf(['csv', more]), { inFlight: 2 }, MAKING);
      const [head, ...rows] = (await bytesOf(answer)).trimEnd().split('\r\n');
      return { columns: head!.split(','), rows: rows.map((row) => row.split(',')) };
    };
    const rates = await rowsIn({});
    expect(rates.columns.slice(-5)).toEqual(['control_hz_mean', 'control_hz_sd', 'p', 'q', 'trials']);
    const groups = all(Object.keys(BASE.reports).flatMap((name) => [...groupsIn(conditions[0]!, name)]));
    expect(rates.rows.map((row) => row.slice(-5, -1).map(Number))).toEqual(
      groups.map(({ control }) => [control!.mean, control!.sd, control!.p, control!.q]),
    );
    const controls = await rowsIn({ table: 'controls' });
    const [control, rate] = ['control', 'rate_hz_mean'].map((name) => controls.columns.indexOf(name));
    expect(controls.rows.map((row) => [Number(row[control!]), Number(row[rate!])])).toEqual(
      groups.flatMap((group) => group.control!.values.map((value, at) => [at + 1, value])),
    );
  });
});

describe('rewired wiring', () => {
  const warningsOf = (document: object) => planOf(measured, document).warnings.map(({ code }) => code);

  it('is never called measured', async () => {
    for (const wiring of [{ shuffle: 'weights' }, { jitter: 0.2 }, { minimum_synapses: 20 }]) {
      const { head, totals } = await run({ ...BASE, wiring });
      expect([head.wiring, head.model]).toEqual(['rewired', expect.stringMatching(/^fafb-783-rewired-/)]);
      expect(JSON.stringify([totals, head.side_convention, head.resolved])).not.toContain('measured');
      expect(totals.warnings.map(({ code }) => code)).toContain('REWIRED_WIRING');
    }
    const swept = await run({ ...BASE, sweep: [{ set: 'wiring.jitter', values: [0, 0.5] }] });
    expect(swept.head.wiring).toBe('rewired');
    const { head } = await run(BASE);
    expect([head.wiring, head.model]).toEqual(['measured', expect.stringMatching(/^fafb-783-measured-/)]);
  });

  it.each([{ jitter: 0 }, { seed: 2 }, { minimum_synapses: 5 }, { jitter: 0, minimum_synapses: 5, seed: 2 }])(
    'is that of the model where nothing changes: %j',
    async (wiring) => {
      const sweeps = Object.entries(wiring).map(([name, value]) => [
        { set: `wiring.${name}`, values: [value] },
      ]);
      const [plain] = (await run(BASE)).conditions;
      for (const document of [{ wiring }, ...sweeps.map((sweep) => ({ sweep }))]) {
        const { head, conditions, totals } = await run({ ...BASE, ...document });
        expect([head.wiring, head.model]).toEqual(['measured', expect.stringMatching(/^fafb-783-measured-/)]);
        expect(totals.warnings.map(({ code }) => code)).not.toContain('REWIRED_WIRING');
        expect({ ...conditions[0], parameters: {} }).toEqual(plain);
      }
    },
  );

  it('is written into the complete document only if it says something', () => {
    const complete = (wiring?: object) =>
      planOf(measured, { ...BASE, ...(wiring && { wiring }) }).head.experiment;
    expect(complete({})).toEqual(complete());
    expect(complete({ seed: 1 })).toEqual(complete());
    expect(complete({ shuffle: 'weights' }).wiring).toEqual({ shuffle: 'weights', seed: 1 });
    expect(JSON.stringify(complete())).not.toMatch(/wiring|controls/);
    expect(planOf(measured, { ...BASE, controls: { shuffle: 'targets' } }).head.experiment.controls).toEqual({
      shuffle: 'targets',
      count: 20,
    });
  });

  it('has the answer of the wiring itself if a sweep leaves it as it is, and otherwise of an experiment of its own', async () => {
    const { conditions } = await run({
      ...BASE,
      wiring: { seed: 3 },
      sweep: [
        { set: 'wiring.jitter', values: [0, 0.6] },
        { set: 'wiring.minimum_synapses', values: [5, 40] },
      ],
    });
    const [plain] = (await run(BASE)).conditions;
    expect({ ...conditions[0], parameters: {} }).toEqual(plain);
    for (const [index, wiring] of [
      [1, { minimum_synapses: 40 }],
      [2, { jitter: 0.6, seed: 3 }],
      [3, { minimum_synapses: 40, jitter: 0.6, seed: 3 }],
    ] as const) {
      const [alone] = (await run({ ...BASE, wiring })).conditions;
      expect({ ...conditions[index], index: 0, parameters: {} }).toEqual(alone);
      expect(alone).not.toEqual(plain);
    }
  });

  it('may have connections if the model has none: an override of none is no error then', async () => {
    const connection_overrides = { none: { source: 'S_sugar', target: 'C_walk', weight: 0 } };
    const refusal = () => planOf(measured, { ...BASE, connection_overrides });
    expect(refusal).toThrow(CodedError);
    expect(refusal).toThrow(/must have a connection/);
    const plan = planOf(measured, { ...BASE, connection_overrides, wiring: { shuffle: 'targets' } });
    expect(plan.head.resolved['connection_overrides']).toEqual({ none: { pairs: 0, synapses: 0 } });
    const [cut] = (await answerOf(plan, runTrial)).conditions;
    const [whole] = (await run({ ...BASE, wiring: { shuffle: 'targets' } })).conditions;
    // Cut connections deliver no events.
    expect(cut!.synaptic_events).toBeLessThan(whole!.synaptic_events);
  });

  it('warns before it runs if a single group cannot have a q of 0.05, and says how many controls allow it', () => {
    const few = (count: number, reports: object, more: object = { shuffle: 'weights' }, sweep: object = {}) =>
      planOf(measured, { ...BASE, ...sweep, reports, controls: { ...more, count } })
        .dryRun()
        .warnings.filter(({ code }) => code === 'FEW_CONTROLS')
        .map(({ message }) => message);
    const one = { node_set: 'C_motor' };
    // One group: p and q are 1/20 with 19 controls, and 1/19 with 18.
    expect(few(19, { one })).toEqual([]);
    expect(few(18, { one })).toEqual([
      'With 18 controls p is 1/19 at least. q of at most 0.05 cannot be reached if only one group differs, in the report ' +
        'one (1 group: q is 1/19 at least, and 19 controls are enough).',
    ]);
    // Two groups: q of one is twice its p. Reports are corrected by themselves.
    const two = { node_set: ['C_motor', 'C_walk'], group_by: ['type'] };
    expect(few(39, { one, two })).toEqual([]);
    expect(few(38, { one, two })).toEqual([
      'With 38 controls p is 1/39 at least. q of at most 0.05 cannot be reached if only one group differs, in the report ' +
        'two (2 groups: q is 2/39 at least, and 39 controls are enough).',
    ]);
    // As many groups as controls, and more than the allowed controls can serve.
    const many = { node_set: '@all', group_by: ['neuron'] };
    expect(few(20, { many })[0]).toMatch(
      new RegExp(
        `many \\(${measured.neuronCount} groups: q is 1 at least, and no count up to 1000 is enough\\)`,
      ),
    );
    expect(warningsOf(BASE)).not.toContain('FEW_CONTROLS');
  });

  it('warns if no single comparison of a screen can have a q of 0.05', () => {
    const sweep = [{ each: ['C_motor', 'C_walk'], group_by: ['type'], as: 'silence' }];
    const messages = (count: number) =>
      planOf(measured, {
        ...BASE,
        sweep,
        reports: { one: { node_set: 'S_*' }, other: { node_set: 'C_escape' } },
        controls: { silence: 'matched', count },
      }).warnings.flatMap(({ code, message }) => (code === 'FEW_CONTROLS' ? [message] : []));
    // Two conditions with two reports are four comparisons.
    expect(messages(79)).toEqual([]);
    expect(messages(39)).toEqual([
      'With 39 controls p is 1/40 at least. In screen, q is corrected for up to 4 comparisons: 2 of them must be further ' +
        'than all controls to reach 0.05; for one of them 79 controls are enough.',
    ]);
    // With fewer than 19 controls p itself does not reach 0.05.
    expect(messages(19)[0]).toContain('up to 4 comparisons: 4 of them must be further');
    expect(messages(3)[0]).toContain(
      'In screen, q is corrected for up to 4 comparisons: none reaches 0.05, even if all are further than all controls; ' +
        'for one of them 79 controls are enough.',
    );
  });

  it('costs its preparation once for each condition, and controls count as conditions', () => {
    const price = (document: object) => planOf(measured, document).cost.work();
    const { connectionCount } = measured;
    expect(price(BASE).rewiredConnections).toBe(0);
    expect(price({ ...BASE, wiring: { shuffle: 'weights' } }).rewiredConnections).toBe(connectionCount);
    const controlled = price(CONTROLLED);
    expect(controlled.rewiredConnections).toBe(COUNT * connectionCount);
    expect(controlled.trials).toBe(3 * (1 + COUNT));
    expect(controlled.brainMs).toBe(80 * 3 * (1 + COUNT));
    expect(() => planOf(measured, CONTROLLED, { conditions: COUNT })).toThrow(
      'controls must have at most 5 conditions, got 6: 5 controls + 1.',
    );
    expect(() => planOf(measured, SWEEP, { conditions: 30 })).toThrow(
      'sweep must have at most 30 conditions, got 36: 2 values x (2 groups + 1 without any) x (5 controls + 1).',
    );
  });
});
