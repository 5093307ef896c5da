/** npm run up in a tree of its own, with everything but npm: that would install and build for minutes. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePort } from '../support/free-port.js';
import { until } from '../support/service-process.js';
import { smallConnectomeFile } from '../support/small-connectome.js';

const COMPILED_S = Date.now() / 1000;
const DEFAULT_CONNECTOME = 'data/default.connectome';
/** Records its call; a compile ends the start, as a failed one does. */
const NPM = `console.log('npm', ...process.argv.slice(2)); process.exit(process.argv.includes('model:compile') ? 7 : 0);`;
/** Root writes whatever a folder's mode is, unless it lacks these capabilities. */
const OBEYS_MODES =
  process.getuid!() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search', '--'] : [];

let tree: string;
let up: Started | undefined;

interface Started {
  readonly child: ChildProcess;
  readonly exit: Promise<unknown[]>;
  stdout: string;
  stderr: string;
}

beforeAll(() => {
  tree = mkdtempSync(join(tmpdir(), 'up-'));
  for (const name of ['scripts', 'data', 'src', 'package.json', 'package-lock.json']) {
    cpSync(resolve(name), join(tree, name), {
      recursive: true,
      filter: (path) => !path.endsWith('.connectome'),
    });
  }
  for (const name of ['node_modules', 'dist']) symlinkSync(resolve(name), join(tree, name));
  writeFileSync(join(tree, 'npm.mjs'), NPM);
  writeFileSync(join(tree, DEFAULT_CONNECTOME), 'not looked into');
});
afterEach(async () => {
  up?.child.kill('SIGKILL');
  await up?.exit;
});
afterAll(() => rmSync(tree, { recursive: true }));

async function start(
  variables: Record<string, string>,
  args: readonly string[] = [],
  { cwd = tree, launcher = [] }: { cwd?: string; launcher?: readonly string[] } = {},
): Promise<Started> {
  const [program, ...rest] = [...launcher, process.execPath, 'scripts/up.mjs', ...args] as [string];
  const child = spawn(program, rest, {
    cwd,
    env: {
      PATH: process.env['PATH'],
      npm_execpath: join(tree, 'npm.mjs'),
      PORT: String(await freePort()),
      METRICS_PORT: '0',
      WORKERS: '1',
      BACKEND: 'cpu',
      ...variables,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const started: Started = { child, exit: once(child, 'exit'), stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (started.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (started.stderr += text));
  up = started;
  return started;
}

/** Makes every source except one older than the connectome that was made of them. */
function touch(changed: string): void {
  utimesSync(join(tree, DEFAULT_CONNECTOME), COMPILED_S + 3_600, COMPILED_S + 3_600);
  if (changed !== '') utimesSync(join(tree, changed), COMPILED_S + 7_200, COMPILED_S + 7_200);
}

it.each([
  'data/signs.json',
  'data/populations.json',
  'data/cell-types/pairs.csv.gz',
  'src/tools/statistics/sample-brain.ts',
  'src/engine/connectome/format.ts',
])('compiles the default connectome anew when %s is newer', async (changed) => {
  touch(changed);
  const { exit, ...told } = await start({});
  expect(await exit).toEqual([7, null]);
  expect(up!.stdout).toContain('Compiling the default connectome');
  expect(told.stderr).toBe('');
  utimesSync(join(tree, changed), COMPILED_S, COMPILED_S);
});

it('does not compile when nothing is newer, nor when another connectome is served', async () => {
  touch('');
  for (const CONNECTOME_FILE of ['', smallConnectomeFile()]) {
    const { child, exit } = await start({ CONNECTOME_FILE });
    await until(() => up!.stdout.includes('Starting'));
    expect(up!.stdout).not.toContain('Compiling');
    child.kill('SIGKILL');
    await exit;
    touch('data/signs.json');
  }
});

it('tells the address it listens on', async () => {
  await start({ CONNECTOME_FILE: smallConnectomeFile(), HOST: '127.0.0.2' });
  await until(() => up!.child.exitCode !== null || up!.stdout.includes('The service answers'));
  const [, url] = /The service answers at (\S+)/.exec(up!.stdout)!;
  expect(url).toMatch(/^http:\/\/127\.0\.0\.2:\d+$/);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
});

it('serves in a built checkout that it cannot write to, and names the parts that one lacks that is not built', async () => {
  touch('data/signs.json');
  const bare = join(tree, 'bare');
  cpSync(join(tree, 'scripts'), join(bare, 'scripts'), { recursive: true });
  for (const path of [tree, bare]) chmodSync(path, 0o555);
  try {
    const built = await start({}, [], { launcher: OBEYS_MODES });
    await until(() => up!.child.exitCode !== null || up!.stdout.includes('Starting'));
    expect(up!).toMatchObject({ stdout: 'Starting …\n', stderr: '' });
    built.child.kill('SIGKILL');
    await built.exit;
    const { exit } = await start({}, [], { cwd: bare, launcher: OBEYS_MODES });
    expect(await exit).toEqual([1, null]);
    expect(up!.stderr).toBe(
      'npm run up: this checkout is read-only and lacks node_modules/.package-lock.json and dist/main.js: ' +
        'run npm ci and npm run build where it can be written to.\n',
    );
  } finally {
    for (const path of [tree, bare]) chmodSync(path, 0o755);
  }
});

it('downloads and compiles the data set that it is told, with the options of each command', async () => {
  const { exit } = await start({}, [
    ...['--dataset', 'flywire-783', '--synapses', 'princeton', '--synapse-mv', '0.124'],
    ...['--base-url', 'http://localhost:1/x', '--allow-changed'],
  ]);
  expect(await exit).toEqual([7, null]);
  const calls = up!.stdout.split('\n').filter((line) => line.startsWith('npm run -s model:'));
  expect(calls).toEqual([
    'npm run -s model:download -- --dataset flywire-783 --out data/tables/flywire-783 --synapses princeton ' +
      '--base-url http://localhost:1/x --allow-changed',
    'npm run -s model:compile -- --dataset flywire-783 --tables data/tables/flywire-783 ' +
      '--out data/flywire-783-synapses-princeton-synapse-mv-0.124.connectome --synapses princeton --synapse-mv 0.124',
  ]);
});

it('serves a data set that is compiled already, and says which brain it is', async () => {
  cpSync(smallConnectomeFile(), join(tree, 'data/malecns-1.0.connectome'));
  const late = COMPILED_S + 36_000;
  utimesSync(join(tree, 'data/malecns-1.0.connectome'), late, late);
  await start({ HOST: '127.0.0.1' }, ['--dataset', 'malecns-1.0']);
  await until(() => up!.child.exitCode !== null || up!.stdout.includes('Try: curl'));
  expect(up!.stdout).toContain('data/malecns-1.0.connectome is there …');
  expect(up!.stdout).not.toContain('npm run -s model:');
  expect(up!.stderr).toBe('');
  expect(up!.stdout).toMatch(/\nBrain: Small test brain, data under CC-BY-NC-4\.0\nTry: curl 'http/);
});

it('serves no brain of other options or other tables', async () => {
  const dataset = ['--dataset', 'banc-888'];
  const outOf = async (...more: string[]) => {
    await (
      await start({}, [...dataset, ...more])
    ).exit;
    return / --out (data\/\S+\.connectome)/.exec(up!.stdout)?.[1];
  };
  const made = new Set([
    await outOf(),
    await outOf('--minimum-synapses', '5'),
    await outOf('--synapse-mv', '5'),
    await outOf('--tables', join(tree, 'tables-of-mine')),
    await outOf('--tables', join(tree, 'tables-of-others')),
  ]);
  expect(made.size).toBe(5);
  expect(await outOf('--tables', 'data/tables/banc-888')).toBe('data/banc-888.connectome');
});

it('compiles again when older tables take the place of those of a brain', async () => {
  for (const name of ['before', 'after']) {
    mkdirSync(join(tree, name));
    writeFileSync(join(tree, name, 'neurons.csv'), name);
    for (const path of [join(tree, name, 'neurons.csv'), join(tree, name)]) utimesSync(path, 1, 1);
  }
  utimesSync(join(tree, 'data/signs.json'), COMPILED_S, COMPILED_S);
  const args = ['--dataset', 'banc-888', '--tables', join(tree, 'before')];
  await (
    await start({}, args)
  ).exit;
  const [, out] = / --out (data\/\S+\.connectome)/.exec(up!.stdout)!;
  cpSync(smallConnectomeFile(), join(tree, out!));
  const served = await start({}, args);
  await until(() => up!.child.exitCode !== null || up!.stdout.includes('Starting'));
  expect(up!.stdout).toContain(`${out} is there`);
  served.child.kill('SIGKILL');
  await served.exit;
  rmSync(join(tree, 'before'), { recursive: true });
  renameSync(join(tree, 'after'), join(tree, 'before'));
  expect(await (await start({}, args)).exit).toEqual([7, null]);
  expect(up!.stdout).toContain(`--out ${out}`);
});

it.each([
  [['--datasat', 'x'], /Unknown option '--datasat'.*It takes --dataset NAME/],
  [['--synapse-mv', '0.2'], /--synapse-mv needs --dataset NAME/],
  [['flywire-783'], /Unexpected argument 'flywire-783'/],
])('refuses %j', async (args, message) => {
  const { exit } = await start({}, args);
  expect(await exit).toEqual([2, null]);
  expect(up!.stderr).toMatch(message);
});

it('ends with 0 and without a trace when it is told to while the model is not there', async () => {
  const port = await freePort();
  const readyz = () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ status }) => status,
      () => 0,
    );
  const { child, exit } = await start({ CONNECTOME_FILE: join(tree, 'nowhere'), PORT: String(port) });
  await until(async () => (await readyz()) === 503);
  child.kill('SIGINT');
  expect(await exit).toEqual([0, null]);
  expect(up!.stderr).toBe('');
});

it('gets the signals of npm, which tells the shell that runs its script', async () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { up: string } };
  const launcher = ['/bin/sh', '-c', scripts.up];
  const { child, exit } = await start({ CONNECTOME_FILE: smallConnectomeFile(), HOST: '127.0.0.1' }, [], {
    launcher,
  });
  await until(() => child.exitCode !== null || up!.stdout.includes('The service answers'));
  child.kill('SIGTERM');
  expect(await exit).toEqual([0, null]);
});
