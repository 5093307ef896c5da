/**
 * Tools that people use make clients of both descriptions: their code compiles, and their requests are answered. Their
 * packages have a lock file of their own, in test/clients/generated.
 */
import { execFile, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { connectomeFile } from '../support/connectomes.js';
import { DOCUMENTS } from '../support/contract.js';
import { freePort } from '../support/free-port.js';
import { codeAt } from '../support/guide-examples.js';
import { startReadyService, type Service } from '../support/service.js';
import { spawnEnding } from '../support/spawn-ending.js';

const FOLDER = resolve('test/clients/generated');
const COMPILER = resolve('node_modules/typescript-7/bin/tsc');
const TOOLS = ['openapi-typescript', 'hey-api', 'orval', 'swagger-typescript-api'];
const MAX_BUFFER = 2 ** 26;

let service: Service;

beforeAll(async () => {
  await install();
  service = await startReadyService({ CONNECTOME_FILE: await connectomeFile('default') });
  await runNode('generate.mjs', service.url);
}, 600_000);
afterAll(() => service?.stop());

async function runNode(...args: string[]): Promise<string> {
  const options = { cwd: FOLDER, maxBuffer: MAX_BUFFER, env: { ...process.env, NO_UPDATE_NOTIFIER: '1' } };
  const { stdout } = await promisify(execFile)(process.execPath, args, options);
  return stdout;
}

/** Installs the tools, unless exactly these are installed. */
async function install(): Promise<void> {
  const lock = createHash('sha256')
    .update(readFileSync(join(FOLDER, 'package-lock.json')))
    .digest('hex');
  const installed = join(FOLDER, 'node_modules/.installed');
  if (textOf(installed) === lock) return;
  // Scripts of packages are not needed, and one of them reports its use to a server.
  const args = ['ci', '--ignore-scripts', '--prefix', FOLDER];
  await promisify(execFile)('npm', args, { cwd: FOLDER, maxBuffer: MAX_BUFFER }).catch((error: Error) => {
    throw new Error(
      'npm ci could not install the tools of test/clients/generated. It needs a registry of npm packages.',
      { cause: error },
    );
  });
  writeFileSync(installed, lock);
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** Compiles what is generated. Rejects with the messages of the compiler. */
async function compile(files: readonly string[], options: readonly string[] = []): Promise<void> {
  const kind = ['--target', 'es2022', '--module', 'commonjs', '--moduleResolution', 'bundler'];
  const strict = ['--ignoreConfig', '--strict', '--lib', 'es2022,dom,dom.iterable', '--types', ''];
  const out = ['--rootDir', '.', '--outDir', 'dist/js'];
  await runNode(COMPILER, ...strict, ...kind, ...out, ...options, ...files).catch(
    ({ stdout, message }: Error & { stdout?: string }) => {
      throw new Error(stdout || message);
    },
  );
}

/** Prism between a client and the service: it answers an invalid request itself. */
async function startProxy(version: string): Promise<{ url: string; child: ChildProcess }> {
  const port = String(await freePort());
  const program = join(FOLDER, 'node_modules/@stoplight/prism-cli/dist/index.js');
  const document = join(FOLDER, `dist/v${version}/openapi.json`);
  const args = [program, 'proxy', document, service.url, '--errors', '--host', '127.0.0.1', '--port', port];
  const child = spawnEnding(process.execPath, args, { cwd: FOLDER, stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise<void>((listens, fails) => {
    child.once('exit', () => fails(new Error('Prism ended.')));
    child.stdout!.on('data', (text: Buffer) => text.includes('is listening') && listens());
  });
  return { url: `http://127.0.0.1:${port}`, child };
}

describe('generated clients', () => {
  it('of openapi-typescript, orval and swagger-typescript-api compile with every strict option', async () => {
    const files = TOOLS.filter((tool) => tool !== 'hey-api').flatMap((tool) => [
      `programs/${tool}.ts`,
      `dist/v1/${tool === 'openapi-typescript' ? tool : `${tool}/api`}.ts`,
    ]);
    await compile(files, ['--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess']);
  });

  it('of hey-api compile', () => compile(['programs/hey-api.ts', 'dist/v1/hey-api/index.ts']));

  it('are what the guide shows', async () => {
    const folder = join(FOLDER, 'dist/guide');
    mkdirSync(folder, { recursive: true });
    copyFileSync(join(FOLDER, 'dist/v2/openapi-typescript.ts'), join(folder, 'service.ts'));
    writeFileSync(join(folder, 'client.ts'), codeAt(service.url, 'typescript-client'));
    await compile(['dist/guide/client.ts'], ['--module', 'esnext', '--exactOptionalPropertyTypes']);
    const answer = JSON.parse(await runNode('dist/js/dist/guide/client.js')) as object;
    const document = { inputs: { sugar: { node_set: '@sugar' } }, reports: { mn9: { node_set: '@MN9' } } };
    expect(answer).toEqual(await (await service.post(document, '/api/v2/experiments')).json());
  });

  it('run an experiment, a job, a session and a table', async () => {
    mkdirSync(join(FOLDER, 'dist/js'), { recursive: true });
    writeFileSync(join(FOLDER, 'dist/js/package.json'), '{"type":"commonjs"}');
    const answers = JSON.parse(await runNode('run.mjs', service.url)) as Record<string, unknown>;
    const document = {
      inputs: { sugar: { node_set: '@sugar' } },
      duration_ms: 50,
      trials: 2,
      reports: { mn9: { node_set: '@MN9', group_by: ['side'] } },
      sweep: [{ set: 'inputs.sugar.rate_hz', values: [50, 150] }],
    };
    const answer = JSON.stringify(await (await service.post(document, '/api/v2/experiments')).json());
    const table = await (await service.post(document, '/api/v2/experiments?format=csv')).text();
    const expected = { experiment: answer, job: answer, statusAfter: 'dismissed', tMs: 20, table };
    expect(answers).toEqual(Object.fromEntries(TOOLS.map((tool) => [tool, expected])));
  });
});

it('answers each operation of the collections of Postman, unchanged and in order', async () => {
  const answers = JSON.parse(await runNode('collections.mjs')) as Record<string, [string, number][]>;
  for (const [version, document] of DOCUMENTS) {
    const operations = Object.entries<object>(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method} ${path}`),
    );
    const asked = answers[`v${version}`]!;
    expect(asked.map(([name]) => name).sort()).toEqual(
      operations.filter((name) => !name.endsWith('/events')).sort(),
    );
    for (const [name, status] of asked) {
      const [method, path] = name.split(' ') as [string, string];
      expect([name, String(status)]).toEqual([name, expect.stringMatching(/^2/)]);
      expect(Object.keys(document.paths[path][method].responses)).toContain(String(status));
    }
  }
  expect([answers['v1']!.length, answers['v2']!.length]).toEqual([3, 15]);
});

describe('Prism as a proxy', () => {
  const proxies = new Map<string, { url: string; child: ChildProcess }>();
  const sendTo = async (path: string, body: object) =>
    await fetch(proxies.get(path.slice(6, 7))!.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(body),
    });

  beforeAll(async () => {
    await Promise.all(['1', '2'].map(async (version) => proxies.set(version, await startProxy(version))));
  });
  afterAll(async () => {
    for (const { child } of proxies.values()) {
      const ended = child.exitCode === null && once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
  });

  it.each([
    ['/api/v1/run', { stimulus: 'loom' }, 200],
    // Prism would compile the schema of an experiment's answer for twenty seconds, so the service refuses this one.
    ['/api/v2/experiments', { silence: ['LC4', { type: 'nobody', except: ['LC4'] }] }, 400],
    ['/api/v2/sessions', { inputs: { a: { node_set: '@sugar', rate_hz: 0 } } }, 201],
  ])('passes a valid request to %s on', async (path, body, status) => {
    expect((await sendTo(path, body)).status).toBe(status);
  });

  it.each([
    ['/api/v1/run', { stimulus: 'thunder' }],
    ['/api/v1/run', { duration_ms: 70 }],
    ['/api/v1/run', { intensity: 3 }],
    ['/api/v1/run', { colour: 'red' }],
    ['/api/v2/experiments', { trials: 0 }],
    ['/api/v2/experiments', { silence: [{ kind: 'LC4' }] }],
    ['/api/v2/experiments', { sweep: [{ set: 'inputs', values: [1] }] }],
    ['/api/v2/sessions', { sweep: [] }],
  ])('refuses for %s the body %j', async (path, body) => {
    const answer = await sendTo(path, body);
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ type: expect.stringContaining('UNPROCESSABLE_ENTITY') });
  });
});
