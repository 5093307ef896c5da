/**
 * Runs every stage of continuous integration, whatever the ones before it said, and tells all failures at the end.
 * A file of tests that failed runs once more, without the others: if it passes then, it is green and named as unsteady.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';

const PYTHON_NEEDS = 'pandas,matplotlib,nbclient,ipykernel,setuptools,wheel,mypy';
/** A stage that hangs must not hide what the others found. The longest takes half of this, so a slow machine may take twice as long. */
const MAX_STAGE_MS = 65 * 60_000;
/** Lines of a failed command that are repeated at the end. */
const LAST_LINES = 30;

const folder = mkdtempSync(join(tmpdir(), 'ci-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

/** Everything else needs a build, so a failure of these ends the run. */
const PREPARATION = [
  { name: 'install', args: ['ci'], tries: 3 },
  { name: 'build', args: ['run', 'build'] },
];
/**
 * Commands, and suites of Jest with their scripts in package.json. Those of one group run side by side. Python's tests
 * leave a core idle for half of their time, and faults mostly wait.
 */
const GROUPS = [
  [
    { name: 'types', args: ['run', 'typecheck'] },
    { name: 'lint', args: ['run', 'lint'] },
  ],
  [
    { name: 'python', args: ['run', 'test:python'], variables: { REQUIRE: PYTHON_NEEDS } },
    { name: 'fast', script: 'test:fast' },
  ],
  [{ name: 'slow', script: 'test:slow' }],
  [
    { name: 'faults', script: 'test:faults:short' },
    { name: 'containers', script: 'test:container' },
  ],
];

/** Groups of processes of the stages that are running. */
const groups = new Set();
const endGroup = (pid) => {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group is empty.
  }
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, () => {
    groups.forEach(endGroup);
    process.exit(1);
  });
}

const failures = [];
const unsteady = [];
const total = { passed: 0, failed: 0, skipped: 0 };

/** Runs npm and passes its output on. `tail` is the end of the output. */
function npm(args, variables = {}) {
  return new Promise((resolve) => {
    const env = { ...process.env, ...variables };
    const child = spawn('npm', args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    let tail = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        process.stdout.write(text);
        tail = (tail + text).slice(-100_000);
      });
    }
    groups.add(child.pid);
    const timer = globalThis.setTimeout(() => {
      tail += `\nThe stage took longer than ${MAX_STAGE_MS / 60_000} minutes.`;
      endGroup(child.pid);
    }, MAX_STAGE_MS);
    child.once('exit', (status) => {
      globalThis.clearTimeout(timer);
      // Processes that the stage left would keep the pipes open.
      endGroup(child.pid);
      groups.delete(child.pid);
      const closed = once(child, 'close').then(() => undefined);
      void Promise.race([closed, setTimeout(5_000)]).then(() => resolve({ status, tail }));
    });
  });
}

async function runCommand({ name, args, tries = 1, variables }) {
  for (let left = tries; left > 0; left--) {
    const { status, tail } = await stage(name, () => npm(args, variables));
    if (status === 0) {
      total.passed++;
      return true;
    }
    if (left === 1) fail(name, tail.trimEnd().split('\n').slice(-LAST_LINES).join('\n'));
  }
  return false;
}

async function runSuite({ name, script }) {
  const first = await jest(name, script, []);
  for (const file of first.files) {
    let { failed, passed, skipped } = file;
    if (failed.length > 0) {
      const again = await jest(`${name}, again: ${file.path}`, script, ['--runTestsByPath', file.path]);
      const [second] = again.files;
      if (second?.failed.length === 0) {
        for (const test of failed) unsteady.push(`${file.path}: ${test.title}`);
        ({ failed, passed, skipped } = second);
      }
    }
    total.passed += passed;
    total.skipped += skipped;
    for (const { title, message } of failed) fail(`${file.path}: ${title}`, message);
  }
  if (first.files.length === 0 || first.error !== '') fail(name, first.error || 'No test ran.');
}

/** The results of a run of Jest, by file. `error` is what happened beside the tests. */
async function jest(name, script, args) {
  const report = join(folder, `${name.replaceAll(/\W+/g, '-')}.json`);
  const { status, tail } = await stage(name, () =>
    npm(['run', script, '--', '--json', `--outputFile=${report}`, '--forceExit', ...args]),
  );
  let results;
  try {
    results = JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    return { files: [], error: tail.trimEnd().split('\n').slice(-LAST_LINES).join('\n') };
  }
  const files = results.testResults.map(({ name: path, status: outcome, message, assertionResults }) => {
    const of = (wanted) => assertionResults.filter((test) => test.status === wanted);
    const failed = of('failed').map(({ fullName, failureMessages }) => ({
      title: fullName,
      message: failureMessages.join('\n'),
    }));
    if (outcome === 'failed' && failed.length === 0) failed.push({ title: 'the whole file', message });
    const skipped = of('pending').length + of('skipped').length;
    return { path: relative(process.cwd(), path), failed, passed: of('passed').length, skipped };
  });
  const isExplained = status === 0 || files.some(({ failed }) => failed.length > 0);
  return { files, error: isExplained ? '' : `${script} ended with ${status}, but no test failed.` };
}

async function stage(name, work) {
  const startedMs = performance.now();
  console.log(`\n=== ${name}`);
  const result = await work();
  console.log(`=== ${name}: ${Math.round((performance.now() - startedMs) / 1000)} s`);
  return result;
}

function fail(title, message) {
  total.failed++;
  failures.push({ title, message });
}

let isPrepared = true;
for (const command of PREPARATION) isPrepared &&= await runCommand(command);
if (isPrepared) {
  for (const group of GROUPS) {
    await Promise.all(group.map((each) => ('script' in each ? runSuite(each) : runCommand(each))));
  }
}

if (unsteady.length > 0) {
  console.log('\nUnsteady: failed, then passed without the others. This list is to stay empty.');
  for (const title of unsteady) console.log(`- ${title}`);
}
if (failures.length > 0) console.log('\nFailed:');
for (const { title, message } of failures) console.log(stripVTControlCharacters(`● ${title}\n${message}\n`));
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = failures.length === 0 ? 0 : 1;
