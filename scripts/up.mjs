/**
 * `npm run up` starts a service from a fresh clone. It skips each step whose result already
 * exists. Ends with the address and a request to try. With --dataset NAME it serves a measured brain: it prints
 * the licence, downloads the tables (from the end of an earlier download on), compiles and serves them.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, lstatSync, mkdtempSync, readdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/** Options of model:download and model:compile that are passed on with --dataset. */
const OF_DOWNLOAD = ['synapses', 'base-url', 'allow-changed'];
const OF_COMPILE = ['synapses', 'minimum-synapses', 'synapse-mv', 'signs'];
// The service reads the arguments of its process, too, and takes none.
const options = optionsIn(process.argv.splice(2));

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const DEFAULT_CONNECTOME = 'data/default.connectome';
const STATISTICS = 'data/cell-types';
/** Input and sources of the compiler: if one of these changes, the default connectome is compiled again. */
const SOURCES_OF_DEFAULT = [
  'data',
  'src/tools/compiler',
  'src/tools/statistics',
  'src/engine/connectome',
  'src/engine/stimulus/philox.ts',
  'src/tools/cli/model-compile.ts',
];
/** Downloaded tables, and the jobs of a service that may be running. */
const OF_NO_PROJECT = ['data/tables', 'data/jobs'];
const ANY_ADDRESS = ['0.0.0.0', '::'];

const isWritable = canWrite('.');
/** Directory for compiled brains. */
const brains = isWritable ? 'data' : mkdtempSync(`${tmpdir()}/brains-`);
if (isWritable) {
  if (olderThan('node_modules/.package-lock.json', 'package-lock.json')) {
    step('Installing');
    npm('ci', '--loglevel=error');
  }
  step('Building');
  npm('run', '-s', 'build');
} else {
  refuseUnbuilt();
}
if (options.dataset !== undefined) process.env.CONNECTOME_FILE = measuredBrain();
else if (!process.env.CONNECTOME_FILE && !isMade(DEFAULT_CONNECTOME, sourcesOfDefault())) {
  step('Compiling the default connectome');
  const file = `${brains}/default.connectome`;
  npm('run', '-s', 'model:compile', '--', '--statistics', STATISTICS, '--out', file);
  if (!isWritable) process.env.CONNECTOME_FILE = file;
}
if (!isWritable) process.env.JOBS_PATH ||= `${brains}/jobs`;
step('Starting');
process.env.LOG_LEVEL ||= 'warn';
const { app } = await import('../dist/main.js');
if (app) {
  const url = urlOf(app.getHttpServer().address());
  while (!(await isReady(url))) await new Promise((resolve) => setTimeout(resolve, 100));
  const { name, licence, degraded } = await (await fetch(`${url}/readyz`)).json();
  const tried =
    options.dataset === undefined
      ? `curl -X POST '${url}/api/v1/run?view=drive' -H 'Content-Type: application/json' -d '{"stimulus":"loom"}'`
      : `curl '${url}/api/v2/model'`;
  console.log(`
The service answers at ${url}
Brain: ${name}, data under ${licence}
Try: ${tried}`);
  for (const { reason } of degraded) console.log(`Note: ${reason}`);
}

/** @returns the connectome file of the data set that was asked for */
function measuredBrain() {
  const { dataset, tables = `data/tables/${dataset}` } = options;
  const given = (names) =>
    names.flatMap((name) =>
      options[name] === undefined
        ? []
        : options[name] === true
          ? [`--${name}`]
          : [`--${name}`, options[name]],
    );
  const variant = OF_COMPILE.flatMap((name) =>
    options[name] === undefined ? [] : `-${name}-${options[name]}`,
  );
  const name = `${dataset}${variant.join('')}${placeOf(tables)}.connectome`;
  if (isMade(`data/${name}`, sourcesOfDefault()) && !isChangedSince(`data/${name}`, tables)) {
    step(`data/${name} is there`);
    return `data/${name}`;
  }
  const file = `${brains}/${name}`;
  step(`Downloading ${dataset} to ${tables}`);
  npm('run', '-s', 'model:download', '--', '--dataset', dataset, '--out', tables, ...given(OF_DOWNLOAD));
  step(`Compiling ${dataset}`);
  npm(
    'run',
    '-s',
    'model:compile',
    '--',
    '--dataset',
    dataset,
    '--tables',
    tables,
    '--out',
    file,
    ...given(OF_COMPILE),
  );
  return file;
}

/** A part of the name of a brain that tells tables in another folder from those that are downloaded. */
function placeOf(tables) {
  const place = resolve(tables);
  if (place === resolve(`data/tables/${options.dataset}`)) return '';
  return `-tables-${createHash('sha256').update(place).digest('hex').slice(0, 8)}`;
}

/** Looks at the change time of files, because moved and unpacked files keep their modification time. */
function isChangedSince(file, tables) {
  if (!isWritable || !existsSync(tables)) return false;
  const stats = [lstatSync(tables), ...[tables, ...filesIn(tables)].map((path) => statSync(path))];
  return stats.some(({ ctimeMs }) => ctimeMs > statSync(file).mtimeMs);
}

function optionsIn(args) {
  const text = { type: 'string' };
  const known = Object.fromEntries(
    ['dataset', 'tables', ...OF_DOWNLOAD, ...OF_COMPILE].map((name) => [name, text]),
  );
  try {
    const { values } = parseArgs({ args, options: { ...known, 'allow-changed': { type: 'boolean' } } });
    const [other] = Object.keys(values).filter((name) => name !== 'dataset');
    if (other !== undefined && values.dataset === undefined)
      throw new Error(`--${other} needs --dataset NAME`);
    if (values.dataset !== undefined && process.env.CONNECTOME_FILE) {
      throw new Error('CONNECTOME_FILE is set, which names another brain than --dataset');
    }
    return values;
  } catch (error) {
    console.error(
      `npm run up: ${error.message}. It takes --dataset NAME with --tables DIR, --${[...new Set([...OF_DOWNLOAD, ...OF_COMPILE])].join(', --')}. ` +
        'Settings are environment variables: see node dist/main.js --help.',
    );
    process.exit(2);
  }
}

function npm(...args) {
  const { status, error } = spawnSync(process.execPath, [process.env.npm_execpath, ...args], {
    stdio: 'inherit',
  });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

function urlOf({ address, family, port }) {
  if (ANY_ADDRESS.includes(address)) return `http://localhost:${port}`;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** A failed request counts as not ready: a service that is ended while it loads ends without an error of this check. */
async function isReady(url) {
  try {
    return (await fetch(`${url}/readyz`)).ok;
  } catch {
    return false;
  }
}

function sourcesOfDefault() {
  return SOURCES_OF_DEFAULT.flatMap((path) => filesIn(path, OF_NO_PROJECT)).filter(
    (file) => !/\.(connectome|spec\.ts)$/.test(file),
  );
}

function filesIn(path, without = []) {
  if (without.includes(path)) return [];
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path).flatMap((name) => filesIn(`${path}/${name}`, without));
}

/** In a read-only checkout, file times are those of the copy, so existing files count as up to date. */
function isMade(file, sources) {
  return existsSync(file) && !(isWritable && sources.some((source) => olderThan(file, source)));
}

function canWrite(path) {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function refuseUnbuilt() {
  const steps = { 'node_modules/.package-lock.json': 'npm ci', 'dist/main.js': 'npm run build' };
  const missing = Object.keys(steps).filter((file) => !existsSync(file));
  if (missing.length === 0) return;
  console.error(
    `npm run up: this checkout is read-only and lacks ${missing.join(' and ')}: run ` +
      `${missing.map((file) => steps[file]).join(' and ')} where it can be written to.`,
  );
  process.exit(1);
}

function olderThan(made, source) {
  return !existsSync(made) || statSync(made).mtimeMs < statSync(source).mtimeMs;
}

function step(name) {
  console.log(`${name} …`);
}
