import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { readEnvironment } from '../../src/service/config/environment.js';
import { Limits } from '../../src/service/limits/limits.js';
import { ERRORS } from '../../src/engine/errors.js';
import { EXAMPLE_MESSAGES } from '../../src/service/http/error-examples.js';
import { launchChromium } from '../support/browser.js';
import { NginxServer, RedisServer } from '../support/daemons.js';
import { freePort } from '../support/free-port.js';
import { Load, sendRun } from '../support/load.js';
import { exchange } from '../support/raw-http.js';
import { describeWith } from '../support/requirements.js';
import { startProcess, until, type Faults, type ServiceProcess } from '../support/service-process.js';
import { extent, observed } from './extent.js';

const LIMIT = 12;
const DEFAULT_LIMIT = readEnvironment({}).RATE_LIMIT;
const RUN = '/api/v1/run?view=drive';
const LARGE_MIB = 64;
/** Requests of a client that nginx passes on. */
const MOST_AT_ONCE = 256;
/** Requests among these whose body is large or of unknown length. */
const LARGE_BODIES = 32;

interface Setting {
  /** Variables of both replicas. */
  readonly variables?: Record<string, string>;
  readonly faults?: Faults;
  /** Variables of only the second replica. */
  readonly second?: Record<string, string>;
  /** Variables of nginx. */
  readonly nginx?: Record<string, string>;
}

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

  async function start(limit: number, setting: Setting = {}): Promise<void> {
    variables = {
      REDIS_URL: redis.url,
      RATE_LIMIT: String(limit),
      TRUST_PROXY: 'loopback',
      CACHE_BYTES: '0',
      ...setting.variables,
    };
    replicas = await Promise.all(
      [{}, setting.second].map((own) => startProcess({ ...variables, ...own }, setting.faults)),
    );
    await Promise.all(
      replicas.slice(0, setting.second === undefined ? 2 : 1).map((replica) => replica.untilReady()),
    );
    nginx = await NginxServer.start(
      replicas.map(({ port }) => port),
      setting.nginx,
    );
  }

  const run = (headers: Record<string, string> = {}) =>
    fetch(`${nginx.url}${RUN}`, { method: 'POST', headers });
  const answered = async (status: number) => {
    const name = `nes_runs_total{stimulus="sugar",view="drive",status="${status}"}`;
    return Promise.all(replicas.map(async (replica) => (await replica.metric(name)) ?? 0));
  };
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
    // Both took part. On a slow machine one may answer after the other has let all pass.
    const passed = await answered(200);
    expect(passed[0]! + passed[1]!).toBe(LIMIT);
    for (const [at, replica] of replicas.entries()) {
      expect(passed[at]! + ((await replica.metric('nes_rate_limited_total')) ?? 0)).toBeGreaterThan(0);
    }
    const refused = together.all.find(({ status }) => status === 429)!;
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.headers.get('ratelimit-remaining')).toBe('0');
    expect((await run({ 'x-forwarded-for': '203.0.113.7' })).status).toBe(429);

    await redis.kill();
    await until(async () => (await degraded()).every(Boolean));
    expect((await replicas[0]!.readyz()).body).toMatchObject({ degraded: [{ part: 'rate_limit' }] });
    expect(await replicas[0]!.metric('nes_degraded{part="rate_limit"}')).toBe(1);
    // Each replica continues from its own count, so the two together let a limit's worth more pass.
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

  it('one of two replicas serves no model: a run that nginx sends on counts once', async () => {
    await start(DEFAULT_LIMIT, { second: { CONNECTOME_FILE: 'nowhere.connectome' } });
    await replicas[1]!.untilReadyz(({ body }) => body['code'] === 'MODEL_FAILED');
    const { allowed, all } = await statuses(3 * DEFAULT_LIMIT);
    expect(allowed).toBe(DEFAULT_LIMIT);
    expect(all.filter(({ status }) => status === 429)).toHaveLength(2 * DEFAULT_LIMIT);
    const [, refused] = await answered(503);
    expect(refused).toBeGreaterThan(0);
    observed(
      'one of two replicas serves no model',
      `${all.length} runs of one client at once: ${allowed} answered 200, the others 429; ${refused} were sent on`,
    );
  });

  it('a run that took too long is not begun again on the other replica', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'replicas-'));
    const hold = join(directory, 'hold');
    await start(0, {
      variables: { RUN_TIMEOUT_MS: '3000' },
      faults: { FAULT_HOLD_RUNS: hold },
      nginx: { 'proxy_next_upstream_timeout 10s': 'proxy_next_upstream_timeout 1s' },
    });
    writeFileSync(hold, '');
    const answer = await run();
    expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'DEADLINE_PASSED' }]);
    expect((await answered(503)).sort()).toEqual([0, 1]);
    rmSync(directory, { recursive: true });
  });

  it('sessions stay on their replica: one that is refused is not opened on the other replica', async () => {
    await start(0);
    const post = (path: string, body: object) =>
      fetch(`${nginx.url}/api/v2/sessions${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const document = { inputs: { sugar: { node_set: 'S_sugar', rate_hz: 50 } } };
    const sessions = await Promise.all(Array.from({ length: 16 }, () => post('', document)));
    const open = sessions.filter(({ status }) => status === 201);
    const { sessionsPerClient } = new Limits(readEnvironment({}));
    expect(sessions.filter(({ status }) => status === 503)).toHaveLength(16 - sessionsPerClient);
    const names = await Promise.all(
      open.map(async (answer) => ((await answer.json()) as { session: string }).session),
    );
    const first = await Promise.all(
      names.map((name) => post(`/${name}/steps`, { t_ms: 0, duration_ms: 20 })),
    );
    expect(first.map(({ status }) => status)).toEqual(names.map(() => 200));
    // A branch is one session too many.
    expect((await post(`/${names[0]}/branches`, {})).status).toBe(503);
    observed(
      'one client opens 16 sessions, behind nginx',
      `${open.length} are open and answer their first step, ${16 - open.length} answered 503`,
    );
    const at = (await replicas[0]!.metric('nes_sessions')) === 0 ? 1 : 0;
    await replicas[at]!.stop();
    expect((await post(`/${names[0]}/steps`, { t_ms: 0, duration_ms: 20 })).status).toBe(404);
    expect((await post('', document)).status).toBe(201);
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
    const all = [...replicas];
    for (const [at, { port, metricsPort, stop }] of replicas.entries()) {
      expect(await stop()).toBe(0);
      replicas[at] = await startProcess({
        ...variables,
        PORT: String(port),
        METRICS_PORT: String(metricsPort),
      });
      all.push(replicas[at]);
      await replicas[at].untilReady();
      await more();
    }
    // The new ones have their part in it.
    for (const replica of replicas) {
      expect(await replica.metric('nes_simulations_total{backend="cpu"}')).toBeGreaterThan(0);
    }
    const answers = await load.stop();
    const failed = answers.filter(({ status }) => status !== 200);
    // nginx hides a first refusal, so the logs say more.
    const refusals = () => all.map((replica) => replica.log().filter(({ status }) => Number(status) >= 500));
    expect([failed, failed.length === 0 ? [] : refusals()]).toEqual([[], []]);
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

  it('answers HTTP/1.0 without a Host as a replica does', async () => {
    await start(0);
    const head = 'Content-Type: application/json\r\nContent-Length: 2\r\n';
    const bytes = `POST ${RUN} HTTP/1.0\r\n${head}\r\n{}`;
    const [direct] = await exchange(replicas[0]!.port, [bytes]);
    const [proxied] = await exchange(nginx.port, [bytes]);
    expect(direct!.status).toBe(200);
    expect([proxied!.status, proxied!.body]).toEqual([direct!.status, direct!.body]);
  });

  it('nginx gives requests their names, and answers in the shape of the service if no replica does', async () => {
    await start(LIMIT);
    const nameOf = async (headers: Record<string, string>) =>
      (await run(headers)).headers.get('x-request-id');
    expect(await nameOf({ 'x-request-id': 'its:own-name_1.0' })).toBe('its:own-name_1.0');
    const longest = 'x'.repeat(64);
    expect(await nameOf({ 'x-request-id': longest })).toBe(longest);
    for (const headers of [{}, { 'x-request-id': `${longest}x` }, { 'x-request-id': 'no name' }]) {
      expect(await nameOf(headers as Record<string, string>)).toMatch(/^[\da-f]{32}$/);
    }

    const preflight = async () => {
      const asked = {
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type',
      };
      const { status, headers } = await fetch(`${nginx.url}${RUN}`, {
        method: 'OPTIONS',
        headers: { origin: 'http://elsewhere', ...asked },
      });
      return [status, ...[...headers].filter(([name]) => /^access-control-(?!expose)/.test(name))];
    };
    const own = await preflight();
    expect(own.length).toBeGreaterThan(3);
    await Promise.all(replicas.map((replica) => replica.stop()));
    expect(await preflight()).toEqual(own);
    const { status, body } = await sendRun(nginx.url, {});
    expect([status, JSON.parse(body).code]).toEqual([503, 'MODEL_FAILED']);
  });
});

describeWith(['nginx'], 'nginx alone', () => {
  let nginx: NginxServer;
  beforeAll(async () => {
    nginx = await NginxServer.start([await freePort(), await freePort()]);
  });
  afterAll(() => nginx.stop());

  const head = `Host: x\r\nX-Request-Id: its-name\r\nConnection: close\r\n`;
  const long = 'x'.repeat(20_000);

  it.each<[keyof typeof EXAMPLE_MESSAGES, string, string, Record<string, string>?]>([
    [
      'MODEL_FAILED',
      'no replica',
      `POST ${RUN} HTTP/1.1\r\n${head}Content-Length: 0\r\n\r\n`,
      { 'retry-after': '2' },
    ],
    ['BODY_TOO_LARGE', 'a large body', `POST ${RUN} HTTP/1.1\r\n${head}Content-Length: 2000000\r\n\r\n`],
    ['HEADERS_TOO_LARGE', 'a large header', `GET / HTTP/1.1\r\n${head}X-Y: ${long}\r\n\r\n`],
    ['HEADERS_TOO_LARGE', 'a long path', `GET /${long} HTTP/1.1\r\n${head}\r\n`],
    [
      'METHOD_NOT_ALLOWED',
      'TRACE',
      `TRACE / HTTP/1.1\r\n${head}\r\n`,
      { allow: 'DELETE, GET, HEAD, OPTIONS, POST' },
    ],
    ['MALFORMED_REQUEST', 'no HTTP at all', 'GARBAGE\r\n\r\n'],
    ['MALFORMED_REQUEST', 'TLS', '\x16\x03\x01\r\n\r\n'],
    ['MALFORMED_REQUEST', 'a version that is none', `GET / HTTP/3.0\r\n${head}\r\n`],
    ['MALFORMED_REQUEST', 'no Host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['MALFORMED_REQUEST', 'a coding that is none', `POST / HTTP/1.1\r\n${head}Transfer-Encoding: x\r\n\r\n`],
    ['NOT_FOUND', 'a path of its own', `GET /.nginx/malformed HTTP/1.1\r\n${head}\r\n`],
  ])('answers %s to %s as the service would', async (code, _, bytes, more = {}) => {
    const [answer] = await exchange(nginx.port, [bytes], { endAfter: 1 });
    const { status, headers, body } = answer!;
    expect([status, JSON.parse(body)]).toEqual([ERRORS[code].status, { error: expect.any(String), code }]);
    // The largest body depends on the route, which only the service knows.
    if (code === 'HEADERS_TOO_LARGE') expect(JSON.parse(body).error).toBe(EXAMPLE_MESSAGES[code]);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'access-control-allow-origin': '*',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.stringMatching(/^(its-name|[\da-f]{32})$/),
      ...more,
    });
    const exposed = headers['access-control-expose-headers']!.toLowerCase().split(', ');
    expect(exposed).toEqual(expect.arrayContaining(['x-request-id', ...Object.keys(more)]));
  });
});

describeWith(['nginx'], 'nginx in front of a server that records requests', () => {
  let nginx: NginxServer;
  let upstream: Server;
  const hosts: (string | undefined)[] = [];
  let sentMiB = 0;
  let held = 0;
  beforeAll(async () => {
    upstream = createServer(({ headers, url }, response) => {
      if (url === '/held') {
        held++;
        return;
      }
      hosts.push(headers.host);
      if (url !== '/large') {
        response.end();
        return;
      }
      const send = () => {
        for (let isTaken = true; isTaken && sentMiB < LARGE_MIB; sentMiB++) {
          isTaken = response.write(Buffer.alloc(1024 * 1024));
        }
      };
      response.on('drain', send).on('error', () => {});
      send();
    });
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const { port } = upstream.address() as AddressInfo;
    nginx = await NginxServer.start([port, port]);
  });
  afterAll(async () => {
    await nginx.stop();
    upstream.closeAllConnections();
    upstream.close();
  });

  it.each([
    ['GET / HTTP/1.1\r\nHost: Brain.example:8443\r\nConnection: close\r\n\r\n', 'Brain.example:8443'],
    ['GET / HTTP/1.0\r\nHost: brain.example\r\n\r\n', 'brain.example'],
    ['GET / HTTP/1.0\r\n\r\n', 'localhost'],
  ])('%j reaches it with the Host %s', async (bytes, host) => {
    const [answer] = await exchange(nginx.port, [bytes], { endAfter: 1 });
    expect([answer!.status, hosts.pop()]).toEqual([200, host]);
  });

  it('passes on so many requests of a client at once, and refuses more', async () => {
    let answers = '';
    const clients = Array.from({ length: MOST_AT_ONCE + 4 }, () => {
      const client = connect(nginx.port, '127.0.0.1').on('data', (text) => (answers += String(text)));
      client.write('GET /held HTTP/1.1\r\nHost: x\r\n\r\n');
      return client;
    });
    const refused = () => answers.split('"code":"QUEUE_FULL"').length - 1;
    await until(() => held + refused() === clients.length);
    expect(held).toBe(MOST_AT_ONCE);
    expect(answers.match(/HTTP\/1.1 503 /g)).toHaveLength(4);
    for (const client of clients) client.destroy();
  });

  it('holds few large bodies of a client that sends slowly, and passes its small ones on', async () => {
    const head = 'POST /slow HTTP/1.1\r\nHost: x\r\n';
    let answers = '';
    const clients = ['Content-Length: 1000000', 'Transfer-Encoding: chunked'].flatMap((length) =>
      Array.from({ length: 20 }, () => {
        const client = connect(nginx.port, '127.0.0.1').on('data', (text) => (answers += String(text)));
        client.write(`${head}${length}\r\n\r\n`);
        return client;
      }),
    );
    await until(() => answers.split('"code":"QUEUE_FULL"').length - 1 === clients.length - LARGE_BODIES);
    const small = `${head}Connection: close\r\nContent-Length: 9000\r\n\r\n${'x'.repeat(9_000)}`;
    expect((await exchange(nginx.port, [small]))[0]!.status).toBe(200);
    for (const client of clients) client.destroy();
  });

  it('keeps nothing of a large answer that its client does not read', async () => {
    const client = connect(nginx.port, '127.0.0.1');
    client.pause();
    client.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(() => sentMiB > 0);
    for (let before = 0; sentMiB > before; await setTimeout(500)) before = sentMiB;
    client.destroy();
    // Buffers of sockets.
    expect(sentMiB).toBeLessThan(LARGE_MIB / 2);
  });
});

describeWith(['nginx', 'chromium'], 'a page of another origin, when no replica is left', () => {
  let nginx: NginxServer;
  let elsewhere: Server;
  let browser: Browser;
  beforeAll(async () => {
    elsewhere = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<p>'));
    elsewhere.listen(0, '127.0.0.1');
    await once(elsewhere, 'listening');
    nginx = await NginxServer.start([await freePort(), await freePort()]);
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser.close();
    await nginx.stop();
    elsewhere.closeAllConnections();
    elsewhere.close();
  });

  it('reads the error and the time to come back', async () => {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`);
    const answer = await page.evaluate(async (url) => {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      });
      const { code } = (await response.json()) as { code: string };
      return [response.status, code, response.headers.get('retry-after')];
    }, `${nginx.url}${RUN}`);
    expect(answer).toEqual([503, 'MODEL_FAILED', '2']);
  });
});
