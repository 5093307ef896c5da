import { hash } from 'node:crypto';
import { Redis } from 'ioredis';
import { RedisServer } from '../../../test/support/daemons.js';
import { describeWith } from '../../../test/support/requirements.js';
import { until } from '../../../test/support/service-process.js';
import { BullChunkQueue } from './bull-chunk-queue.js';
import type { ChunkWorker } from './chunk-worker.js';
import { JOB_VERSION, type JobRecord } from './job.js';
import type { ComputedCondition, JobLimits } from './job-store.js';
import { JobsService } from './jobs-service.js';
import { RedisJobStore } from './redis-job-store.js';

const LIMITS: JobLimits = {
  perClient: 3,
  atOnce: 20,
  brainMsPerClient: 1e9,
  resultBytes: 10_000_000,
  maxFinished: 10,
  storedForMs: 60_000,
};
/** Length of a document of 10,000 ids. */
const DOCUMENT_BYTES = 200_000;

const record = (id: string, more: Partial<JobRecord> = {}): JobRecord => ({
  id,
  client: 'laboratory',
  model: 'model',
  experimentId: 'e',
  document: { trials: 10, name: 'x'.repeat(DOCUMENT_BYTES) } as JobRecord['document'],
  limits: { groupNumbers: 7 } as JobRecord['limits'],
  from: 0,
  conditions: 3,
  brainMs: 3000,
  priceMs: 3000,
  createdMs: 5,
  ...more,
});
const condition = (index: number, bytes = 100): ComputedCondition => ({
  index,
  result: Buffer.alloc(bytes, index),
  brainMs: 1000,
  costMs: 5,
});

describeWith(['redis'], 'jobs in Redis', () => {
  let server: RedisServer;
  let redis: Redis;
  let store: RedisJobStore;
  beforeAll(async () => {
    server = await RedisServer.startForJobs();
    redis = new Redis(server.url);
  });
  beforeEach(async () => {
    await redis.flushall();
    store = new RedisJobStore(redis, LIMITS);
  });
  afterAll(async () => {
    redis.disconnect();
    await server.kill();
  });
  const storeWith = (limits: Partial<JobLimits>) => new RedisJobStore(redis, { ...LIMITS, ...limits });
  const sentBytes = async () => Number(/total_net_output_bytes:(\d+)/.exec(await redis.info('stats'))![1]);

  it('gives the state of a job without its document, which may be a thousand times as long', async () => {
    await store.create(record('a'));
    await store.begin('a');
    await store.keep('a', condition(1), 3);
    const job = (await store.find('a'))!;
    expect(job.record).toEqual(record('a'));
    const { document, limits, ...head } = job.record;
    expect([JSON.stringify(document).length > DOCUMENT_BYTES, limits]).toEqual([true, { groupNumbers: 7 }]);
    expect(await store.state('a')).toEqual({ record: head, progress: job.progress });
    expect(job.progress).toMatchObject({ status: 'running', conditionsDone: 1, resultBytes: 100 });

    const before = await sentBytes();
    const alone = (await sentBytes()) - before;
    for (let times = 0; times < 100; times++) await store.state('a');
    const bytes = ((await sentBytes()) - before - 2 * alone) / 100;
    expect(bytes).toBeGreaterThan(100);
    expect(bytes).toBeLessThan(500);
    expect([await store.state('b'), await store.find('b')]).toEqual([undefined, undefined]);
  });

  it('creates one job for the repeated request of a client, whatever else it may not create', async () => {
    const ids = Array.from({ length: 20 }, (_, at) => `job${at}`);
    const created = await Promise.all(ids.map((id) => store.create(record(id), 'key')));
    expect(new Set(created).size).toBe(1);
    const [first] = created as [string];
    expect(await redis.keys('nes:job:*')).toEqual([`nes:job:${first}`]);
    expect(await store.create(record('other', { client: 'museum' }), 'key')).toBe('other');
    expect(await store.create(record('next'), 'another key')).toBe('next');
    expect(await store.create(record('third'))).toBe('third');
    await expect(store.create(record('fourth'), 'new key')).rejects.toMatchObject({ code: 'QUEUE_FULL' });
    expect(await store.create(record('fourth'), 'key')).toBe(first);
    // The key still names a job that was ended, but not one that is there no longer.
    await store.dismiss(first);
    expect(await store.create(record('fourth'), 'key')).toBe(first);
    // Its document is gone with its results.
    expect([(await store.state(first))!.record.id, await store.find(first)]).toEqual([first, undefined]);
    await store.remove(first);
    expect(await store.create(record('fourth'), 'key')).toBe('fourth');
  });

  it('creates another job for a request that a process of another version repeats', async () => {
    await store.create(record('a'), 'key');
    const digest = hash('sha256', `laboratory\nkey\n${JOB_VERSION}`);
    expect(await redis.get(`nes:jobs:request:${digest}`)).toBe('a');
  });

  it('says by the clock of Redis when a job last changed', async () => {
    const beforeMs = Number((await redis.time())[0]) * 1000;
    await store.create(record('a', { createdMs: 5 }));
    expect((await store.state('a'))!.progress.updatedMs).toBeGreaterThanOrEqual(beforeMs);
    await store.begin('a');
    const { startedMs, updatedMs } = (await store.state('a'))!.progress;
    expect(updatedMs).toBe(startedMs);
  });

  it('leaves nothing that does not expire, and of a removed job nothing at all', async () => {
    const short = storeWith({ storedForMs: 1000 });
    await short.create(record('a'), 'key');
    await short.create(record('b'));
    await short.begin('a');
    for (const index of [0, 1, 2]) await short.keep('a', condition(index), 3);
    expect((await short.state('a'))!.progress.status).toBe('successful');
    await short.create(record('c'));
    await short.keep('c', condition(0), 3);
    await short.fail('c', { code: 'WORKER_LOST', message: 'It ended.' });
    await short.remove('b');
    expect((await redis.keys('*')).filter((key) => key.includes(':b'))).toEqual([]);
    for (const key of await redis.keys('*')) expect([key, await redis.pttl(key)]).not.toEqual([key, -1]);
    await until(async () => (await redis.keys('*')).length === 0);
  });

  it('keeps one finished job, with its failure, also if two finish in the same millisecond', async () => {
    const one = storeWith({ maxFinished: 1 });
    for (let times = 0; times < 20; times++) {
      const ids = [`a${times}`, `b${times}`];
      for (const id of ids) await one.create(record(id));
      await Promise.all(ids.map((id) => one.fail(id, { code: 'WORKER_LOST', message: 'It ended.' })));
      expect(await redis.keys('nes:job:*')).toHaveLength(1);
    }
  });

  it('ends unfinished jobs of a version that nobody serves, and of none', async () => {
    const jobs = ['running', 'waiting', 'nameless', 'served', 'finished', 'current'];
    const few = storeWith({ perClient: 6 });
    for (const id of jobs)
      await few.create(record(id, { client: id === 'current' ? 'museum' : 'laboratory' }));
    for (const id of ['running', 'finished']) await few.begin(id);
    await few.keep('running', condition(0), 3);
    for (const index of [0, 1, 2]) await few.keep('finished', condition(index), 3);
    for (const id of ['running', 'waiting', 'finished']) await redis.hset(`nes:job:${id}`, 'version', '0.1');
    await redis.hdel('nes:job:nameless', 'version');
    await redis.hset('nes:job:served', 'version', '0.2');
    await redis.set('nes:jobs:serving:0.2', '', 'PX', 60_000);
    const statuses = () => Promise.all(jobs.map(async (id) => (await few.state(id))!.progress.status));

    // After a start, processes of other versions may not have announced theirs.
    await few.announceVersion();
    expect(await statuses()).toEqual([
      'running',
      'accepted',
      'accepted',
      'accepted',
      'successful',
      'accepted',
    ]);
    await few.announceVersion();
    expect(await statuses()).toEqual(['failed', 'failed', 'failed', 'accepted', 'successful', 'accepted']);
    expect((await few.state('running'))!.progress.failure).toEqual({
      code: 'NOT_FOUND',
      message: 'The results were kept by another version of the service: submit the experiment again.',
    });
    expect(await few.unfinished()).toBe(2);
    const serving = await redis.keys('nes:jobs:serving:*');
    for (const key of serving) expect([key, await redis.pttl(key)]).not.toEqual([key, -1]);
    expect(serving).toHaveLength(2);
  });

  it('searches the chunks of a job once, however often it is dismissed', async () => {
    const queue = new BullChunkQueue(redis, () => redis.duplicate(), LIMITS.storedForMs);
    const worker = { stop: () => undefined } as Partial<ChunkWorker> as ChunkWorker;
    const service = new JobsService(store, queue, worker);
    const chunk = { job: 'a', model: 'model', phase: 0, from: 0, to: 1, before: 0 };
    await store.create(record('a'));
    await queue.add([chunk]);
    await redis.config('RESETSTAT');
    const states = await Promise.all(Array.from({ length: 20 }, () => service.dismiss('a')));
    expect(states.map(({ progress }) => progress.status)).toEqual(new Array(20).fill('dismissed'));
    await until(async () => (await queue.waiting('model')) === 0);
    expect(await redis.info('commandstats')).toContain('cmdstat_scan:calls=1,');
    await queue.close();
  });

  describe.each([
    ['is cut short', (id: string) => redis.hset(`nes:job:${id}`, 'head', '{"id')],
    ['lacks its head', (id: string) => redis.hdel(`nes:job:${id}`, 'head')],
    ['is no object', (id: string) => redis.hset(`nes:job:${id}`, 'head', 'null')],
    ['is a text', (id: string) => redis.set(`nes:job:${id}`, 'text')],
  ])('of which one record %s', (_, damage) => {
    it('begins further jobs of the same client and of others', async () => {
      const few = storeWith({ perClient: 2, atOnce: 3 });
      await few.create(record('a'), 'key');
      await few.create(record('b'));
      await damage('a');
      expect(await few.create(record('c'), 'key')).toBe('c');
      expect(await few.unfinished()).toBe(2);
      await expect(few.create(record('d'))).rejects.toMatchObject({ code: 'QUEUE_FULL' });
      expect(await few.create(record('d', { client: 'museum' }))).toBe('d');
      for (const index of [0, 1, 2]) await few.keep('b', condition(index), 3);
      expect((await few.state('b'))!.progress.status).toBe('successful');
    });

    it('finds the others that stand, and ends the others of old versions', async () => {
      await store.announceVersion();
      for (const id of ['a', 'b', 'c']) await store.create(record(id));
      await damage('a');
      expect(await store.standing('model', 0)).toEqual(expect.arrayContaining(['b', 'c']));
      await redis.hset('nes:job:c', 'version', '0.1');
      await store.announceVersion();
      expect((await store.state('c'))!.progress.status).toBe('failed');
      expect((await store.state('b'))!.progress.status).toBe('accepted');
      expect(await redis.hkeys('nes:jobs:open')).toEqual(['b']);
    });
  });

  it('finish even if the record of a finished one is a text', async () => {
    const two = storeWith({ maxFinished: 2 });
    for (const id of ['a', 'b', 'c']) {
      await two.create(record(id));
      await two.fail(id, { code: 'WORKER_LOST', message: 'It ended.' });
      if (id === 'a') await redis.set('nes:job:a', 'text');
    }
    expect((await redis.keys('nes:job:*')).toSorted()).toEqual(['nes:job:b', 'nes:job:c']);
  });

  describe('that is full', () => {
    afterEach(() => redis.config('SET', 'maxmemory', '256mb'));

    it('creates and keeps nothing, can be read, and is freed by jobs that end', async () => {
      await store.create(record('a'));
      await store.begin('a');
      // A connection of its own takes its buffer with it, so only the result uses memory.
      const other = redis.duplicate();
      await new RedisJobStore(other, LIMITS).keep('a', condition(0, 5_000_000), 3);
      await other.quit();
      await store.create(record('b'));
      const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))![1]);
      await redis.config('SET', 'maxmemory', used - 2_500_000);
      await expect(store.create(record('c'))).rejects.toThrow(/^OOM /);
      await expect(store.keep('a', condition(1), 3)).rejects.toThrow(/^OOM /);
      expect((await store.state('a'))!.progress).toMatchObject({ status: 'running', conditionsDone: 1 });
      expect((await store.results('a', [0]))[0]).toHaveLength(5_000_000);

      expect((await store.dismiss('a'))!.progress.status).toBe('dismissed');
      expect(await redis.exists('nes:job:a:outcomes')).toBe(0);
      expect(await store.keep('a', condition(1), 3)).toBe(false);
      // Redis gives the memory back beside everything else.
      await until(async () => (await store.create(record('c')).catch(() => undefined)) === 'c');
    });

    it('begins no job whose chunks find no room, and keeps nothing of it', async () => {
      const queue = new BullChunkQueue(redis, () => redis.duplicate(), LIMITS.storedForMs);
      // One condition of a document that fills the remaining memory.
      const { document, limits } = record('');
      const costs = { brainMs: 1000, priceMs: 1000 };
      const planned = { id: 'e', document, conditions: 1, needed: 1, phases: [[0]], ...costs };
      const wanted = { client: 'laboratory', model: 'model', planned, limits, from: 0 };
      const service = new JobsService(store, queue, {} as ChunkWorker);
      await service.begin(wanted);
      const jobs = await redis.keys('nes:job:*');
      expect([jobs.length, await queue.waiting('model')]).toEqual([1, 1]);

      // Keys that earlier tests deleted may still take memory.
      await until(async () => (await redis.info('memory')).includes('lazyfree_pending_objects:0'));
      const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))![1]);
      await redis.config('SET', 'maxmemory', used + DOCUMENT_BYTES / 4);
      const began = service.begin({ ...wanted, requestKey: 'key' });
      await expect(began).rejects.toThrow(/^OOM /);
      expect(await redis.keys('nes:job:*')).toEqual(jobs);
      expect([await store.unfinished(), await queue.waiting('model')]).toEqual([1, 1]);
      await redis.config('SET', 'maxmemory', '256mb');
      const { record: begun } = await service.begin({ ...wanted, requestKey: 'key' });
      expect(await store.state(begun.id)).toBeDefined();
      expect([await store.unfinished(), await queue.waiting('model')]).toEqual([2, 2]);
      await queue.close();
    });
  });
});
