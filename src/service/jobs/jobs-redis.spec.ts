import { Redis } from 'ioredis';
import { RedisServer } from '../../../test/support/daemons.js';
import { MutingProxy } from '../../../test/support/muting-proxy.js';
import { describeWith } from '../../../test/support/requirements.js';
import { until } from '../../../test/support/service-process.js';
import { JobsRedis } from './jobs-redis.js';
import { RedisJobStore } from './redis-job-store.js';

describeWith(['redis'], 'the Redis of jobs', () => {
  let server: RedisServer;
  let admin: Redis;
  let jobs: JobsRedis;
  const told: string[] = [];

  beforeAll(async () => {
    server = await RedisServer.start();
    admin = new Redis(server.url);
    await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    jobs = new JobsRedis(server.url, {
      onAway: (reason) => told.push(`away: ${reason}`),
      onBack: () => told.push('back'),
      onPolicy: (evicting) => told.push(`policy: ${evicting}`),
    });
    await until(() => told.length > 0);
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
    const limits = {
      perClient: 1,
      atOnce: 1,
      brainMsPerClient: 1,
      resultBytes: 1,
      maxFinished: 1,
      storedForMs: 1,
    };
    const store = new RedisJobStore(jobs.prompt, limits);
    const state = () => jobs.reach(() => store.state('a'));
    await admin.hset('nes:job:a', 'head', '{"id');
    await expect(state()).rejects.toThrow('its record in the store of jobs is damaged');
    await admin.del('nes:job:a');
    await admin.set('nes:job:a', 'text');
    await expect(state()).rejects.toThrow('its record in the store of jobs is damaged');
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
      { onAway: () => events.push('away'), onBack: () => events.push('back'), onPolicy: () => undefined },
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
});
