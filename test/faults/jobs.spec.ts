/** Jobs that several processes share: real processes, a real Redis, and faults of both. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import { NginxServer, RedisServer } from '../support/daemons.js';
import { MutingProxy } from '../support/muting-proxy.js';
import { describeWith } from '../support/requirements.js';
import { startProcess, until, type ServiceProcess } from '../support/service-process.js';
import { extent, itInFull, observed } from './extent.js';

const PATH = '/api/v2/experiments';
const JSON_TYPE = { 'content-type': 'application/json' };
/** Delay of each trial, so that jobs last for seconds and every fault strikes in the middle. */
const DELAY_MS = 4;
const KEPT_S = 60;
/** Baselines, conditions that these decide, and some that change nothing. */
const SCREEN = {
  inputs: { sugar: { node_set: 'S_sugar', rate_hz: 150 } },
  duration_ms: 50,
  trials: 4,
  reports: {
    walk: { node_set: '@channel/walk', group_by: ['side'] },
    all: { node_set: { super_class: '*' } },
  },
  sweep: [
    { set: 'seed', from: 1, to: extent({ short: 12, full: 60 }), step: 1 },
    { each: { responders_of: 'baseline', top: 5 }, group_by: ['type'], as: 'silence' },
  ],
};

interface State {
  readonly status: string;
  readonly conditions: number;
  readonly conditions_done: number;
  readonly progress: number;
}

describeWith(['nginx'], 'a request for a job that nginx repeats', () => {
  it('begins one job', async () => {
    const service = await startProcess({ WORKERS: '1' }, { FAULT_DELAY_MS: '20' });
    await service.untilReady();
    let lost = 0;
    // A replica that begins jobs and dies before it answers.
    const dying = createServer((socket) => {
      const onward = connect(service.port, '127.0.0.1');
      socket.pipe(onward);
      onward.once('data', () => {
        lost++;
        socket.resetAndDestroy();
        onward.destroy();
      });
      for (const each of [socket, onward]) each.on('error', () => each.destroy());
    }).listen(0, '127.0.0.1');
    await once(dying, 'listening');
    const nginx = await NginxServer.start([(dying.address() as AddressInfo).port, service.port]);
    const post = (headers: Record<string, string>) =>
      fetch(`${nginx.url}${PATH}`, {
        method: 'POST',
        headers: { ...JSON_TYPE, prefer: 'respond-async', ...headers },
        body: JSON.stringify(SCREEN),
      });
    try {
      const key = { 'idempotency-key': '"0ba1c9a8-6f4f-4d3f-8d3e-2b1b6b8d7a55"' };
      const answers = [await post({}), await post(key), await post({}), await post(key)];
      expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202]);
      expect(lost).toBeGreaterThan(0);
      const locations = new Set(answers.map(({ headers }) => headers.get('location')));
      // nginx names each of the first and third requests itself; the key of a client stays.
      expect(locations.size).toBe(3);
      expect(await service.metric('nes_jobs_unfinished')).toBe(3);
    } finally {
      await nginx.stop();
      dying.close();
      await service.stop();
    }
  });
});

describeWith(['redis'], 'jobs that replicas share', () => {
  let redis: RedisServer;
  let replicas: ServiceProcess[] = [];
  let variables: Record<string, string>;
  let expected: string | undefined;

  beforeEach(async () => {
    redis = await RedisServer.startForJobs();
    variables = {
      REDIS_JOBS_URL: redis.url,
      WORKERS: '2',
      JOBS_KEPT_S: String(KEPT_S),
      EXPERIMENT_BRAIN_SECONDS: '9999',
      EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '0',
    };
  });
  afterEach(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
    replicas = [];
    await redis.kill();
  });

  async function start(count: number): Promise<void> {
    replicas = await Promise.all(Array.from({ length: count }, () => replica()));
    // The answer is that of one process without any queue, whatever is done to jobs.
    expected ??= await immediateAnswer();
  }
  async function replica(more: Record<string, string> = {}): Promise<ServiceProcess> {
    const started = await startProcess({ ...variables, ...more }, { FAULT_DELAY_MS: String(DELAY_MS) });
    await started.untilReady();
    return started;
  }
  async function immediateAnswer(): Promise<string> {
    const other = await startProcess({ ...variables, REDIS_JOBS_URL: '' });
    await other.untilReady();
    const answer = await fetch(`${other.url}${PATH}`, {
      method: 'POST',
      headers: JSON_TYPE,
      body: JSON.stringify(SCREEN),
    });
    expect(answer.status).toBe(200);
    const text = await answer.text();
    await other.stop();
    return text;
  }

  async function begin(at = 0, document: object = SCREEN): Promise<string> {
    const answer = await fetch(`${replicas[at]!.url}${PATH}`, {
      method: 'POST',
      headers: { ...JSON_TYPE, prefer: 'respond-async' },
      body: JSON.stringify(document),
    });
    expect(answer.status).toBe(202);
    return answer.headers.get('location')!;
  }
  const ask = (location: string, at = 0) => fetch(`${replicas[at]!.url}${location}`);
  const state = async (location: string, at = 0) => (await (await ask(location, at)).json()) as State;
  /** Waits for the middle of the job. */
  const half = (location: string, at = 0) => until(async () => (await state(location, at)).progress >= 30);

  /** Waits for the end, and compares results with those of an immediate answer. */
  async function expectEqualBytes(location: string, at = 0): Promise<void> {
    await until(async () => !['accepted', 'running'].includes((await state(location, at)).status));
    const last = await state(location, at);
    expect(last).toMatchObject({ status: 'successful', progress: 100, conditions_done: last.conditions });
    expect(await (await ask(`${location}/results`, at)).text()).toBe(expected);
  }
  const elapsed = async (what: string, work: () => Promise<void>) => {
    const startedMs = performance.now();
    await work();
    observed(what, `equal bytes after ${Math.round(performance.now() - startedMs)} ms`);
  };
  const trialsOf = async (at: number) => (await replicas[at]!.metric('nes_job_trials_total')) ?? 0;

  it('are computed by all of them, and every one gives the same results; nothing stays in Redis', async () => {
    // Far longer than reading the results takes on a slow machine.
    variables['JOBS_KEPT_S'] = '30';
    await start(extent({ short: 2, full: 3 }));
    await elapsed(`${replicas.length} replicas`, async () => {
      const location = await begin();
      await expectEqualBytes(location);
      for (const [at] of replicas.entries()) {
        expect(await (await ask(`${location}/results`, at)).text()).toBe(expected);
        expect(await trialsOf(at)).toBeGreaterThan(0);
      }
      const client = new Redis(redis.url);
      const ofJobs = async () =>
        (await client.keys('nes:*')).filter(
          (key) => !/^nes:(jobs:serving:.*|bull:[^:]+:(meta|id|events|stalled-check|marker|used))$/.test(key),
        );
      expect((await ofJobs()).length).toBeGreaterThan(0);
      await until(async () => (await ofJobs()).length === 0);
      client.disconnect();
      expect((await ask(location)).status).toBe(404);
    });
  });

  it('the user of Redis may not run INFO: jobs and runs are computed', async () => {
    const admin = new Redis(redis.url);
    await admin.call('ACL', 'SETUSER', 'nes', 'on', '>secret', '~*', '+@all', '-info');
    admin.disconnect();
    variables['REDIS_JOBS_URL'] = redis.url.replace('//', '//nes:secret@');
    await start(1);
    await expectEqualBytes(await begin());
    expect((await fetch(`${replicas[0]!.url}/api/v1/run`, { method: 'POST' })).status).toBe(200);
    expect((await replicas[0]!.readyz()).body['status']).toBe('ready');
  });

  it('a replica is killed: its chunks are done again', async () => {
    await start(extent({ short: 2, full: 3 }));
    await elapsed('one replica killed', async () => {
      const location = await begin(1);
      await half(location, 1);
      replicas[0]!.child.kill('SIGKILL');
      await expectEqualBytes(location, 1);
    });
  });

  it('Redis goes away and comes back: jobs wait, and requests are told', async () => {
    await start(extent({ short: 1, full: 3 }));
    await elapsed('Redis killed and started again', async () => {
      const location = await begin();
      await half(location);
      await redis.kill();
      await until(async () => (await replicas[0]!.metric('nes_degraded{part="jobs"}')) === 1);
      const refused = await ask(location);
      expect([refused.status, await refused.json()]).toEqual([
        503,
        expect.objectContaining({ code: 'JOBS_UNAVAILABLE' }),
      ]);
      expect(refused.headers.get('retry-after')).toBe('5');
      expect((await fetch(`${replicas[0]!.url}/api/v1/run`, { method: 'POST' })).status).toBe(200);
      await redis.start();
      await until(async () => (await ask(location)).status === 200);
      await expectEqualBytes(location);
    });
  });

  it('Redis fails over to its replica: the job goes on there, without a restart', async () => {
    const successor = await RedisServer.startForJobs();
    const address = await MutingProxy.start(redis.port);
    const [old, next] = [new Redis(redis.url), new Redis(successor.url)];
    variables['REDIS_JOBS_URL'] = address.url;
    try {
      await old.config('SET', 'repl-diskless-sync-delay', '0');
      await next.replicaof('127.0.0.1', redis.port);
      await until(async () => /master_link_status:up/.test(await next.info('replication')));
      await start(extent({ short: 1, full: 3 }));
      await elapsed('a fail-over of Redis', async () => {
        const location = await begin();
        await half(location);
        address.sendNewTo(successor.port);
        // Does REPLICAOF on both and loses no write. Open connections get READONLY.
        await old.call('FAILOVER');
        const ofOld = async () => String(await old.call('CLIENT', 'LIST', 'TYPE', 'normal')).trim();
        // Only that of this test is left.
        await until(async () => !(await ofOld()).includes('\n'));
        for (const each of replicas) await each.untilReadyz(({ body }) => body['status'] === 'ready');
        await expectEqualBytes(location);
      });
      expect(await next.info('replication')).toContain('role:master');
    } finally {
      await Promise.all(replicas.map((each) => each.stop()));
      for (const client of [old, next]) client.disconnect();
      address.close();
      await successor.kill();
    }
  });

  it('a job is ended and begun again: equal bytes, and the ended job gives none', async () => {
    await start(extent({ short: 1, full: 3 }));
    const location = await begin();
    await half(location);
    const ended = await fetch(`${replicas[0]!.url}${location}`, { method: 'DELETE' });
    expect([ended.status, ((await ended.json()) as State).status]).toEqual([200, 'dismissed']);
    expect((await ask(`${location}/results`)).status).toBe(404);
    await elapsed('a job ended and begun again', async () => expectEqualBytes(await begin()));
    expect((await state(location)).status).toBe('dismissed');
  });

  it('a Redis that lost its data: the job is not found, and the next one is computed', async () => {
    await start(1);
    const location = await begin();
    await half(location);
    const client = new Redis(redis.url);
    await client.flushall();
    client.disconnect();
    expect((await ask(location)).status).toBe(404);
    await expectEqualBytes(await begin());
  });

  it('Redis is full: no job begins, those that have begun wait, and all goes on when there is room', async () => {
    await start(1);
    const [service] = replicas as [ServiceProcess];
    const other = await begin(0, { ...SCREEN, seed: 7 });
    const location = await begin();
    await half(location);
    const client = new Redis(redis.url);
    const startedMs = performance.now();
    await client.config('SET', 'maxmemory', '1mb');
    // Found without a request for a job.
    await until(async () => (await service.metric('nes_degraded{part="jobs"}')) === 1);
    expect(await service.readyz()).toMatchObject({
      status: 200,
      body: {
        status: 'degraded',
        degraded: [{ part: 'jobs', reason: expect.stringMatching(/^The Redis of jobs is full \(OOM\); /) }],
      },
    });
    const refused = await fetch(`${service.url}${PATH}`, {
      method: 'POST',
      headers: { ...JSON_TYPE, prefer: 'respond-async' },
      body: JSON.stringify(SCREEN),
    });
    expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toEqual([
      503,
      '60',
      { code: 'JOBS_UNAVAILABLE', error: expect.stringMatching(/^The store of jobs is full: /) },
    ]);
    // The store can be read, and jobs can be ended.
    expect((await state(location)).status).toBe('running');
    expect((await ask(`${location}/results`)).status).toBe(200);
    const ended = await fetch(`${service.url}${other}`, { method: 'DELETE' });
    expect([ended.status, ((await ended.json()) as State).status]).toEqual([200, 'dismissed']);
    // Longer than chunks are tried again.
    await new Promise((next) => setTimeout(next, extent({ short: 1_000, full: 30_000 })));
    const before = await state(location);
    expect(before.status).toBe('running');

    await client.config('SET', 'maxmemory', '256mb');
    const fullMs = performance.now() - startedMs;
    client.disconnect();
    await until(async () => (await service.readyz()).body['status'] === 'ready');
    // The degradation did not come and go with each attempt. On a slow machine a timeout may end it once or twice.
    const reports = service
      .log()
      .filter(({ msg }) => String(msg).startsWith('Degraded: The Redis of jobs is full'));
    expect(reports.length).toBeGreaterThan(0);
    expect(reports.length).toBeLessThan(4);
    await elapsed(`Redis full for ${Math.round(fullMs / 1000)} s`, () => expectEqualBytes(location));
    await expectEqualBytes(await begin());
  });

  itInFull('Redis freezes: requests are told within seconds, and the job goes on', async () => {
    await start(2);
    await elapsed('Redis frozen for 15 s', async () => {
      const location = await begin();
      await half(location);
      redis.freeze();
      const refused = await ask(location);
      expect(refused.status).toBe(503);
      await new Promise((next) => setTimeout(next, 15_000));
      redis.thaw();
      await until(async () => (await ask(location)).status === 200);
      await expectEqualBytes(location);
    });
  });

  itInFull('every replica is replaced while the job runs', async () => {
    await start(3);
    await elapsed('three replicas replaced, one after the other', async () => {
      const location = await begin();
      for (const at of [0, 1, 2]) {
        const before = (await state(location, (at + 1) % 3)).conditions_done;
        expect(await replicas[at]!.stop()).toBe(0);
        replicas[at] = await replica();
        await until(async () => {
          const now = await state(location, at);
          return now.conditions_done > before || now.status === 'successful';
        });
      }
      await expectEqualBytes(location);
    });
  });
});
