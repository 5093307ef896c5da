import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { RedisServer } from '../../../test/support/daemons.js';
import { MutingProxy } from '../../../test/support/muting-proxy.js';
import { describeWith } from '../../../test/support/requirements.js';
import { until } from '../../../test/support/service-process.js';
import { BullChunkQueue } from './bull-chunk-queue.js';
import type { JobRecord } from './job.js';
import { JobsRedis } from './jobs-redis.js';
import { RedisJobStore } from './redis-job-store.js';

const LIMITS = {
  perClient: 9,
  atOnce: 20,
  brainMsPerClient: 1e9,
  resultBytes: 1e6,
  maxFinished: 9,
  storedForMs: 60_000,
};
const record = (id: string): JobRecord => ({
  id,
  client: 'laboratory',
  model: 'model',
  experimentId: 'e',
  document: { trials: 10 } as JobRecord['document'],
  limits: {} as JobRecord['limits'],
  from: 0,
  conditions: 1,
  brainMs: 1000,
  priceMs: 1000,
  createdMs: 5,
});

describeWith(['redis'], 'the Redis of jobs', () => {
  let server: RedisServer;
  let admin: Redis;
  let jobs: JobsRedis;
  const told: string[] = [];
  const denied: (readonly string[])[] = [];

  beforeAll(async () => {
    server = await RedisServer.start();
    admin = new Redis(server.url);
    await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    jobs = new JobsRedis(server.url, {
      onAway: (reason) => told.push(`away: ${reason}`),
      onBack: () => told.push('back'),
      onPolicy: (evicting) => told.push(`policy: ${evicting}`),
      onDenied: (commands) => denied.push(commands),
    });
    await until(() => told.length > 0 && denied.length > 0);
  });
  afterAll(async () => {
    jobs.close();
    admin.disconnect();
    await server.kill();
  });

  it('is asked for its eviction policy', () => {
    expect(told.at(-1)).toBe('policy: allkeys-lru');
  });

  it('is not away if the record of one job is damaged', async () => {
    const store = new RedisJobStore(jobs.prompt, LIMITS);
    const state = () => jobs.reach(() => store.state('a'));
    await admin.hset('nes:job:a', 'head', '{"id');
    await expect(state()).rejects.toThrow('its record in the store of jobs is damaged');
    await admin.del('nes:job:a');
    await admin.set('nes:job:a', 'text');
    await expect(state()).rejects.toThrow('its record in the store of jobs is damaged');
    await admin.hset('nes:jobs:open', 'a', 'laboratory');
    expect(await jobs.reach(() => store.create(record('b')))).toBe('b');
    await admin.del('nes:job:b', 'nes:jobs:open');
    expect(told.filter((each) => each.startsWith('away'))).toEqual([]);
  });

  it('is back, without a restart, when a replica is the master again', async () => {
    await admin.replicaof('127.0.0.1', '1');
    await expect(jobs.reach(() => jobs.prompt.set('key', ''))).rejects.toThrow('Jobs cannot be reached');
    await admin.config('SET', 'maxmemory-policy', 'noeviction');
    await admin.replicaof('NO', 'ONE');
    await until(() => told.includes('back'));
    await jobs.reach(() => jobs.prompt.set('key', ''));
    expect(told).toContain('policy: undefined');
  });

  it('is reached by new connections if the old ones fall silent without an end', async () => {
    const proxy = await MutingProxy.start(server.port);
    const events: string[] = [];
    const silentForMs = { prompt: 2_500, patient: 1_000 };
    const through = new JobsRedis(
      proxy.url,
      {
        onAway: () => events.push('away'),
        onBack: () => events.push('back'),
        onPolicy: () => undefined,
        onDenied: () => undefined,
      },
      silentForMs,
    );
    try {
      await through.patient.set('key', 'before');
      await until(() => through.prompt.status === 'ready');
      events.length = 0;
      proxy.mute();
      const waits = through.patient.set('key', 'after');
      await expect(through.reach(() => through.prompt.get('key'))).rejects.toThrow('Jobs cannot be reached');
      await until(() => events.includes('back'));
      await waits;
      expect(await through.reach(() => through.prompt.get('key'))).toBe('after');
    } finally {
      through.close();
      proxy.close();
    }
  });

  describe('whose user has an ACL', () => {
    const [rule] = /^ACL SETUSER nes [^]+?(?=\n```)/m.exec(readFileSync('docs/operations.md', 'utf8'))!;
    const url = () => server.url.replace('//', '//nes:secret@');
    const allow = (...more: string[]) =>
      admin.call(...(rule.replace('PASSWORD', 'secret').split(/\s+/) as ['ACL']), 'resetchannels', ...more);
    const deniedNow = async () => {
      const found: (readonly string[])[] = [];
      const listener = { onAway: () => undefined, onBack: () => undefined, onPolicy: () => undefined };
      const asked = new JobsRedis(url(), { ...listener, onDenied: (commands) => found.push(commands) });
      await until(() => found.length > 0);
      asked.close();
      return found[0];
    };
    afterEach(() => admin.call('ACL', 'DELUSER', 'nes'));

    it('needs only the commands of docs/operations.md', async () => {
      await allow();
      await admin.call('ACL', 'LOG', 'RESET');
      const redis = new Redis(url(), { maxRetriesPerRequest: null });
      const store = new RedisJobStore(redis, LIMITS);
      const queue = new BullChunkQueue(redis, () => redis.duplicate(), LIMITS.storedForMs);
      for (const id of ['done', 'failed', 'removed']) await store.create(record(id), id);
      // The second time, it looks for jobs of other versions.
      await store.announceVersion();
      await store.announceVersion();
      const computed: string[] = [];
      queue.start({
        model: 'model',
        atOnce: 2,
        hasRoom: () => true,
        // The first try fails, so the chunk is delayed.
        compute: async ({ job }) => {
          computed.push(job);
          if (computed.length === 1) throw new Error('not yet');
        },
        giveUp: async () => undefined,
      });
      const chunk = { model: 'model', phase: 0, from: 0, to: 1, before: 0 };
      await queue.add(['done', 'failed'].map((job) => ({ ...chunk, job })));
      await until(() => computed.length === 3);
      await store.begin('done');
      await store.keep('done', { index: 0, result: Buffer.alloc(1), brainMs: 1, costMs: 5 }, 1);
      await store.fail('failed', { code: 'WORKER_LOST', message: 'It ended.' });
      await store.remove('removed');
      queue.remove('done', 'model');
      expect([await store.unfinished(), await queue.waiting('model')]).toEqual([0, 0]);
      await queue.close();
      redis.disconnect();
      expect(await admin.call('ACL', 'LOG')).toEqual([]);
      expect(await deniedNow()).toEqual([]);
    });

    it('tells the commands that it denies', async () => {
      await allow('-zpopmin', '-hincrbyfloat');
      expect(await deniedNow()).toEqual(['HINCRBYFLOAT', 'ZPOPMIN']);
      await allow('-set');
      expect(await deniedNow()).toEqual(['SET']);
      await allow('-eval');
      expect(await deniedNow()).toEqual(['EVAL']);
      expect(await admin.exists('nes:jobs:commands')).toBe(0);
    });
  });
});
