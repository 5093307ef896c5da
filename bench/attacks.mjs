/**
 * npm run bench:attacks measures runs of version 1 beside one client that asks for all it can: the attacks of
 * test/faults. Each attack gets a service of its own, with two workers and without budgets, and its runs are measured
 * before the attack and during it, so both share the state of the machine.
 */
import autocannon from 'autocannon';
import { execFileSync, spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { CodedError, describeValue } from '../dist/engine/errors.js';
import { runCommand } from '../dist/tools/cli/command.js';
import { percentile, printRows, rounded, wholeNumber } from './measure.mjs';
import { startService } from './service.mjs';

const ATTACKER = fileURLToPath(new URL('../test/support/attacker.mjs', import.meta.url));
const NAMES = execFileSync(process.execPath, [ATTACKER], { encoding: 'utf8' }).trim().split(' ');
const VARIABLES = {
  WORKERS: '2',
  CACHE_BYTES: '0',
  TRUST_PROXY: 'loopback',
  EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '0',
};
/** Attackers have machines of their own. Here one that reads and parses answers would take the cores of the service. */
const LOWEST_PRIORITY = constants.priority.PRIORITY_LOW;
/** Until the attacker has opened its connections. */
const BEGIN_MS = 1_000;
const HEALTH_EVERY_MS = 200;

await runCommand({
  name: 'bench:attacks',
  summary: 'Measures runs and health checks beside one client that asks for all it can.',
  options: {
    connectome: { value: 'FILE', default: 'data/default.connectome', help: 'The connectome to serve.' },
    attacks: { value: 'NAMES', default: NAMES.join(), help: 'A comma-separated list of attacks.' },
    seconds: {
      value: 'N',
      default: '5',
      help: 'How long runs are measured, without the attack and beside it.',
    },
    json: { help: 'Print the rows as JSON, and nothing else.' },
  },
  async run(options) {
    const seconds = wholeNumber('seconds', options.seconds, 600);
    const attacks = options.attacks.split(',');
    const unknown = attacks.find((name) => !NAMES.includes(name));
    if (unknown !== undefined) {
      throw new CodedError(
        'USAGE',
        `--attacks takes names of ${NAMES.join(', ')}, not ${describeValue(unknown)}.`,
      );
    }
    const rows = [];
    for (const name of attacks) rows.push(await measureBeside(name, options.connectome, seconds));
    printRows(rows, options.json);
    return rows.some(({ failed }) => failed > 0) ? 1 : 0;
  },
});

async function measureBeside(attack, connectome, seconds) {
  const service = await startService(connectome, VARIABLES);
  let attacker;
  try {
    // V8 compiles what the first runs need.
    await measure(service.url, 1, 0);
    const alone = await measure(service.url, seconds, 1);
    attacker = spawn(process.execPath, [ATTACKER, attack, service.url], {
      stdio: ['ignore', 2, 'inherit', 'ipc'],
    });
    setPriority(attacker.pid, LOWEST_PRIORITY);
    await sleep(BEGIN_MS);
    const beside = await measure(service.url, seconds, 2);
    return {
      attack,
      aloneP99Ms: rounded(alone.p99Ms, 2),
      besideP99Ms: rounded(beside.p99Ms, 2),
      ratio: rounded(beside.p99Ms / alone.p99Ms, 2),
      livezMs: rounded(beside.livezMs, 0),
      // An attacker that has ended found another fault than the limits.
      failed: alone.failed + beside.failed + (attacker.exitCode === null ? 0 : 1),
    };
  } finally {
    attacker?.kill('SIGKILL');
    await service.stop();
  }
}

/** Runs of one connection, one after another, and the slowest health check meanwhile. */
async function measure(url, seconds, round) {
  let seed = 10_000_000 * round;
  const latenciesMs = [];
  const body = () => JSON.stringify({ stimulus: 'sugar', duration_ms: 100, seed: seed++ });
  const run = autocannon({
    url,
    connections: 1,
    duration: seconds,
    requests: [
      {
        method: 'POST',
        path: '/api/v1/run?view=drive',
        headers: { 'content-type': 'application/json' },
        setupRequest: (request) => ({ ...request, body: body() }),
      },
    ],
  });
  run.on('response', (_client, status, _bytes, ms) => {
    if (status === 200) latenciesMs.push(ms);
  });
  let isOver = false;
  const checks = slowestHealthCheck(url, () => isOver);
  const { non2xx, errors, timeouts } = await run;
  isOver = true;
  return {
    p99Ms: percentile(latenciesMs, 0.99),
    livezMs: await checks,
    failed: non2xx + errors + timeouts,
  };
}

async function slowestHealthCheck(url, isOver) {
  let slowestMs = 0;
  while (!isOver()) {
    const startedMs = performance.now();
    await (await fetch(`${url}/livez`)).arrayBuffer();
    slowestMs = Math.max(slowestMs, performance.now() - startedMs);
    await sleep(HEALTH_EVERY_MS);
  }
  return slowestMs;
}
