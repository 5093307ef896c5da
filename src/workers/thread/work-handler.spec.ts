import { NO_LIMITS } from '../../../test/support/open-experiments.js';
import { smallConnectome } from '../../../test/support/small-connectome.js';
import { encodeConnectome, openConnectome } from '../../engine/connectome/format.js';
import { Partners } from '../../engine/connectome/partners.js';
import type { EventResult } from '../../experiments/kinds/reports/event-table.js';
import type { TrialResult } from '../../experiments/plan/trial.js';
import { FairScheduler } from './fair-scheduler.js';
import type { TrialBundle } from './messages.js';
import { Planner } from './planner.js';
import { Watchdog } from './watchdog.js';
import { largestOf, WorkHandler, type ThreadParts } from './work-handler.js';

const connectome = openConnectome(encodeConnectome(smallConnectome()).buffer as ArrayBuffer);
/** Every trial has 1000 spikes. */
const READING: TrialResult = {
  ...{ spikes: 1000, responding: 1, responders: Uint32Array.of(0), inputEvents: 0, synapticEvents: 0 },
  reports: [
    {
      type: 'spikes',
      rows: 1000,
      steps: new Uint32Array(1000),
      neurons: new Uint32Array(1000),
      values: [],
    } as EventResult,
  ],
};
const parts = {
  connectome,
  examples: new Set(),
  partners: new Partners(connectome),
  planner: new Planner(connectome),
  scheduler: new FairScheduler(new Watchdog()),
  service: {
    call: async (_: unknown, name: string, bundle: TrialBundle) =>
      name === 'runTrials' ? bundle.map(() => READING) : undefined,
    send: () => undefined,
  },
} as unknown as ThreadParts;

let works = 0;
async function planned(document: object): Promise<WorkHandler> {
  const handler = new WorkHandler({ client: 'a', id: works++ }, parts, () => undefined);
  const wanted = { format: 'json', from: 0, truncate: false } as const;
  await handler.plan(JSON.stringify({ trials: 10, ...document }), wanted, { ...NO_LIMITS, ids: 100 });
  return handler;
}
const sugar = { node_set: 'S_sugar', rate_hz: 100 };

it('the largest work has the most rates, trains and rows of tables together, and only it is ended', async () => {
  const rates = await planned({ inputs: { sugar }, reports: { all: { node_set: '@all', type: 'rate' } } });
  const spikes = await planned({
    inputs: { sugar },
    reports: { all: { node_set: '@all', type: 'spikes' } },
  });
  const trains = await planned({
    inputs: { sugar },
    reports: { all: { node_set: 'S_sugar', type: 'rate' } },
    sweep: [{ set: 'seed', from: 1, to: 200, step: 1 }],
    duration_ms: 1000,
  });
  expect(largestOf([rates, spikes])).toBe(rates);
  expect(largestOf([rates, spikes, trains])).toBe(trains);

  await spikes.begin(1);
  await spikes.next();
  expect(spikes.size).toBeGreaterThan(10_000);
  expect(largestOf([rates, spikes, trains])).toBe(spikes);

  spikes.endAsLargest();
  await expect(spikes.next()).rejects.toMatchObject({ code: 'TOO_EXPENSIVE', path: '/reports' });
  expect(largestOf([rates, spikes, trains])).toBe(trains);
  const unplanned = new WorkHandler({ client: 'a', id: works++ }, parts, () => undefined);
  expect(largestOf([spikes, unplanned])).toBeUndefined();
});

it('results of a job of another version of answers are refused', async () => {
  const handler = new WorkHandler({ client: 'a', id: works++ }, parts, () => undefined);
  const limits = { ...NO_LIMITS, ids: 100 };
  const { id, document } = await handler.planJob(JSON.stringify({ inputs: { sugar } }), 0, limits);
  const wanted = { format: 'json', from: 0, truncate: false, limitRows: 10, isPartial: false } as const;
  const planned = (experimentId: string) =>
    handler.planResults({ id: experimentId, experimentId, document, limits, from: 0 }, wanted);
  await planned(id);
  await expect(planned('0'.repeat(32))).rejects.toThrow('kept by another version of the service');
});
