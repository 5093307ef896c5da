import { setImmediate } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { UnrecoverableError } from 'bullmq';
import { Redis } from 'ioredis';
import { RedisServer } from '../../../test/support/daemons.js';
import { describeWith } from '../../../test/support/requirements.js';
import { until } from '../../../test/support/service-process.js';
import { CodedError } from '../../engine/errors.js';
import { MAX_TRIES_OF_CHUNK } from '../../workers/pool/retries.js';
import { BullChunkQueue } from './bull-chunk-queue.js';
import type { ChunkWork } from './chunk-queue.js';
import { JOB_VERSION, type Chunk } from './job.js';

const KEPT_MS = 600;

const chunksOf = (model: string, count: number): Chunk[] =>
  Array.from({ length: count }, (_, at) => ({
    job: `${model}-job`,
    model,
    phase: 0,
    from: at,
    to: at + 1,
    before: 0,
  }));

describeWith(['redis'], 'chunks in Redis', () => {
  let server: RedisServer;
  let redis: Redis;
  const queues: BullChunkQueue[] = [];
  beforeAll(async () => {
    server = await RedisServer.startForJobs();
    redis = new Redis(server.url, { maxRetriesPerRequest: null });
  });
  afterAll(async () => {
    await Promise.all(queues.map((queue) => queue.close()));
    redis.disconnect();
    await server.kill();
  });
  function queueOfProcess(): BullChunkQueue {
    const connect = () => new Redis(server.url, { maxRetriesPerRequest: null });
    const queue = new BullChunkQueue(redis, connect, KEPT_MS);
    queues.push(queue);
    return queue;
  }
  const keysOf = async (model: string) => redis.keys(`nes:bull:chunks-${model}-*`);

  it('are removed with the queue of a model that no process serves any more, and no others', async () => {
    const computed: Chunk[] = [];
    const work: ChunkWork = {
      model: 'served',
      atOnce: 2,
      hasRoom: () => true,
      compute: async (chunk) => void computed.push(chunk),
      giveUp: async () => undefined,
    };
    const before = queueOfProcess();
    await before.add(chunksOf('replaced', 1200));
    expect((await keysOf('replaced')).length).toBeGreaterThan(1200);
    const now = queueOfProcess();
    now.start(work);
    await now.add(chunksOf('served', 3));
    await until(() => computed.length === 3);
    await until(async () => (await keysOf('replaced')).length === 0);
    // A queue that is served stays, though nothing was added for longer than unserved ones are kept.
    await new Promise((next) => setTimeout(next, 2 * KEPT_MS));
    expect(await keysOf('served')).toEqual(
      expect.arrayContaining(['meta', 'used'].map((key) => `nes:bull:chunks-served-${JOB_VERSION}:${key}`)),
    );
    await now.add(chunksOf('served', 5));
    await until(() => computed.length === 8);
    // A model that is served again finds an empty queue, and can use it.
    await queueOfProcess().add(chunksOf('replaced', 2));
    expect(await before.waiting('replaced')).toBe(2);
  });

  it('of an old job have their turns, however often another job is ended and begun again', async () => {
    const queue = queueOfProcess();
    const of = (job: string, count: number) => chunksOf('busy', count).map((chunk) => ({ ...chunk, job }));
    const count = { old: 0, young: 0 };
    await queue.add(of('old', 10));
    await queue.add(of('young-0', 10));
    queue.start({
      model: 'busy',
      atOnce: 1,
      hasRoom: () => true,
      compute: async ({ job }) => {
        if (job === 'old') count.old++;
        else {
          queue.remove(job, 'busy');
          await queue.add(of(`young-${++count.young}`, 10));
        }
      },
      giveUp: async () => undefined,
    });
    await until(() => count.old === 10 || count.young > 100);
    expect(count.old).toBe(10);
    expect(count.young).toBeGreaterThan(5);
    await queue.close();
  });

  it('that cannot be given up do not end the process', async () => {
    const unhandled: unknown[] = [];
    const listener = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', listener);
    const logged = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
    let givenUp = 0;
    const queue = queueOfProcess();
    queue.start({
      model: 'refused',
      atOnce: 1,
      hasRoom: () => true,
      compute: () => Promise.reject(new UnrecoverableError('It is not to be tried again.')),
      giveUp: () => {
        givenUp++;
        return Promise.reject(new Error('READONLY'));
      },
    });
    await queue.add(chunksOf('refused', 2));
    await until(() => givenUp === 2);
    await setImmediate();
    process.off('unhandledRejection', listener);
    expect(unhandled).toEqual([]);
    expect(logged.mock.calls).toEqual(new Array(2).fill(['A job could not be given up: Error: READONLY']));
    logged.mockRestore();
  });

  it('of a process that drains are tried again, however often', async () => {
    let tries = 0;
    let givenUp = 0;
    const queue = queueOfProcess();
    queue.start({
      model: 'drained',
      atOnce: 1,
      hasRoom: () => true,
      compute: async () => {
        if (++tries <= 2 * MAX_TRIES_OF_CHUNK)
          throw new CodedError('DRAINING', 'The service is shutting down.');
      },
      giveUp: async () => void givenUp++,
    });
    await queue.add(chunksOf('drained', 1));
    await until(async () => givenUp > 0 || (await queue.jobs('drained')).size === 0);
    expect([givenUp, tries]).toEqual([0, 2 * MAX_TRIES_OF_CHUNK + 1]);
  });

  it('during which too many processes ended are given up with this reason', async () => {
    const failures: unknown[] = [];
    const queue = queueOfProcess();
    await queue.add(chunksOf('deadly', 1));
    // BullMQ's marks of a chunk that has stalled too often.
    const key = `nes:bull:chunks-deadly-${JOB_VERSION}:deadly-job-0-0`;
    await redis.hset(key, 'stc', 21, 'defa', 'job stalled more than allowable limit');
    queue.start({
      model: 'deadly',
      atOnce: 1,
      hasRoom: () => true,
      compute: async () => undefined,
      giveUp: async (_, error) => void failures.push(error),
    });
    await until(() => failures.length > 0);
    expect(failures).toEqual([
      expect.objectContaining({
        code: 'WORKER_LOST',
        message: 'The service ended 21 times without a new result while it computed this job.',
      }),
    ]);
  });

  it('can be added after Redis was too slow for the first ones', async () => {
    const prompt = new Redis(server.url, { commandTimeout: 300, autoResendUnfulfilledCommands: false });
    await prompt.ping();
    const queue = new BullChunkQueue(prompt, () => prompt.duplicate(), KEPT_MS);
    try {
      server.freeze();
      await expect(queue.waiting('slow')).rejects.toThrow('Command timed out');
      server.thaw();
      await queue.add(chunksOf('slow', 2));
      expect(await queue.waiting('slow')).toBe(2);
    } finally {
      server.thaw();
      await queue.close().catch(() => undefined);
      prompt.disconnect();
    }
  });

  it('name no job in the log if one is lost while it is computed', async () => {
    const job = 'abcdefghijklmnopqrstuvwx';
    const told: string[] = [];
    const logged = jest
      .spyOn(Logger.prototype, 'debug')
      .mockImplementation((message) => void told.push(String(message)));
    const queue = queueOfProcess();
    queue.start({
      model: 'lost',
      atOnce: 1,
      hasRoom: () => true,
      compute: async () => {
        await redis.del(`nes:bull:chunks-lost-${JOB_VERSION}:${job}-0-0`);
      },
      giveUp: async () => undefined,
    });
    await queue.add([{ ...chunksOf('lost', 1)[0]!, job }]);
    await until(() => told.some((message) => message.includes('Missing key')));
    logged.mockRestore();
    expect(told.join()).not.toContain(job);
  });
});
