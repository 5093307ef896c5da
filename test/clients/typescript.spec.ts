import { execFile } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { NeuralExperimentClient, ServiceError } from '../../clients/typescript/src/client.js';
import { answeredBy } from '../support/answered-by.js';
import { startReadyService, type Service } from '../support/service.js';

const CLIENT_DIR = resolve('clients/typescript');

async function failureOf(promise: Promise<unknown>): Promise<ServiceError> {
  const failure: unknown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(ServiceError);
  return failure as ServiceError;
}

describe('the typed client', () => {
  let service: Service;
  let client: NeuralExperimentClient;
  beforeAll(async () => {
    service = await startReadyService();
    client = new NeuralExperimentClient(`${service.url}/`);
  });
  afterAll(() => service.stop());

  it('runs an experiment, whole or without its frames', async () => {
    const request = { stimulus: 'loom', duration_ms: 50, seed: 3 } as const;
    const full = await client.run(request);
    const drive = await client.run(request, { view: 'drive' });
    expect(full).toEqual(await (await service.post(request)).json());
    expect(full.frames.reduce((sum, { total }) => sum + total, 0)).toBe(drive.spikes.total);
    const { frames, top_types: topTypes, ...rest } = full;
    expect(drive).toEqual(rest);
    expect(frames.length).toBe(10);
    expect(topTypes.length).toBeGreaterThan(0);
  });

  it('runs the default experiment without a word', async () => {
    expect((await client.run()).stimulus).toBe('sugar');
  });

  it('describes the model', async () => {
    expect(await client.model()).toEqual(await (await service.get('/api/v1/model')).json());
  });

  it('throws the error of the service for a mistake', async () => {
    const failure = await failureOf(client.run({ intensity: 3 }));
    const { error } = await (await service.post({ intensity: 3 })).json();
    expect(failure).toMatchObject({
      status: 400,
      code: 'INVALID_PARAMETER',
      message: error as string,
      retryAfterS: undefined,
      path: undefined,
      suggestions: [],
      isTemporary: false,
    });
  });

  it('says when to come back after too many runs', async () => {
    const limited = await startReadyService({ RATE_LIMIT: '1' });
    try {
      const impatient = new NeuralExperimentClient(limited.url);
      await impatient.run();
      const failure = await failureOf(impatient.run({}, { waitAtMostS: 1 }));
      expect(failure).toMatchObject({ status: 429, code: 'RATE_LIMITED', isTemporary: true });
      expect(failure.retryAfterS).toBeGreaterThan(1);
      expect(failure.retryAfterS).toBeLessThanOrEqual(60);
    } finally {
      await limited.stop();
    }
  });
});

describe('the typed client before other servers', () => {
  it('waits and asks again if it may', async () => {
    let asked = 0;
    const run = await answeredBy(
      (_, response) => {
        if (asked++ < 2) response.writeHead(503, { 'Retry-After': '0' }).end('{"error":"loading"}');
        else response.end('{"id":"here","model":"","spikes":{},"channels":{},"drive":{}}');
      },
      (url) => new NeuralExperimentClient(url).run({}, { waitAtMostS: 5 }),
    );
    expect({ asked, id: run.id }).toEqual({ asked: 3, id: 'here' });
  });

  it('does not ask for ever, and not a second time unasked', async () => {
    for (const [options, times] of [
      [{ waitAtMostS: 3 }, 4],
      [{}, 1],
    ] as const) {
      let asked = 0;
      await answeredBy(
        (_, response) => {
          asked++;
          response.writeHead(503, { 'Retry-After': '0' }).end('{"error":"loading"}');
        },
        (url) => failureOf(new NeuralExperimentClient(url).run({}, options)),
      );
      expect(asked).toBe(times);
    }
  });

  it('stops waiting when it is told to', async () => {
    const stop = new AbortController();
    await answeredBy(
      (_, response) => {
        response.writeHead(503, { 'Retry-After': '60' }).end('{"error":"loading"}');
        setTimeout(() => stop.abort(new Error('enough')), 20);
      },
      async (url) => {
        const asked = new NeuralExperimentClient(url).run({}, { waitAtMostS: 120, signal: stop.signal });
        await expect(asked).rejects.toThrow('enough');
      },
    );
  });

  it('sends a password of its address as credentials, and shows it nowhere', async () => {
    const seen: (string | undefined)[] = [];
    await answeredBy(
      (request, response) => {
        seen.push(request.headers.authorization);
        response.writeHead(401).end('<h1>No</h1>');
      },
      async (url) => {
        const client = new NeuralExperimentClient(url.replace('//', '//fly:s%C3%BC%C3%9F@'));
        const failure = await failureOf(client.model());
        expect(`${failure.stack} ${client.address}`).not.toContain('s%C3');
        expect(client.address).toBe(url);
      },
    );
    expect(seen).toEqual([`Basic ${Buffer.from('fly:süß').toString('base64')}`]);
  });

  it('says where a redirect leads that loses the body of a POST, and follows others', async () => {
    const answered = (status: number) =>
      answeredBy(
        (request, response) => {
          const isMoved = request.url!.startsWith('/moved');
          if (!isMoved) response.writeHead(status, { Location: `/moved${request.url}` }).end();
          else if (request.method === 'POST')
            response.writeHead(429).end('{"error":"Busy.","code":"RATE_LIMITED"}');
          else response.writeHead(405).end('{"error":"Only POST.","code":"METHOD_NOT_ALLOWED"}');
        },
        (url) => failureOf(new NeuralExperimentClient(url).run()),
      );
    expect((await answered(307)).message).toBe('Busy.');
    expect((await answered(308)).message).toBe('Busy.');
    for (const status of [301, 302]) {
      expect((await answered(status)).message).toMatch(
        /^\/api\/v1\/run\?view=full was redirected to http:\/\/127\.0\.0\.1:\d+\/moved\/api\/v1\/run.*loses the body/,
      );
    }
  });

  // In a process of its own, because the dispatcher belongs to the real global object.
  it('waits longer than fetch of Node does if it is told to, also through a proxy', async () => {
    const script = (url: string) => `
      import { NeuralExperimentClient } from ${JSON.stringify(join(CLIENT_DIR, 'dist/client.js'))};
      void Response;
      const key = Symbol.for('undici.globalDispatcher.1');
      const usual = globalThis[key];
      const seen = [];
      // Like undici's, it cannot be made without an address.
      class ProxyAgent {
        constructor({ uri }) {
          this.uri = uri.href;
        }
        dispatch(options, handler) {
          seen.push(options.headersTimeout);
          return usual.dispatch(options, handler);
        }
      }
      globalThis[key] = new ProxyAgent({ uri: new URL('http://proxy') });
      await new NeuralExperimentClient('${url}', { timeoutMs: 1_200_000 }).model();
      await new NeuralExperimentClient('${url}').model();
      await new NeuralExperimentClient('${url}').experimentFigure({});
      await new NeuralExperimentClient('${url}', { timeoutMs: Infinity }).model();
      console.log(JSON.stringify(seen));`;
    const { stdout } = await answeredBy(
      (_, response) =>
        response.setHeader('Content-Type', 'image/svg+xml').end('{"id":1,"name":1,"atlas_url":1}'),
      (url) => promisify(execFile)(process.execPath, ['--input-type=module', '-e', script(url)]),
    );
    expect(JSON.parse(stdout)).toEqual([1_200_000, null, 0, 0]);
  });

  it.each([Infinity, Number.MAX_SAFE_INTEGER])(
    'has no limit of time if it is told so: %d',
    async (timeoutMs) => {
      const events = await answeredBy(
        (_, response) => {
          response.setHeader('Content-Type', 'application/x-ndjson');
          setTimeout(() => response.write('{"id":"x"}\n'), 20);
          setTimeout(() => response.end('{"cost":{}}\n'), 40);
        },
        async (url) => {
          const lines = [];
          const client = new NeuralExperimentClient(url, { timeoutMs });
          for await (const line of client.runExperiment({})) lines.push(line);
          return lines;
        },
      );
      expect(events).toEqual([{ id: 'x' }, { cost: {} }]);
    },
  );

  it('gives up after its own time, and is plain about proxies that speak HTML', async () => {
    await answeredBy(
      () => {},
      async (url) => {
        const asked = new NeuralExperimentClient(url, { timeoutMs: 50 }).model();
        await expect(asked).rejects.toMatchObject({ name: 'TimeoutError' });
      },
    );
    const failure = await answeredBy(
      (_, response) => response.writeHead(502).end('<h1>Bad gateway</h1>'),
      (url) => failureOf(new NeuralExperimentClient(url).model()),
    );
    expect(failure).toMatchObject({
      status: 502,
      code: undefined,
      message: 'The service answered 502 Bad Gateway',
    });
  });

  it.each([
    ['{"code":504,"message":"upstream request timeout"}', /^The service answered 504/],
    ['{"code":"DEADLINE_EXCEEDED","message":"upstream request timeout"}', /^The service answered 504/],
    ['{"error":{"code":504,"message":"upstream request timeout"}}', /^The service answered 504/],
    ['{"error":"upstream request timeout","code":504}', /^upstream request timeout$/],
    ['{"error":"upstream request timeout","code":"GatewayTimeout"}', /^upstream request timeout$/],
    ['{"error":"upstream request timeout","code":"GATEWAY_TIMEOUT"}', /^upstream request timeout$/],
    ['null', /^The service answered 504/],
  ])('takes %s for an error of a gateway', async (text, message) => {
    const failure = await answeredBy(
      (_, response) => response.writeHead(504).end(text),
      (url) => failureOf(new NeuralExperimentClient(url).model()),
    );
    expect(failure).toMatchObject({ status: 504, code: undefined, isOfGateway: true });
    expect(failure.message).toMatch(message);
  });

  it('takes a code that it does not know for one of the service', async () => {
    const failure = await answeredBy(
      (_, response) => response.writeHead(500).end('{"error":"It is new.","code":"NEW_IN_V3"}'),
      (url) => failureOf(new NeuralExperimentClient(url).model()),
    );
    expect(failure).toMatchObject({ code: 'NEW_IN_V3', isOfGateway: false });
  });

  it('sends nothing if its signal is aborted already', async () => {
    let asked = 0;
    await answeredBy(
      (_, response) => {
        asked++;
        response.writeHead(202).end('{"jobID":"a job"}');
      },
      async (url) => {
        const signal = AbortSignal.abort(new Error('enough'));
        const submitted = new NeuralExperimentClient(url).submitExperiment({}, { signal, waitAtMostS: 1 });
        await expect(submitted).rejects.toThrow('enough');
      },
    );
    expect(asked).toBe(0);
  });

  it('waits for a job without a callback', async () => {
    const state = await answeredBy(
      (_, response) => response.end('{"status":"successful"}'),
      (url) => new NeuralExperimentClient(url).job('job').wait(),
    );
    expect(state).toEqual({ status: 'successful' });
  });

  it('watches a session that is quiet for longer than its own time', async () => {
    let isFirst = true;
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      const text = isFirst ? ':\n\n' : 'event: end\ndata: {}\n\n';
      isFirst = false;
      controller.enqueue(new TextEncoder().encode(text));
    };
    const headers = { 'content-type': 'text/event-stream' };
    const quiet = () => Promise.resolve(new Response(new ReadableStream({ pull }), { headers }));
    const client = new NeuralExperimentClient('http://localhost', { timeoutMs: 10, fetch: quiet });
    expect(await client.watchSession('quiet').next()).toEqual({ done: true, value: undefined });
  });
});

describe('clients/typescript', () => {
  const directory = mkdtempSync(join(tmpdir(), 'client-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  const run = (program: string, args: string[]) =>
    promisify(execFile)(process.execPath, [resolve(program), ...args], { cwd: CLIENT_DIR });

  it('has the types that openapi.json and openapi-v2.json describe', async () => {
    const { scripts } = JSON.parse(readFileSync(join(CLIENT_DIR, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const commands = scripts['generate']!.split(' && ');
    expect(commands.length).toBe(2);
    for (const command of commands) {
      const [, ...args] = command.split(' ');
      const committed = args.pop()!;
      const fresh = join(directory, 'api.ts');
      await run('node_modules/openapi-typescript/bin/cli.js', [...args, fresh]);
      expect(readFileSync(fresh, 'utf8')).toBe(readFileSync(join(CLIENT_DIR, committed), 'utf8'));
    }
  });

  const built = join(directory, 'built');
  // This directory is a project that has the package installed.
  const installed = join(directory, 'node_modules/neural-experiment-client');
  beforeAll(async () => {
    mkdirSync(installed, { recursive: true });
    copyFileSync(join(CLIENT_DIR, 'package.json'), join(installed, 'package.json'));
    await run('node_modules/typescript-7/bin/tsc', ['--outDir', built]);
    cpSync(built, join(installed, 'dist'), { recursive: true });
    writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
    writeFileSync(
      join(directory, 'use.ts'),
      `import { NeuralExperimentClient } from 'neural-experiment-client';
export const escape = async (): Promise<number> =>
  (await new NeuralExperimentClient('http://localhost').run({ stimulus: 'loom' })).drive['escape']!;
// @ts-expect-error There is no such stimulus.
void new NeuralExperimentClient('').run({ stimulus: 'salt' });
const cells: readonly string[] = ['LC4', 'LPLC2'];
const experiment = new NeuralExperimentClient('').runExperiment({ silence: [{ type: cells, side: 'left' }] });
export const mean = async (): Promise<number | undefined> => {
  for await (const line of experiment) if ('index' in line) return line.spikes?.mean;
  return (await experiment.answer((progress) => progress.trials)).conditions[0]?.synaptic_events;
};
// @ts-expect-error A number is no root id.
void new NeuralExperimentClient('').runExperiment({ silence: [{ root_id: 720575940600000001 }] });
`,
    );
  });

  it('compiles for browsers, without the types of Node', async () => {
    const { NeuralExperimentClient: Built } = (await import(join(built, 'client.js'))) as {
      NeuralExperimentClient: typeof NeuralExperimentClient;
    };
    expect(typeof Built.prototype.run).toBe('function');
    expect(readFileSync(join(built, 'requests.d.ts'), 'utf8')).toContain('waitAtMostS?: number');
  });

  // TypeScript 7, which is faster, has no node10.
  it.each([
    ['node10', 'commonjs', 'typescript', ['--ignoreDeprecations', '6.0']],
    ['bundler', 'esnext', 'typescript-7', []],
    ['nodenext', 'nodenext', 'typescript-7', []],
  ])('is found as a package under moduleResolution %s', async (resolution, module, compiler, further) => {
    const options = ['--ignoreConfig', '--strict', '--noEmit', '--lib', 'es2022,dom', ...further];
    const kind = ['--module', module, '--moduleResolution', resolution];
    const compiled = run(`node_modules/${compiler}/bin/tsc`, [
      ...options,
      ...kind,
      join(directory, 'use.ts'),
    ]);
    expect(await compiled).toMatchObject({ stdout: '' });
  });
});
