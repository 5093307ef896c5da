/**
 * Clients that ask for as much of version 2 as they can, and their effect on others: two workers, two cores. Times are
 * compared with those of the same service without them.
 */
import type { ChildProcess } from 'node:child_process';
import { Agent, request, type ClientRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { LEAVING_BYTES_PER_CLIENT } from '../../src/service/limits/limits.js';
import { connectomeFile } from '../support/connectomes.js';
import { sendRun } from '../support/load.js';
import { startProcess, until, type ServiceProcess } from '../support/service-process.js';
import { spawnEnding } from '../support/spawn-ending.js';
import { extent, IS_FULL, observed, percentile } from './extent.js';

const PATH = '/api/v2/experiments';
const JSON_TYPE = { 'content-type': 'application/json' };
/** Time for runs of version 1, one after another. */
const MEASURE_MS = extent({ short: 1_000, full: 15_000 });
const SMALL_SAMPLES = extent({ short: 9, full: 30 });
/** Runs before the first measurement, because code of a service that has just started is not compiled yet. */
const WARM_UP = { runsMs: extent({ short: 500, full: 15_000 }), samples: 2 };
/** Other programs of a test machine may hold a core for a while; starvation shows in every round. */
const ROUNDS = 3;
/** Five times the ratios that are seen on an idle machine: 2 to 3, and 2 to 10. */
const MAX_RUN_RATIO = 15;
const MAX_EXPERIMENT_RATIO = 50;
/** Runs, one after another, that may be answered while a health check waits. */
const MAX_RUNS_BEFORE_HEALTH = 20;

/** A trial of 1 ms that takes a worker about a second: it draws 840,000 trains. */
const HEAVY = {
  duration_ms: 1,
  inputs: Object.fromEntries(
    [...'abcdef'].map((name) => [name, { module: 'poisson', node_set: '@all', rate_hz: 500 }]),
  ),
  reports: {},
};
/** 835,530 rows of one trial of 1 ms, which take several seconds to write. */
const LONG_ANSWER = {
  duration_ms: 1,
  trials: 1,
  inputs: {},
  reports: Object.fromEntries(
    [...'abcdef'].map((name) => [name, { node_set: '@all', group_by: ['neuron'] }]),
  ),
};
const SMALL = {
  duration_ms: 200,
  trials: 5,
  inputs: { sugar: { module: 'poisson', node_set: '@sugar', rate_hz: 100 } },
};
const BUDGET = 300;
/** Answers that were refused, after which the bound holds. */
const UNREAD_REFUSED = 100;
/** Memory of 800 connections, of the answers that the thread has just written, and of objects that V8 has not freed yet. */
const SPARE_BYTES = 192 * 2 ** 20;
/** Names of attacks in test/support/attacker.mjs. */
const OFTEN = 'searches cards parquet csv dry-runs heavy stored branches documents openings';
const SELDOM =
  'many-documents unread jobs scales stepped-documents steps wide-steps repeated-steps silences raised-rates';
const ATTACKS = extent({ short: OFTEN, full: `${OFTEN} ${SELDOM}` }).split(' ');

let service: ServiceProcess;
let attacker: ChildProcess | undefined;
const open: ClientRequest[] = [];
/** Statuses of the answers that have begun. */
const statuses: number[] = [];
function leave(): void {
  attacker?.kill('SIGKILL');
  for (const each of open.splice(0)) each.destroy();
  statuses.length = 0;
}
afterEach(leave);
/** Clients leave first, because a service that stops waits for them. */
function stop() {
  leave();
  return service.stop();
}

async function start(variables: Record<string, string> = {}): Promise<void> {
  service = await startProcess({
    CONNECTOME_FILE: await connectomeFile('default'),
    WORKERS: '2',
    CACHE_BYTES: '0',
    LOG_LEVEL: 'warn',
    TRUST_PROXY: 'loopback',
    ...variables,
  });
  await service.untilReady();
}

/** Sends a document and reads nothing of its answer. */
function begin(document: object, client: string): void {
  const headers = { ...JSON_TYPE, 'x-forwarded-for': client };
  const sent = request(`${service.url}${PATH}?format=ndjson`, { method: 'POST', agent: false, headers });
  sent.on('error', () => undefined);
  sent.on('response', ({ statusCode }) => statuses.push(statusCode!));
  open.push(sent);
  sent.end(JSON.stringify(document));
}

async function post(document: object, client: string, headers: Record<string, string> = {}) {
  const startedMs = performance.now();
  const response = await fetch(service.url + PATH, {
    method: 'POST',
    headers: { ...JSON_TYPE, 'x-forwarded-for': client, ...headers },
    body: JSON.stringify(document),
  });
  const body = await response.text();
  const left = Number(response.headers.get('ratelimit-remaining'));
  return { status: response.status, body, left, ms: performance.now() - startedMs };
}

interface Times {
  /** Runs of version 1 that no other client asked for. */
  readonly runP99Ms: number;
  /** The longest health check: in ms, and in runs that were answered meanwhile. */
  readonly healthMs: number;
  readonly runsBeforeHealth: number;
  /** A small experiment of another client, the median. */
  readonly smallMs: number;
}

async function measure(seed: number, lasts = { runsMs: MEASURE_MS, samples: SMALL_SAMPLES }): Promise<Times> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const runs: number[] = [];
  const checks: Promise<void>[] = [];
  let healthMs = 0;
  let runsBeforeHealth = 0;
  const check = async () => {
    const [sentAt, ms] = [runs.length, await healthCheck()];
    healthMs = Math.max(healthMs, ms);
    runsBeforeHealth = Math.max(runsBeforeHealth, runs.length - sentAt);
  };
  for (const endMs = performance.now() + lasts.runsMs; performance.now() < endMs; seed++) {
    const run = await sendRun(service.url, { stimulus: 'sugar', duration_ms: 100, seed }, agent);
    expect(run.status).toBe(200);
    runs.push(run.ms);
    if (runs.length % 20 === 0) checks.push(check());
  }
  await Promise.all(checks);
  agent.destroy();
  const small: number[] = [];
  for (let at = 0; at < lasts.samples; at++) {
    const { status, ms } = await post({ ...SMALL, seed: seed + at }, '203.0.113.1');
    expect(status).toBe(200);
    small.push(ms);
  }
  return { runP99Ms: percentile(runs, 0.99), healthMs, runsBeforeHealth, smallMs: percentile(small, 0.5) };
}

/** The shorter of each time: others may have held a core during one measurement. */
function shorter(a: Times, b: Times): Times {
  return {
    runP99Ms: Math.min(a.runP99Ms, b.runP99Ms),
    healthMs: Math.min(a.healthMs, b.healthMs),
    runsBeforeHealth: Math.min(a.runsBeforeHealth, b.runsBeforeHealth),
    smallMs: Math.min(a.smallMs, b.smallMs),
  };
}

function healthCheck(): Promise<number> {
  const startedMs = performance.now();
  return new Promise((resolve, reject) => {
    request(`${service.url}/livez`, { agent: false }, (answer) => {
      answer.resume().on('end', () => resolve(performance.now() - startedMs));
    })
      .on('error', reject)
      .end();
  });
}

describe('beside one client that asks for all it can', () => {
  let first: Times;
  // The attacks of the short extent leave nothing to compute, so one service serves all.
  const begin = async () => {
    // With a budget most of these would end soon.
    await start({ EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '0' });
    await measure(0, WARM_UP);
    const [one, ...others] = [await measure(1_000_000), await measure(2_000_000), await measure(3_000_000)];
    first = others.reduce(shorter, one);
  };
  (IS_FULL ? beforeEach : beforeAll)(begin, 600_000);
  (IS_FULL ? afterEach : afterAll)(stop);

  it.each(ATTACKS)(
    'runs, health checks and small experiments of others take about as long as alone: %s',
    async (name) => {
      const rounds: object[] = [];
      // Seeds of its own, since equal experiments get stored answers.
      const seed = 10_000_000 * (1 + ATTACKS.indexOf(name));
      for (let round = 1; round <= ROUNDS; round++) {
        const alone = round === 1 ? first : await measure(seed + 1_000_000 * round);
        // A client of its own, since sessions of an earlier attack count for theirs.
        const client = `192.0.2.${1 + ATTACKS.indexOf(name)}`;
        attacker = spawnEnding(process.execPath, ['test/support/attacker.mjs', name, service.url, client], {
          stdio: 'inherit',
        });
        await sleep(1_000);
        const beside = await measure(seed + 1_000_000 * round + 500_000);
        expect(attacker.exitCode).toBeNull();
        attacker.kill('SIGKILL');
        rounds.push({ alone, beside });
        observed(
          `one client: ${name}`,
          `p99 of runs ${alone.runP99Ms.toFixed(1)} ms alone, ${beside.runP99Ms.toFixed(1)} ms beside; /livez at most ` +
            `${beside.healthMs.toFixed(0)} ms; a small experiment ${alone.smallMs.toFixed(0)} ms alone, ` +
            `${beside.smallMs.toFixed(0)} ms beside`,
        );
        if (
          beside.runP99Ms <= MAX_RUN_RATIO * alone.runP99Ms &&
          beside.runsBeforeHealth <= MAX_RUNS_BEFORE_HEALTH &&
          beside.smallMs <= MAX_EXPERIMENT_RATIO * alone.smallMs
        )
          return;
      }
      throw new Error(`Somebody was starved in every round: ${JSON.stringify(rounds)}`);
    },
    900_000,
  );
});

describe('answers that nobody reads', () => {
  afterEach(stop);

  it('take no more memory than they may, and the next ones are 503', async () => {
    await start();
    const bytes = async () => (await service.metric('process_resident_memory_bytes'))!;
    const answered = (status: number) => service.log().filter((line) => line['status'] === status).length;
    const beforeBytes = await bytes();
    attacker = spawnEnding(process.execPath, ['test/support/attacker.mjs', 'unread', service.url], {
      stdio: 'inherit',
    });
    await until(() => answered(503) >= UNREAD_REFUSED);
    const growthBytes = (await bytes()) - beforeBytes;
    expect(growthBytes).toBeLessThan(LEAVING_BYTES_PER_CLIENT + SPARE_BYTES);
    const other = { headers: { 'x-forwarded-for': '203.0.113.1' } };
    const search = await fetch(`${service.url}/api/v2/neurons?limit=10000`, other);
    expect([search.status, (await search.text()).length > 1_000_000]).toEqual([200, true]);
    observed(
      '800 connections with large answers that nobody reads',
      `${Math.round(growthBytes / 2 ** 20)} MiB more; ${answered(503)} answers were 503`,
    );
  });
});

describe('time of a core is paid', () => {
  afterEach(stop);

  it.each([
    ['a trial of 1 ms that takes a worker a second', { ...HEAVY, trials: 1 }],
    ['an answer of 835,530 rows about a trial of 1 ms', LONG_ANSWER],
  ])('%s', async (what, document) => {
    await start({ EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: String(BUDGET) });
    const small = await post(SMALL, '203.0.113.1');
    expect(small.left).toBe(BUDGET - 1);
    const costly = await post(document, '203.0.113.2');
    expect(costly.status).toBe(200);
    const { left } = await post(SMALL, '203.0.113.2');
    // A brain second buys 20 ms of a core by the price list; the machine may be a few times slower.
    observed(what, `${(costly.ms / 1000).toFixed(1)} s, ${BUDGET - 1 - left} brain seconds`);
    expect(BUDGET - 1 - left).toBeGreaterThan(costly.ms / 20 / 10);
    // The client repeats it until its budget is spent; then it is refused, and others are not.
    let last = costly;
    for (let times = 0; times < 30 && last.status === 200; times++)
      last = await post(document, '203.0.113.2');
    expect([last.status, JSON.parse(last.body).code]).toEqual([429, 'RATE_LIMITED']);
    expect((await post(SMALL, '203.0.113.1')).status).toBe(200);
  });
});

describe('a few clients that take all they may', () => {
  afterEach(stop);

  it('leave places of experiments to others, however slowly they read', async () => {
    await start({ EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '0' });
    for (const address of [1, 2, 3, 4]) {
      for (let at = 0; at < 4; at++) begin({ ...LONG_ANSWER, seed: at }, `198.51.100.${address}`);
    }
    await until(() => statuses.length === 16);
    // The first of each address found a place in any case.
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(12);
    expect(statuses.filter((status) => status === 200).length).toBeLessThan(16);
    // Each of these clients has a network of its own, since a network counts as one client.
    for (const client of ['203.0.113.1', '2001:db8:1:1::1', '2001:db8:2:1::1']) {
      expect((await post(SMALL, client)).status).toBe(200);
    }
    observed('four addresses with four answers each that nobody reads', 'others are answered');
  });

  it('leave places of jobs to others', async () => {
    await start();
    const job = { ...SMALL, duration_ms: 5000, trials: 100 };
    const asJob = { prefer: 'respond-async' };
    let begun = 0;
    for (let address = 1; address <= 16; address++) {
      for (let at = 0; at < 4; at++) {
        const { status } = await post({ ...job, seed: at }, `198.51.100.${address}`, asJob);
        if (status === 202) begun++;
      }
    }
    expect(begun).toBe(48 + 4);
    expect((await post(job, '203.0.113.1', asJob)).status).toBe(202);
    expect((await post(SMALL, '203.0.113.1')).status).toBe(200);
    observed('sixteen addresses with four jobs each', `${begun} begun; others begin theirs`);
  });
});
