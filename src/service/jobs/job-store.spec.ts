/** Contract of both stores of jobs. */
import { Redis } from 'ioredis';
import { RedisServer } from '../../../test/support/daemons.js';
import { closeDiskJobs, openDiskJobs } from '../../../test/support/disk-jobs.js';
import { describeWith } from '../../../test/support/requirements.js';
import type { JobRecord } from './job.js';
import type { ComputedCondition, JobLimits, JobStore } from './job-store.js';
import { RedisJobStore } from './redis-job-store.js';

const LIMITS: JobLimits = {
  perClient: 4,
  atOnce: 8,
  brainMsPerClient: 100_000,
  resultBytes: 100,
  maxFinished: 3,
  storedForMs: 60_000,
};
const record = (id: string, client: string, more: Partial<JobRecord> = {}): JobRecord => ({
  id,
  client,
  model: 'model',
  experimentId: 'e',
  document: { trials: 10 } as JobRecord['document'],
  limits: {} as JobRecord['limits'],
  from: 0,
  conditions: 10,
  brainMs: 10_000,
  priceMs: 10_000,
  createdMs: 0,
  ...more,
});
/** A tenth of a job. */
const condition = (index: number, costMs: number) => ({
  index,
  result: Buffer.alloc(10),
  brainMs: 1_000,
  costMs,
});

const conditionOf = (index: number, bytes: number): ComputedCondition => ({
  ...condition(index, 5),
  result: Buffer.alloc(bytes, index),
});

function contract(open: () => Promise<JobStore>): void {
  let store: JobStore;
  beforeEach(async () => (store = await open()));
  const begin = (id: string, client: string, more?: Partial<JobRecord>) =>
    store.create(record(id, client, more)).then(
      () => 'begun',
      (error: Error) => error.message,
    );

  it('the last quarter of the slots is for clients that have no job', async () => {
    const full = 'The queue is full: 6 jobs are unfinished; try again later.';
    for (const client of ['a', 'b', 'c']) {
      for (const at of [1, 2]) expect(await begin(`${client}${at}`, client)).toBe('begun');
    }
    for (const client of ['a', 'b', 'c']) expect(await begin('more', client)).toBe(full);
    for (const client of ['d', 'e']) expect(await begin(client, client)).toBe('begun');
    expect(await begin('f', 'f')).toBe('The queue is full: 8 jobs are unfinished; try again later.');
    await store.dismiss('a1');
    expect(await begin('a3', 'a')).toBe('The queue is full: 7 jobs are unfinished; try again later.');
    expect(await begin('f', 'f')).toBe('begun');
  });

  it('a client holds the rest of its jobs, by their price or by their measured cost', async () => {
    const costly = { priceMs: 60_000 };
    expect(await begin('a1', 'a', costly)).toBe('begun');
    expect(await begin('a2', 'a', costly)).toBe(
      'The job costs 60 brain seconds and the unfinished jobs of this client cost 60; together at most 100 are ' +
        'allowed. With 6 trials it would fit.',
    );
    expect(await begin('b1', 'b', costly)).toBe('begun');
    // Four tenths are done, and took less than was expected: six tenths are left.
    for (const index of [0, 1, 2, 3]) await store.keep('a1', condition(index, 1), 10);
    expect(await begin('a2', 'a', costly)).toBe('begun');
    // One tenth took 200 ms of a core, which are 10 brain seconds: nine tenths are 90.
    await store.keep('b1', condition(0, 200), 10);
    expect(await begin('b2', 'b', { priceMs: 10_001 })).toMatch(/of this client cost 90;/);
    expect(await begin('b2', 'b', { priceMs: 10_000 })).toBe('begun');
  });

  const statuses = (...ids: string[]) =>
    Promise.all(ids.map(async (id) => (await store.state(id))?.progress.status));
  /** Creates a job of two conditions and finishes it. */
  const finishedJob = async (id: string, client: string) => {
    await store.create(record(id, client));
    for (const index of [0, 1]) await store.keep(id, conditionOf(index, 20), 2);
  };

  it('keeps a result once, whoever brings it again', async () => {
    await begin('a', 'a');
    expect(await statuses('a')).toEqual(['accepted']);
    expect([await store.begin('a'), await store.begin('b')]).toEqual([true, false]);
    for (let times = 0; times < 3; times++) expect(await store.keep('a', conditionOf(1, 40), 2)).toBe(true);
    expect(await store.keep('a', { ...conditionOf(1, 90), costMs: 99 }, 2)).toBe(true);
    expect((await store.state('a'))!.progress).toMatchObject({
      status: 'running',
      conditionsDone: 1,
      brainMsDone: 1000,
      highestCostMs: 5,
      resultBytes: 40,
    });
    expect(await store.unfinished()).toBe(1);
    expect((await store.results('a', [0, 1])).map((bytes) => bytes?.length)).toEqual([undefined, 40]);
    expect(await store.keep('a', conditionOf(0, 10), 2)).toBe(true);
    expect([await statuses('a'), await store.unfinished()]).toEqual([['successful'], 0]);
    expect(await store.keep('a', conditionOf(0, 10), 2)).toBe(false);
  });

  it('creates one job for the repeated request of a client, for as long as that job is kept', async () => {
    expect(await store.create(record('a', 'laboratory'), 'key')).toBe('a');
    expect(await store.create(record('b', 'laboratory'), 'key')).toBe('a');
    expect(await statuses('a', 'b')).toEqual(['accepted', undefined]);
    expect(await store.create(record('c', 'museum'), 'key')).toBe('c');
    await store.dismiss('a');
    expect(await store.create(record('d', 'laboratory'), 'key')).toBe('a');
    await store.remove('a');
    expect(await store.create(record('d', 'laboratory'), 'key')).toBe('d');
  });

  it('keeps no document and no result of a job that ended without results', async () => {
    await finishedJob('a', 'a');
    expect((await store.find('a'))!.record).toEqual(record('a', 'a'));
    expect((await store.dismiss('a'))!.progress.status).toBe('dismissed');
    expect([await store.find('a'), await store.results('a', [0])]).toEqual([undefined, [undefined]]);
    expect((await store.state('a'))!.record).toMatchObject({ id: 'a', experimentId: 'e' });
    expect(await store.dismiss('b')).toBeUndefined();
  });

  it('fails a job whose results are too large, and a failed job stays failed', async () => {
    await begin('a', 'a');
    expect(await store.keep('a', conditionOf(0, 60), 2)).toBe(true);
    expect(await store.keep('a', conditionOf(1, 60), 2)).toBe(false);
    await store.fail('a', { code: 'WORKER_LOST', message: 'Too late.' });
    expect((await store.state('a'))!.progress).toMatchObject({
      status: 'failed',
      failure: {
        code: 'TOO_EXPENSIVE',
        message: expect.stringMatching(/^The results of the job need more than 100 bytes, the maximum\./),
      },
    });
    expect(await store.results('a', [0])).toEqual([undefined]);
  });

  it('removes the oldest finished job of the client that has most', async () => {
    await begin('unfinished', 'many');
    await finishedJob('first', 'one');
    for (const id of ['a', 'b', 'c', 'd']) await finishedJob(id, 'many');
    expect(await statuses('first', 'a', 'b', 'c', 'd')).toEqual([
      'successful',
      undefined,
      undefined,
      'successful',
      'successful',
    ]);
    expect(await statuses('unfinished')).toEqual(['accepted']);
  });

  it('names a size that fits if a job is too large by itself', async () => {
    expect(await begin('a', 'a', { priceMs: 2_000_000 })).toMatch(
      /cost 0; together at most 100 are allowed\. Fewer conditions, stimulated neurons or groups/,
    );
  });
}

describe('DiskJobStore', () => {
  afterEach(closeDiskJobs);
  contract(async () => (await openDiskJobs(LIMITS)).store);
});

describeWith(['redis'], 'RedisJobStore', () => {
  let server: RedisServer;
  let redis: Redis;
  beforeAll(async () => {
    server = await RedisServer.startForJobs();
    redis = new Redis(server.url);
  });
  afterAll(async () => {
    redis.disconnect();
    await server.kill();
  });
  contract(async () => {
    await redis.flushall();
    return new RedisJobStore(redis, LIMITS);
  });
});
