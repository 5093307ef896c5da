import { setTimeout as sleep } from 'node:timers/promises';
import { jobsFolder } from '../../../../test/support/disk-jobs.js';
import { until } from '../../../../test/support/service-process.js';
import type { PlannedJob } from '../../../workers/thread/messages.js';
import type { ThreadWork } from '../../../workers/thread/thread-work.js';
import { readEnvironment } from '../../config/environment.js';
import { Degradations } from '../../health/degradations.js';
import { ModelHealth, type LoadedModel } from '../../health/model-health.js';
import type { JobRecord } from '../../jobs/job.js';
import { Limits } from '../../limits/limits.js';
import { JobParts } from './job-parts.js';

/** A model whose thread computes each condition in no time. */
function modelOf(id: string, hasRoomForBackground = true): LoadedModel {
  const chunk = async function* (_: unknown, [index]: readonly number[]) {
    yield { index: index!, bytes: new Uint8Array(1), brainMs: 100 };
  };
  const done = () => undefined;
  const work = { call: async () => [[0, 1, 2]], chunk, setMaxInFlight: done, stop: done, end: done };
  return {
    id,
    queue: { trialsInFlight: 4, trialsAtOnce: 1, hasRoomForBackground },
    experiments: { openChunk: () => work as unknown as ThreadWork },
  } as unknown as LoadedModel;
}

it('lets a job on disk wait while another model is served in the same process', async () => {
  const health = new ModelHealth();
  const environment = readEnvironment({ JOBS_PATH: jobsFolder() });
  const jobs = new JobParts(environment, new Limits(environment), health, new Degradations());
  const serve = (model: LoadedModel) => {
    health.state = { name: 'loading' };
    health.lost.next();
    health.state = { name: 'ready', model };
  };
  serve(modelOf('first', false));
  await jobs.onApplicationBootstrap();
  const { service, queue } = jobs.parts;
  try {
    const planned = {
      ...{ id: 'e', document: { trials: 1 }, conditions: 3, needed: 3 },
      ...{ phases: [[0, 1, 2]], brainMs: 300, priceMs: 300 },
    } as unknown as PlannedJob;
    const limits = {} as JobRecord['limits'];
    const { record } = await service.begin({ client: 'a', model: 'first', planned, limits, from: 0 });
    const status = async () => (await service.state(record.id)).progress.status;
    serve(modelOf('second'));
    await until(async () => (await queue.waiting('first')) === 0);
    // Longer than the pause in which a new model is noticed.
    await sleep(1_500);
    expect(await status()).toBe('accepted');
    serve(modelOf('first'));
    await until(async () => (await status()) === 'successful');
  } finally {
    await jobs.onApplicationShutdown();
  }
});
