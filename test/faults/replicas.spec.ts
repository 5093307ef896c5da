import { NginxServer, RedisServer } from '../support/daemons.js';
import { Load, sendRun } from '../support/load.js';
import { describeWith } from '../support/requirements.js';
import { startProcess, until, type ServiceProcess } from '../support/service-process.js';
import { extent, observed } from './extent.js';

const LIMIT = 12;

describeWith(['redis', 'nginx'], 'two replicas behind nginx, with Redis', () => {
  let redis: RedisServer;
  let replicas: ServiceProcess[];
  let nginx: NginxServer;
  let variables: Record<string, string>;

  beforeEach(async () => {
    redis = await RedisServer.start();
  });
  afterEach(async () => {
    await nginx.stop();
    await Promise.all(replicas.map((replica) => replica.stop()));
    await redis.kill();
  });

  async function start(limit: number): Promise<void> {
    variables = {
      REDIS_URL: redis.url,
      RATE_LIMIT: String(limit),
      TRUST_PROXY: 'loopback',
      CACHE_BYTES: '0',
    };
    replicas = await Promise.all([startProcess(variables), startProcess(variables)]);
    await Promise.all(replicas.map((replica) => replica.untilReady()));
    nginx = await NginxServer.start(replicas.map(({ port }) => port));
  }

  const run = (headers: Record<string, string> = {}) =>
    fetch(`${nginx.url}/api/v1/run?view=drive`, { method: 'POST', headers });
  const statuses = async (runs: number) => {
    const all = await Promise.all(Array.from({ length: runs }, () => run()));
    return { allowed: all.filter(({ status }) => status === 200).length, all };
  };
  const degraded = () =>
    Promise.all(replicas.map(async (replica) => (await replica.readyz()).body['status'] === 'degraded'));

  it('share one rate limit, which outlasts neither Redis nor its absence', async () => {
    await start(LIMIT);
    const together = await statuses(2 * LIMIT);
    expect(together.allowed).toBe(LIMIT);
    const counts = await Promise.all(
      replicas.map((replica) => replica.metric('nes_runs_total{stimulus="sugar",view="drive",status="200"}')),
    );
    // Both had their part in it; neither could have let as many pass alone.
    for (const count of counts) expect(count).toBeGreaterThan(0);
    const refused = together.all.find(({ status }) => status === 429)!;
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.headers.get('ratelimit-remaining')).toBe('0');
    expect((await run({ 'x-forwarded-for': '203.0.113.7' })).status).toBe(429);

    await redis.kill();
    await until(async () => (await degraded()).every(Boolean));
    expect((await replicas[0]!.readyz()).body).toMatchObject({ degraded: [{ part: 'rate_limit' }] });
    expect(await replicas[0]!.metric('nes_degraded{part="rate_limit"}')).toBe(1);
    // Each replica goes on from what it let pass itself, so the two together let a limit's worth more pass.
    const alone = await statuses(4 * LIMIT);
    expect(alone.allowed).toBe(LIMIT);
    expect(alone.all.every(({ status }) => status === 200 || status === 429)).toBe(true);

    await redis.start();
    const backMs = performance.now();
    await until(async () => (await degraded()).every((each) => !each));
    observed(
      'Redis killed and started again',
      `shared again ${Math.round(performance.now() - backMs)} ms later`,
    );
    expect((await statuses(2 * LIMIT)).allowed).toBe(LIMIT);
  });

  it('Redis killed, frozen and back under load: no run fails of it', async () => {
    await start(1_000_000);
    const load = new Load(nginx.url, 4);
    const some = extent({ short: 20, full: 300 });
    const more = async () => {
      const seen = load.count(200);
      await until(() => load.count(200) >= seen + some);
    };
    await more();
    await redis.kill();
    await more();
    await redis.start();
    await until(async () => (await degraded()).every((each) => !each));
    await more();
    redis.freeze();
    await until(async () => (await degraded()).every(Boolean));
    await more();
    redis.thaw();
    await until(async () => (await degraded()).every((each) => !each));
    const answers = await load.stop();
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    const slowest = Math.max(...answers.map(({ ms }) => ms));
    observed(
      'Redis killed, back, frozen, thawed under load',
      `${answers.length} runs, all 200; the slowest took ${Math.round(slowest)} ms`,
    );
  });

  it('one replica is stopped under load: no client sees it', async () => {
    await start(1_000_000);
    const load = new Load(nginx.url, 4);
    const some = extent({ short: 20, full: 300 });
    await until(() => load.count(200) >= some);
    expect(await replicas[0]!.stop()).toBe(0);
    const seen = load.count(200);
    await until(() => load.count(200) >= seen + some);
    const answers = await load.stop();
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    observed('one of two replicas stopped under load', `${answers.length} runs, all 200`);
  });

  it('every replica is replaced by a new one under load: no client sees it', async () => {
    await start(1_000_000);
    const load = new Load(nginx.url, 4);
    const some = extent({ short: 10, full: 300 });
    const more = async () => {
      const seen = load.count(200);
      await until(() => load.count(200) >= seen + some);
    };
    await more();
    for (const [at, { port, metricsPort, stop }] of replicas.entries()) {
      expect(await stop()).toBe(0);
      replicas[at] = await startProcess({
        ...variables,
        PORT: String(port),
        METRICS_PORT: String(metricsPort),
      });
      await replicas[at].untilReady();
      await more();
    }
    // The new ones have their part in it.
    for (const replica of replicas) {
      expect(await replica.metric('nes_simulations_total{backend="cpu"}')).toBeGreaterThan(0);
    }
    const answers = await load.stop();
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    const slowest = Math.max(...answers.map(({ ms }) => ms));
    observed(
      'both replicas replaced, one after the other, under load',
      `${answers.length} runs, all 200; the slowest took ${Math.round(slowest)} ms`,
    );
  });

  it('a replica is killed under load: no client sees it', async () => {
    await start(1_000_000);
    const load = new Load(nginx.url, 4);
    const some = extent({ short: 10, full: 300 });
    await until(() => load.count(200) >= some);
    replicas[0]!.child.kill('SIGKILL');
    const seen = load.count(200);
    await until(() => load.count(200) >= seen + some);
    const answers = await load.stop();
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    observed('one of two replicas killed under load', `${answers.length} runs, all 200`);
  });

  it('nginx answers in the shape of the service where no replica does', async () => {
    await start(LIMIT);
    await Promise.all(replicas.map((replica) => replica.stop()));
    const { status, body } = await sendRun(nginx.url, {});
    expect([status, JSON.parse(body).code]).toEqual([503, 'MODEL_FAILED']);
    const large = await fetch(`${nginx.url}/api/v1/run`, { method: 'POST', body: 'x'.repeat(2 ** 21) });
    expect(large.status).toBe(413);
    expect(large.headers.get('access-control-allow-origin')).toBe('*');
    expect(await large.json()).toMatchObject({ code: 'BODY_TOO_LARGE' });
  });
});
