/**
 * `npm run up`: from a fresh clone to a service that answers. Each step is left out where its result is
 * already there. Ends with the address and a request to try. With --dataset NAME it serves a measured brain: it prints
 * the licence, downloads the tables (going on where an earlier download ended), compiles and serves them.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
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
/** Input and sources of the compiler: the default connectome is made anew where one of these changed. */
const SOURCES_OF_DEFAULT = [
  'data',
  'src/compiler',
  'src/connectome',
  'src/stimulus/philox.ts',
  'src/cli/model-compile.ts',
];
const ANY_ADDRESS = ['0.0.0.0', '::'];

if (olderThan('node_modules/.package-lock.json', 'package-lock.json')) {
  step('Installing');
  npm('ci', '--loglevel=error');
}
step('Building');
npm('run', '-s', 'build');
if (options.dataset !== undefined) process.env.CONNECTOME_FILE = measuredBrain();
else if (
  !process.env.CONNECTOME_FILE &&
  sourcesOfDefault().some((file) => olderThan(DEFAULT_CONNECTOME, file))
) {
  step('Compiling the default connectome');
  npm('run', '-s', 'model:compile', '--', '--statistics', STATISTICS, '--out', DEFAULT_CONNECTOME);
}
step('Starting');
process.env.LOG_LEVEL ||= 'warn';
const { app } = await import('../dist/main.js');
if (app) {
  const url = urlOf(app.getHttpServer().address());
  while (!(await isReady(url))) await new Promise((resolve) => setTimeout(resolve, 100));
  const { name, licence } = await (await fetch(`${url}/readyz`)).json();
  const tried =
    options.dataset === undefined
      ? `curl -X POST '${url}/api/v1/run?view=drive' -H 'Content-Type: application/json' -d '{"stimulus":"loom"}'`
      : `curl '${url}/api/v2/model'`;
  console.log(`
The service answers at ${url}
Brain: ${name}, data under ${licence}
Try: ${tried}`);
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
  const variant = OF_COMPILE.flatMap((name) => options[name] ?? []).map((value) => `-${value}`);
  const file = `data/${dataset}${variant.join('')}.connectome`;
  const sources = [...sourcesOfDefault(), ...(existsSync(tables) ? filesIn(tables) : [])];
  if (existsSync(file) && !sources.some((source) => olderThan(file, source))) {
    step(`${file} is there`);
    return file;
  }
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
        'Settings are environment variables: see npm run start:prod -- --help.',
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
  // Tables that were downloaded are no part of the project.
  return SOURCES_OF_DEFAULT.flatMap(filesIn).filter(
    (file) => !/\.(connectome|spec\.ts)$|^data\/tables\//.test(file),
  );
}

function filesIn(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path).flatMap((name) => filesIn(`${path}/${name}`));
}

function olderThan(made, source) {
  return !existsSync(made) || statSync(made).mtimeMs < statSync(source).mtimeMs;
}

function step(name) {
  console.log(`${name} …`);
}
