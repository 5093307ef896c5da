import { readdirSync, readFileSync } from 'node:fs';
import { connectomeFile } from '../../../test/support/connectomes.js';
import { localTrials, planOf } from '../../../test/support/open-experiments.js';
import { readConnectomeFile } from '../../workers/pool/connectome-file.js';
import type { Connectome } from '../../engine/connectome/connectome.js';
import { openConnectome } from '../../engine/connectome/format.js';
import { coreMs, expectedWork, foundWork, priceMs, type Work } from './prices.js';
import { STEPS_PER_MS } from '../../engine/stimulus/protocol.js';
import { trialTask } from './trial.js';

const HEAVY = Object.fromEntries(
  [...'abcdef'].map((name) => [name, { module: 'poisson', node_set: '@all', rate_hz: 500 }]),
);

describe('prices', () => {
  let connectome: Connectome;
  beforeAll(
    async () => (connectome = openConnectome(await readConnectomeFile(await connectomeFile('default')))),
  );

  it('are the simulated time, or all else if that is more, in whole ms', () => {
    expect(priceMs({})).toBe(0);
    expect(priceMs({ brainMs: 1000, trials: 100 })).toBe(1000);
    // 1.5 + 0.5 + 0.25 + 0.01 brain seconds.
    expect(priceMs({ brainMs: 1000, trials: 150, trains: 8_000, inputEvents: 32_500, groups: 33 })).toBe(
      2260,
    );
    expect(priceMs({ tableRows: 1 })).toBe(1);
  });

  it('are refused if an amount of work is no number', () => {
    expect(coreMs({ trials: 100 })).toBe(20);
    expect(() => coreMs({ trials: NaN })).toThrow(RangeError);
  });

  it('of the examples are the time that they simulate, unless each trial draws events for all neurons', () => {
    const files = readdirSync('examples').filter(
      (file) => file.endsWith('.json') && file !== 'resting-knockdown.json',
    );
    let planned = 0;
    for (const file of files) {
      const document = JSON.parse(readFileSync(`examples/${file}`, 'utf8')) as object;
      let plan;
      try {
        plan = planOf(connectome, document);
      } catch (error) {
        // Two documents name sets that the default brain lacks.
        expect((error as Error).message).toMatch(/^The model lacks/);
        continue;
      }
      planned++;
      expect([file, priceMs(plan.cost.work())]).toEqual([file, plan.cost.work().brainMs]);
    }
    expect(planned).toBeGreaterThanOrEqual(4);
  });

  it('of a trial of 1 ms that draws 840,000 trains are about a second of a core', () => {
    const plan = planOf(connectome, { duration_ms: 1, trials: 1, inputs: HEAVY, reports: {} });
    expect(priceMs(plan.cost.work())).toBeGreaterThan(40_000);
    expect(priceMs(plan.cost.work())).toBeLessThan(70_000);
    const task = trialTask({ ...plan.condition(0, []), countsAll: false }, 0);
    const work = plan.cost.work();
    expect([work.groups, work.groupNumbers]).toEqual([0, 0]);
    for (const [name, amount] of Object.entries(expectedWork(task))) {
      expect(work[name as keyof Work]).toBeCloseTo(amount, 3);
    }
  });

  it('of a window count the events that are drawn before it, from the start of its epoch', () => {
    const input = { node_set: { super_class: 'visual_projection' }, rate_hz: 500 };
    const planWith = (more: object, duration_ms = 5000) =>
      planOf(connectome, { duration_ms, trials: 1, inputs: { i: { ...input, ...more } }, reports: {} });
    const window = { duration_ms: 20 };
    const late = planWith({ ...window, delay_ms: 4970 });
    const changing = planWith({ rate_hz: { times_ms: [0, 4970], values: [0, 500] } });
    const ofLate = coreMs(late.cost.work());
    expect(ofLate / coreMs(changing.cost.work())).toBeGreaterThan(1 / 3);
    expect(ofLate / coreMs(changing.cost.work())).toBeLessThan(3);
    expect(ofLate / coreMs(planWith(window).cost.work())).toBeGreaterThan(10);
    // The epochs after 5 s last one second.
    const { neurons } = late.inputs[0]!;
    const { node_set, rate_hz } = input;
    const plans = [
      [late, 500 * 4.97],
      [planWith({ ...window, delay_ms: 5990 }, 7000), 500 * 0.99],
      [planWith({ ...window, delay_ms: 6000 }, 7000), 0],
      [
        planWith(
          {
            ...window,
            delay_ms: 5990,
            node_set: undefined,
            rate_hz: undefined,
            rates: [{ node_set, rate_hz }],
          },
          7000,
        ),
        500 * 0.99,
      ],
      [planWith({ ...window, delay_ms: 5990, module: 'background', rate_hz: 4 }, 7000), 4 * 0.99],
    ] as const;
    for (const [at, [plan, hidden]] of plans.entries()) {
      const work = plan.cost.work();
      expect([at, work.hiddenEvents]).toEqual([at, expect.closeTo(neurons.length * hidden, 3)]);
      const { protocol } = plan.condition(0, []);
      const ofTask = expectedWork({ protocol, reports: [], countsAll: false });
      for (const [name, amount] of Object.entries(ofTask)) {
        expect([at, name, amount]).toEqual([at, name, expect.closeTo(work[name as keyof Work]!, 3)]);
      }
    }
  });

  it('of a step of a session count what is drawn for it, at any time', () => {
    const node_set = ['ORN_DM1', 'ORN_VA2'];
    /** Trains and hidden events of one neuron in a step of 20 ms from each of these times. */
    const worksOf = (input: object, timesMs: readonly number[]) => {
      const plan = planOf(connectome, { duration_ms: 600_000, trials: 1, inputs: { input }, reports: {} });
      const { protocol } = plan.condition(0, []);
      const neurons = protocol.inputs[0]!.neurons.length;
      return timesMs.map((tMs) => {
        const durationSteps = (tMs + 20) * STEPS_PER_MS;
        const task = { protocol: { ...protocol, durationSteps }, reports: [], countsAll: false };
        const { trains = NaN, hiddenEvents = NaN } = expectedWork(task, tMs * STEPS_PER_MS);
        return [trains / neurons, hiddenEvents / neurons];
      });
    };
    const timesMs = [0, 20, 4980, 5000, 60_000, 300_000];
    const resumed = [
      { node_set, rate_hz: 40 },
      { node_set, rate_hz: { times_ms: [0], values: [40] } },
      { rates: node_set.map((type) => ({ node_set: type, rate_hz: 40 })) },
      { module: 'spikes', node_set, times_ms: [0] },
    ];
    const expected = timesMs.map(() => [expect.closeTo(1.02, 6), expect.closeTo(0, 6)]);
    for (const input of resumed) expect([input, worksOf(input, timesMs)]).toEqual([input, expected]);
    // The first step in a window draws its epoch from the start. Background has no cursors, so each of its steps does.
    const hiddenOf = (input: object, at: readonly number[]) =>
      worksOf(input, at).map(([, hidden]) => expect.closeTo(hidden!, 6));
    expect([0, 40 * 4.97, 0, 0]).toEqual(
      hiddenOf({ node_set, rate_hz: 40, delay_ms: 4970 }, [4940, 4960, 4980, 5000]),
    );
    expect([0, 4 * 4.98, 0, 4 * 0.5]).toEqual(
      hiddenOf({ module: 'background', node_set, rate_hz: 4 }, [0, 4980, 5000, 60_500]),
    );
  });

  it('count the work of a trial beyond the expected work, and rows of its tables', async () => {
    const plan = planOf(connectome, {
      duration_ms: 100,
      trials: 1,
      inputs: { sugar: { module: 'poisson', node_set: '@sugar', rate_hz: 100 } },
      reports: { all: { node_set: '@all', type: 'spikes' } },
    });
    const task = { ...plan.condition(0, []), countsAll: false };
    const reading = await localTrials(connectome)(task, 0, new AbortController().signal);
    const expected = expectedWork(trialTask(task, 0));
    expect(foundWork(reading, expected)).toEqual({
      inputEvents: reading.inputEvents - expected.inputEvents!,
      synapticEvents: reading.synapticEvents,
      tableRows: reading.spikes,
    });
  });
});
