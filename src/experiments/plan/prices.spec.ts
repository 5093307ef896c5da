import { readdirSync, readFileSync } from 'node:fs';
import { connectomeFile } from '../../../test/support/connectomes.js';
import { localTrials, planOf } from '../../../test/support/open-experiments.js';
import { readConnectomeFile } from '../../workers/pool/connectome-file.js';
import type { Connectome } from '../../engine/connectome/connectome.js';
import { openConnectome } from '../../engine/connectome/format.js';
import { coreMs, expectedWork, foundWork, priceMs, type Work } from './prices.js';
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
