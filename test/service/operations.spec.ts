import { Logger } from '@nestjs/common';
import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { MEANINGS, readEnvironment } from '../../src/service/config/environment.js';
import type { Metrics } from '../../src/service/metrics/metrics.js';
import { MetricsServer } from '../../src/service/metrics/metrics-server.js';
import { withoutPassword } from '../../src/service/redis/redis-url.js';
import { jobsFolder } from '../support/disk-jobs.js';
import { freePort } from '../support/free-port.js';
import { sendRun } from '../support/load.js';
import { exchange } from '../support/raw-http.js';
import { startReadyService, startService, type Service } from '../support/service.js';
import { until, valueOf } from '../support/service-process.js';
import { smallConnectomeFile } from '../support/small-connectome.js';

describe('the view of an operator', () => {
  let service: Service;
  let metricsUrl: string;
  const lines: Record<string, unknown>[] = [];
  const metrics = async () => (await fetch(metricsUrl)).text();
  const requestLine = (id: string) => lines.find(({ request }) => request === id);

  beforeAll(async () => {
    const port = await freePort();
    metricsUrl = `http://127.0.0.1:${port}/metrics`;
    service = await startReadyService(
      { METRICS_PORT: String(port), RATE_LIMIT: '4', LOG_LEVEL: 'info' },
      { logTo: { write: (line: string) => void lines.push(JSON.parse(line)) } },
    );
    // Four are allowed: one simulated, one from the cache, one as the other view, one refused by its seed.
    await send({ stimulus: 'loom', seed: 5 }, 'first');
    await send({ stimulus: 'loom', seed: 5 }, 'again');
    await send({ stimulus: 'none' }, 'drive', '?view=drive');
    await send({ seed: -1 }, 'wrong');
    // A body that is no JSON does not count.
    for (let i = 0; i < 4; i++) await send('{', `broken${i}`);
    await send({}, 'fifth');
    const broken = [
      'HELLO\r\n\r\n',
      'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
      'GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n',
    ];
    for (const each of broken) await exchange(service.port, [each], { endAfter: 1 });
    await fetch(`${service.url}/nowhere`, { headers: { 'x-request-id': 'lost' } });
    await until(() => requestLine('lost') !== undefined);
  });
  afterAll(() => service.stop());

  const send = (body: unknown, id: string, query = '') =>
    service
      .post(body, `/api/v1/run${query}`, { 'content-type': 'application/json', 'x-request-id': id })
      .then((response) => response.text());

  describe('/metrics', () => {
    it.each([
      ['nes_runs_total{stimulus="loom",view="full",status="200"}', 2],
      ['nes_runs_total{stimulus="none",view="drive",status="200"}', 1],
      ['nes_runs_total{stimulus="",view="",status="400"}', 5],
      ['nes_runs_total{stimulus="",view="",status="429"}', 1],
      ['nes_rate_limited_total', 1],
      ['nes_http_requests_total{route="none",status="404"}', 1],
      ['nes_http_requests_total{route="none",status="400"}', 2],
      ['nes_http_requests_total{route="none",status="405"}', 1],
      ['nes_cache_answers_total{source="cache"}', 1],
      ['nes_cache_answers_total{source="simulation"}', 2],
      ['nes_cache_entries', 2],
      ['nes_simulations_total{backend="cpu"}', 2],
      ['nes_run_queue_seconds_count', 2],
      ['nes_run_simulate_seconds_count', 2],
      ['nes_run_serialise_seconds_count', 2],
      ['nes_run_duration_seconds_count{view="full"}', 2],
      ['nes_model_state{state="ready"}', 1],
      ['nes_model_state{state="failed"}', 0],
      ['nes_workers{state="configured"}', 1],
      ['nes_workers{state="ready"}', 1],
      ['nes_worker_restarts_total', 0],
      ['nes_queue_runs{state="waiting"}', 0],
      ['nes_backend_info{backend="cpu"}', 1],
    ])('%s is %d', async (name, value) => {
      expect(valueOf(await metrics(), name)).toBe(value);
    });

    it('counts the spikes that were simulated, not those that were answered', async () => {
      const { spikes } = requestLine('first')!['run'] as { spikes: number };
      expect(spikes).toBeGreaterThan(0);
      expect(valueOf(await metrics(), 'nes_spikes_total')).toBe(spikes);
    });

    it('tells of the process: memory, event loop', async () => {
      const text = await metrics();
      expect(valueOf(text, 'process_resident_memory_bytes')).toBeGreaterThan(1e7);
      expect(valueOf(text, 'nodejs_eventloop_lag_p99_seconds')).toBeGreaterThanOrEqual(0);
      expect(valueOf(text, 'nes_event_loop_blocked_seconds_total')).toBeGreaterThanOrEqual(0);
    });

    it('names the model it serves', async () => {
      const { id, connectome_digest } = await (await service.get('/api/v1/model')).json();
      const labels = `model="${id}",connectome_digest="${connectome_digest}"`;
      expect(valueOf(await metrics(), `nes_model_info{${labels}}`)).toBe(1);
    });

    it('follows the naming rules of Prometheus', async () => {
      const names = (await metrics())
        .match(/^# TYPE nes_\S+ \S+$/gm)!
        .map((line) => line.split(' ').slice(2));
      expect(names.length).toBeGreaterThan(15);
      for (const [name, type] of names) {
        expect([name, name!.endsWith('_total')]).toEqual([name, type === 'counter']);
        if (type === 'histogram') expect(name).toMatch(/_seconds$/);
      }
    });

    it('is not at the port of the API, and nothing else is at its own', async () => {
      expect((await service.get('/metrics')).status).toBe(404);
      expect((await fetch(metricsUrl.replace('/metrics', '/api/v1/model'))).status).toBe(404);
      expect((await fetch(metricsUrl, { method: 'POST' })).status).toBe(405);
    });
  });

  describe('the log', () => {
    it('names the client of each request that was refused before it had a route', () => {
      const refused = lines.map(({ msg }) => String(msg)).filter((text) => text.startsWith('Refused '));
      expect(refused.map((text) => text.replace(/^Refused \S+ (of \S+ with \d+):.*/, '$1'))).toEqual([
        'of 127.0.0.1 with 400',
        'of 127.0.0.1 with 405',
        'of 127.0.0.1 with 400',
      ]);
    });

    it('has one line for a run, with its request and its duration', () => {
      const [line, ...more] = lines.filter(({ request }) => request === 'first');
      expect(more).toEqual([]);
      expect(line).toMatchObject({
        level: 30,
        from: 'http',
        method: 'POST',
        path: '/api/v1/run',
        status: 200,
        client: '127.0.0.1',
        run: {
          stimulus: 'loom',
          duration_ms: 100,
          intensity: 1,
          seed: 5,
          view: 'full',
          cache: 'fwd=miss; stored',
          backend: 'cpu',
        },
      });
      const { queue_ms, simulate_ms, serialise_ms } = line!['run'] as Record<string, number>;
      const parts = queue_ms! + simulate_ms! + serialise_ms!;
      expect(parts).toBeGreaterThan(0);
      expect(line!['ms']).toBeGreaterThanOrEqual(parts - 0.03);
    });

    it('has no timings of a simulation that was not made', () => {
      const { run } = requestLine('again') as { run: Record<string, unknown> };
      expect(run['cache']).toBe('hit');
      expect(run).not.toHaveProperty('simulate_ms');
    });

    it('has a line for refused requests as well', () => {
      expect(requestLine('wrong')).toMatchObject({ status: 400 });
      expect(requestLine('fifth')).toMatchObject({ status: 429 });
      expect(requestLine('lost')).toMatchObject({ status: 404, path: '/nowhere' });
    });

    describe('has no name of a job or session', () => {
      // 18 and 16 random bytes.
      const [job, session] = ['Vn3x_Zq-0aB4cD8eF2gH6iJ-', 'aB3_dE6-gH9jK2mN5pQ8sT'];
      const asked = async (method: string, path: string) => {
        const id = randomUUID();
        const head = [`${method} ${path} HTTP/1.1`, 'Host: x', `X-Request-Id: ${id}`, 'Connection: close'];
        await exchange(service.port, [`${head.join('\r\n')}\r\n\r\n`]);
        await until(() => requestLine(id) !== undefined);
        expect(JSON.stringify(requestLine(id))).not.toMatch(/Vn3x|aB3_/);
        return requestLine(id)!['path'];
      };

      it.each([
        ['GET', `/api/v2/experiments/${job}`, '/api/v2/experiments/:job'],
        ['DELETE', `/api/v2/sessions/${session}`, '/api/v2/sessions/:session'],
        ['GET', `/api/v2/experiments/${job}/nothing`, '/api/v2/experiments/*'],
        ['GET', `//api/v2/experiments/${job}`, '//api/v2/experiments/*'],
        ['POST', `/fly/api/v2/sessions/${session}/step?x=${session}`, '/fly/api/v2/sessions/*'],
        ['GET', `http://x/api/v2/experiments/${job}/results`, '/api/v2/experiments/:job/results'],
        ['GET', `/api/v2/experiments%2F${job}`, '/api/v2/experiments/*'],
        ['GET', `/API/v2/Sessions/${session}_`, '/API/v2/Sessions/*'],
        ['GET', `/api/v2/jobs/${job}/results`, '/api/v2/jobs/*/results'],
        ['GET', `/${session}.json`, '/*.json'],
        ['GET', `/${'a/'.repeat(90)}${job}`, `/${'a/'.repeat(90)}*`],
      ])('after %s %s', async (method, path, logged) => {
        expect(await asked(method, path)).toBe(logged);
      });

      it.each([
        '/api/v2/experiments',
        '/api/v2/sessions/',
        '/wp-content/plugins/sessions.php',
        '/apple-touch-icon-precomposed.png',
        '/.well-known/appspecific/com.chrome.devtools.json',
        '/api/v2/neurons/720575940600000001',
      ])('and has %s', async (path) => {
        expect(await asked('GET', path)).toBe(path);
      });
    });

    it('leaves out the probes of whatever keeps the service running', async () => {
      await service.get('/livez');
      await service.get('/api/v1/openapi', { 'x-request-id': 'after' });
      await until(() => requestLine('after') !== undefined);
      expect(lines.some(({ path }) => path === '/livez')).toBe(false);
    });
  });

  it('/readyz tells model, workers, backend and degraded parts', async () => {
    const { id, connectome_digest } = await (await service.get('/api/v1/model')).json();
    expect(await (await service.get('/readyz')).json()).toEqual({
      status: 'ready',
      model: id,
      name: 'Small test brain',
      network: 'flywire-783-synthetic',
      licence: 'CC-BY-NC-4.0',
      connectome_digest,
      workers: { configured: 1, ready: 1, restarts: 0 },
      backend: 'cpu',
      gpu: { state: 'off', reason: 'BACKEND=cpu' },
      degraded: [],
    });
  });
});

it('a metrics port that is taken ends the start with a message', async () => {
  const taken = createServer();
  await new Promise<void>((done) => taken.listen(0, '127.0.0.1', done));
  const { port } = taken.address() as AddressInfo;
  await expect(startService({ METRICS_PORT: String(port) })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining(
      `METRICS_HOST and METRICS_PORT must be free to listen on, or METRICS_PORT 0 for no metrics, got 127.0.0.1 and ${port}`,
    ),
  });
  taken.close();
});

it('metrics take a free port and say which, if nobody chose the one that is taken', async () => {
  const { METRICS_PORT } = readEnvironment({});
  const other = createServer();
  // Another process may have it already.
  await new Promise<void>((done) => other.once('error', done).listen(METRICS_PORT, '127.0.0.1', done));
  const lines: string[] = [];
  const logTo = { write: (line: string) => void lines.push(line) };
  const service = await startService({ METRICS_PORT: '', LOG_LEVEL: 'warn' }, { logTo });
  const [, port] = /The port of the metrics, \d+, is taken, so they are at port (\d+);/.exec(lines.join(''))!;
  expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(200);
  await service.stop();
  other.close();
});

it('metrics leave their default to an API that was given it', async () => {
  // Without the API, whose port another process of this machine may have.
  const environment = readEnvironment({ PORT: String(readEnvironment({}).METRICS_PORT) });
  const registry = { metrics: async () => 'up 1', contentType: 'text/plain' };
  const server = new MetricsServer(environment, { registry } as unknown as Metrics);
  const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
  await server.onApplicationBootstrap();
  const [, port] = /are at port (\d+);/.exec(String(warn.mock.calls))!;
  warn.mockRestore();
  expect(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()).toBe('up 1');
  server.close();
});

it('metrics that can listen nowhere are refused, also beside an API on their port', async () => {
  const METRICS_HOST = '203.0.113.1';
  for (const variables of [{}, { PORT: String(readEnvironment({}).METRICS_PORT) }]) {
    const server = new MetricsServer(readEnvironment({ METRICS_HOST, ...variables }), {} as Metrics);
    await expect(server.onApplicationBootstrap()).rejects.toThrow(
      /^METRICS_HOST and METRICS_PORT must be free/,
    );
  }
});

it('a HOST that conda set is refused with the remedy', () => {
  expect(() => startWith([], { HOST: 'x86_64-conda-linux-gnu', METRICS_PORT: '0' })).toThrow(
    expect.objectContaining({
      status: 2,
      stderr: expect.stringMatching(/^HOST and PORT .* unset HOST\.\n$/),
    }),
  );
});

it('a disk that is full under the log stops neither runs nor the end', async () => {
  const port = await freePort();
  const full = openSync('/dev/full', 'w');
  const child = spawn(process.execPath, [resolve('dist/main.js')], {
    env: {
      PATH: process.env['PATH'],
      HOST: '127.0.0.1',
      PORT: String(port),
      METRICS_PORT: '0',
      WORKERS: '1',
      BACKEND: 'cpu',
      CONNECTOME_FILE: smallConnectomeFile(),
      JOBS_PATH: jobsFolder(),
    },
    stdio: ['ignore', full, 'inherit'],
  });
  closeSync(full);
  const ended = once(child, 'exit');
  try {
    const run = async () => (await sendRun(`http://127.0.0.1:${port}`, {})).status;
    await until(async () => (await run()) === 200);
    for (let i = 0; i < 10; i++) expect(await run()).toBe(200);
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  } finally {
    child.kill('SIGKILL');
  }
});

it('a start with an environment that cannot be used ends with 2 and one line that lists every fault', () => {
  const wrong = { PORT: '99999', RATE_LIMIT: 'many', TRUST_PROXY: 'everyone', REDIS_URL: 'http://redis' };
  const line = Object.entries(wrong).map(([name, value]) => `${name} must be [^;]*, got "?${value}"?`);
  expect(() => startWith([], wrong)).toThrow(
    expect.objectContaining({
      status: 2,
      stdout: '',
      stderr: expect.stringMatching(new RegExp(`^[^\\n]*${line.join('; ')}\\.\\n$`)),
    }),
  );
});

it.each([
  ['TRUST_PROXY', '0.0.0.0/0', 'networks (10.0.0.0/8, not /0)', '"0.0.0.0/0"'],
  ['TRUST_PROXY', 'loopback, ::/0', 'networks (10.0.0.0/8, not /0)', '"::/0"'],
  [
    'REDIS_URL',
    'redis://cache?sentinelPassword=x',
    'no parameter but db, family and password',
    '"redis://cache?sentinelPassword=***"',
  ],
  ['METRICS_PORT', '8080', 'must differ from PORT', '8080 for both'],
  ['REDIS_URL', 'redis://user:se/cret@cache', 'a URL that begins with redis://', '"***"'],
  [
    'REDIS_URL',
    'redis://user:secret%zz@cache',
    'a URL that begins with redis://',
    '"redis://user:***@cache"',
  ],
])(
  'an environment that a library would refuse, %s=%s, cannot be used either',
  (name, value, allowed, got) => {
    const refused = (message: string) =>
      expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(message) });
    expect(() => readEnvironment({ [name]: value })).toThrow(refused(allowed));
    expect(() => readEnvironment({ [name]: value })).toThrow(refused(`, got ${got}.`));
  },
);

it('a start with arguments helps with the settings, or ends with 2, and serves nothing', () => {
  const help = startWith(['--help']);
  expect(help).toMatch(/^Starts the service: /);
  for (const [name, meaning] of Object.entries(MEANINGS)) {
    const shown = `  ${name}=${readEnvironment({})[name as keyof typeof MEANINGS]} ${meaning}\n`;
    expect(help.replaceAll(/\n {6}/g, ' ')).toContain(shown);
  }
  expect(help).toContain('docs/operations.md');
  expect(Math.max(...help.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(() => startWith(['--port', '80'])).toThrow(
    expect.objectContaining({
      status: 2,
      stdout: '',
      stderr: "main.js: Unknown option '--port'. See node dist/main.js --help.\n",
    }),
  );
});

/** @returns its output; throws unless it ends with 0 */
function startWith(args: readonly string[], variables: Record<string, string> = {}): string {
  return execFileSync(process.execPath, [resolve('dist/main.js'), ...args], {
    env: { PATH: process.env['PATH'], ...variables },
    encoding: 'utf8',
    stdio: 'pipe',
    timeout: 20_000,
  });
}

describe('npm run config', () => {
  const config = (args: string[], variables: Record<string, string>) =>
    execFileSync(process.execPath, [resolve('dist/tools/cli/run.js'), 'config', ...args], {
      env: { PATH: process.env['PATH'], ...variables },
      encoding: 'utf8',
      stdio: 'pipe',
    });

  it('prints every variable with its value and its origin', () => {
    const rows = JSON.parse(config(['--json'], { PORT: '9000', RATE_LIMIT: '' }));
    expect(rows.map(({ name }: { name: string }) => name)).toEqual(Object.keys(MEANINGS));
    const row = (wanted: string) => rows.find(({ name }: { name: string }) => name === wanted);
    expect(row('PORT')).toMatchObject({ value: 9000, source: 'environment' });
    expect(row('RATE_LIMIT')).toMatchObject({ value: 30, source: 'default' });
    for (const { name, value } of rows.filter(({ source }: { source: string }) => source === 'default')) {
      expect(value).toBe(readEnvironment({})[name as keyof typeof MEANINGS]);
    }
  });

  it('is a table for people', () => {
    expect(config([], {})).toMatch(/^HOST +:: +default +address of the API; /m);
  });

  it.each([
    ['redis://user:secret@cache:6379/1', 'redis://user:***@cache:6379/1'],
    ['redis://user:sec@ret@cache', 'redis://user:***@cache'],
    ['rediss://:secret@cache', 'rediss://:***@cache'],
    ['redis://cache/1?password=secret&db=2', 'redis://cache/1?password=***&db=2'],
    ['redis://user@cache:6379', 'redis://user@cache:6379'],
  ])('keeps the password of %s to itself', (url, shown) => {
    expect(withoutPassword(url)).toBe(shown);
  });

  it('keeps the passwords of both databases to itself', () => {
    const [cache, jobs] = ['redis://user:secret@cache/1', 'redis://:secret@jobs'];
    const text = config([], { REDIS_URL: cache, REDIS_JOBS_URL: jobs });
    expect(/^REDIS_URL +(\S+) /m.exec(text)![1]).toBe('redis://user:***@cache/1');
    expect(/^REDIS_JOBS_URL +(\S+) /m.exec(text)![1]).toBe('redis://:***@jobs');
    expect(text).not.toContain('secret');
  });

  it('lists everything that is wrong at once and ends with 2', () => {
    const wrong = { PORT: '80 80', BACKEND: 'tpu', WORKERS: '0' };
    expect(() => config([], wrong)).toThrow(
      expect.objectContaining({
        status: 2,
        stderr: expect.stringMatching(/PORT must be .*WORKERS must be .*BACKEND must be /s),
      }),
    );
  });
});
