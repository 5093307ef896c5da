/**
 * `npm run up`: from a fresh clone to a service that answers. Each step is left out where its result is
 * already there. Ends with the address and a request to try.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

if (process.argv.length > 2) {
  console.error(
    'npm run up takes no arguments. Settings are environment variables: see npm run start:prod -- --help.',
  );
  process.exit(2);
}

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
if (!process.env.CONNECTOME_FILE && sourcesOfDefault().some((file) => olderThan(DEFAULT_CONNECTOME, file))) {
  step('Compiling the default connectome');
  npm('run', '-s', 'model:compile', '--', '--statistics', STATISTICS, '--out', DEFAULT_CONNECTOME);
}
step('Starting');
process.env.LOG_LEVEL ||= 'warn';
const { app } = await import('../dist/main.js');
if (app) {
  const url = urlOf(app.getHttpServer().address());
  while (!(await isReady(url))) await new Promise((resolve) => setTimeout(resolve, 100));
  console.log(`
The service answers at ${url}
Try: curl -X POST '${url}/api/v1/run?view=drive' -H 'Content-Type: application/json' -d '{"stimulus":"loom"}'`);
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
  return SOURCES_OF_DEFAULT.flatMap(filesIn).filter((file) => !/\.(connectome|spec\.ts)$/.test(file));
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
