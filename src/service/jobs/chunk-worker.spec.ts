import { Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import { RedisServer } from '../../../test/support/daemons.js';
import { closeDiskJobs, DISK_JOB_LIMITS, openDiskJobs } from '../../../test/support/disk-jobs.js';
import { describeWith } from '../../../test/support/requirements.js';
import { until } from '../../../test/support/service-process.js';
import { CodedError } from '../../engine/errors.js';
import type { ThreadWork } from '../../workers/thread/thread-work.js';
import { BullChunkQueue } from './bull-chunk-queue.js';
import { MemoryChunkQueue } from './memory-chunk-queue.js';
import { ChunkWorker, type JobHost } from './chunk-worker.js';
import type { Chunk, JobRecord } from './job.js';
import type { JobModel } from './opened-job.js';
import { RedisJobStore } from './redis-job-store.js';

const RECORD = {
  ...{ id: 'a', client: 'laboratory', model: 'model', experimentId: 'e', from: 0, conditions: 3 },
  ...{ brainMs: 300, priceMs: 300, createdMs: 0, document: { trials: 1 }, limits: {} },
} as JobRecord;
const chunkOf = (from: number): Chunk => ({
  ...{ job: 'a', model: 'model', phase: 0, from, to: from + 1, before: 0 },
});

/** A process whose thread of experiments computes a condition in no time, or fails. */
function hostWith(failure?: CodedError) {
  const chunk = async function* (_: unknown, [index]: readonly number[]) {
    if (failure !== undefined) throw failure;
    yield { index: index!, bytes: new Uint8Array(1), brainMs: 100 };
  };
  const done = () => undefined;
  const work = { call: async () => [[0, 1, 2]], chunk, setMaxInFlight: done, stop: done, end: done };
  const model: JobModel = {
    id: 'model',
    queue: { trialsInFlight: 4, trialsAtOnce: 1, hasRoomForBackground: true } as JobModel['queue'],
    experiments: { openChunk: () => work as unknown as ThreadWork },
  };
  return {
    state: { name: 'ready', model },
    draining: false as boolean,
    ending: new AbortController().signal,
    modelForRuns: () => model,
    beginTask: () => done,
  } satisfies JobHost;
}

async function openWorker(failure?: CodedError) {
  const host = hostWith(failure);
  const { store } = await openDiskJobs();
  const worker = new ChunkWorker(host, store, new MemoryChunkQueue());
  const outcomes: string[] = [];
  worker.reports.subscribe(({ outcome }) => outcomes.push(outcome));
  return { host, store, worker, outcomes };
}

afterEach(closeDiskJobs);

it('reports a chunk as done, or as ended if its job ended before it began', async () => {
  const { store, worker, outcomes } = await openWorker();
  await store.create(RECORD);
  await worker.compute(chunkOf(0));
  expect((await store.state('a'))!.progress.conditionsDone).toBe(1);
  // In another process.
  await store.dismiss('a');
  await worker.compute(chunkOf(1));
  expect(outcomes).toEqual(['done', 'ended']);
  expect(worker.computing).toBe(0);
});

it('reports a chunk as failed once its job is given up, and as retried if that is left to others', async () => {
  const failure = new CodedError('TOO_EXPENSIVE', 'It is too large.', { path: '/reports' });
  const { host, store, worker, outcomes } = await openWorker(failure);
  await store.create(RECORD);
  const refused = new Error('READONLY You cannot write against a replica.');
  const fail = jest.spyOn(store, 'fail').mockRejectedValueOnce(refused);
  host.draining = true;
  await expect(worker.compute(chunkOf(0))).rejects.toThrow('READONLY');
  host.draining = false;
  await worker.compute(chunkOf(0));
  expect(outcomes).toEqual(['retried', 'failed']);
  expect(fail).toHaveBeenCalledTimes(2);
  expect((await store.state('a'))!.progress).toMatchObject({
    status: 'failed',
    failure: { code: 'TOO_EXPENSIVE' },
  });
});

it('reports a chunk as failed if the queue gives it up', async () => {
  const { store, worker, outcomes } = await openWorker();
  await store.create(RECORD);
  await worker.giveUp(chunkOf(0), new CodedError('WORKER_LOST', 'It ended.'));
  expect(outcomes).toEqual(['failed']);
});

it('logs the numbers of jobs that an earlier process left', async () => {
  const { worker } = await openWorker();
  const log = jest.spyOn(Logger.prototype, 'log').mockReturnValue();
  const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
  await worker.resume({ adopt: async () => ({ ids: ['a'], others: 1 }) });
  expect(log).toHaveBeenCalledWith('Goes on with unfinished jobs: 1.');
  expect(warn).toHaveBeenCalledWith(
    'Unfinished jobs that wait for the model of the service that began them: 1.',
  );
  log.mockRestore();
  warn.mockRestore();
});

describeWith(['redis'], 'a job whose chunks Redis has lost', () => {
  it('goes on, and no other job gets a chunk', async () => {
    const server = await RedisServer.startForJobs();
    const connect = () => new Redis(server.url, { maxRetriesPerRequest: null });
    const redis = connect();
    const store = new RedisJobStore(redis, DISK_JOB_LIMITS);
    const queue = new BullChunkQueue(redis, connect, DISK_JOB_LIMITS.storedForMs);
    const worker = new ChunkWorker(hostWith(), store, queue);
    try {
      const clients = ['laboratory', 'waiting', 'recent', 'elsewhere', 'earlier'];
      for (const id of clients) {
        await store.create({ ...RECORD, id, client: id, model: id === 'elsewhere' ? 'other' : 'model' });
        if (id === 'laboratory') await store.begin(id);
        // The last write of a job, by the clock of Redis.
        await redis.hset(`nes:job:${id}`, 'updated', id === 'recent' ? Date.now() : 0);
      }
      // A job of another version belongs to its processes.
      await redis.hset('nes:job:earlier', 'version', '0.1');
      await queue.add([{ ...chunkOf(0), job: 'waiting' }]);
      await worker.recover(store, queue, 30_000);
      await worker.recover(store, queue, 30_000);
      expect([...(await queue.jobs('model'))].sort()).toEqual(['laboratory', 'waiting']);
      expect(await queue.waiting('model')).toBe(2);
      queue.start(worker);
      await until(async () => (await store.state('laboratory'))!.progress.status === 'successful');
      await worker.recover(store, queue, 30_000);
      await until(async () => (await queue.jobs('model')).size === 0);
    } finally {
      await queue.close();
      redis.disconnect();
      await server.kill();
    }
  });
});
