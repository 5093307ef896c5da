/**
 * npm run bench:jobs computes a job in one process without a queue, and in one, two and three processes that share it,
 * always with the same total number of workers. It also measures the queue's cost for each chunk and condition.
 *
 * Processes, Redis and this command share one machine. So the result is the cost of sharing, not the gain of more
 * machines. The cases take turns in every round, and each is compared with the first one of its round.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { runCommand } from '../dist/tools/cli/command.js';
import { BullChunkQueue } from '../dist/service/jobs/bull-chunk-queue.js';
import { RedisJobStore } from '../dist/service/jobs/redis-job-store.js';
import { median, printRows, rounded, wholeNumber } from './measure.mjs';
import { startService } from './service.mjs';

const PROCESSES = [1, 2, 3];
/** Common multiple of PROCESSES, so that each process gets as many workers. */
const WORKERS_STEP = 6;
const POLL_MS = 50;
const CHUNKS = 2_000;
/** Size of a condition result with a few groups. */
const OUTCOME_BYTES = 600;

const screen = (conditions) => ({
  inputs: { sugar: { node_set: '@stimulus/sugar', rate_hz: 150 } },
  duration_ms: 200,
  trials: 5,
  reports: { all: { node_set: { super_class: '*' } } },
  sweep: [{ set: 'seed', from: 1, to: conditions, step: 1 }],
});

await runCommand({
  name: 'bench:jobs',
  summary: 'Measures jobs on one, two and three processes, and the cost of the queue.',
  options: {
    connectome: {
      value: 'FILE',
      default: 'data/default.connectome',
      help: 'The connectome to serve.',
    },
    workers: { value: 'N', default: '6', help: 'Workers in all, a multiple of 6.' },
    conditions: { value: 'N', default: '600', help: 'Of 5 trials of 200 ms each.' },
    rounds: { value: 'N', default: '5', help: 'How often each case is measured.' },
    json: { help: 'Print JSON.' },
  },
  async run({ connectome, workers, conditions, rounds, json }) {
    const total = WORKERS_STEP * Math.ceil(wholeNumber('workers', workers, 600) / WORKERS_STEP);
    const document = screen(wholeNumber('conditions', conditions, 20_000));
    const redis = await startRedis();
    const groups = [];
    try {
      groups.push(await startGroup('without a queue', 1, { connectome, total }));
      for (const [at, count] of PROCESSES.entries()) {
        const variables = { REDIS_JOBS_URL: `${redis.url}/${at}` };
        groups.push(await startGroup('with Redis', count, { connectome, total, variables }));
      }
      for (let round = 0; round < wholeNumber('rounds', rounds, 1000); round++) {
        let first;
        for (const group of groups) {
          const seconds = await secondsOf(group.urls[0], document);
          first ??= seconds;
          group.seconds.push(seconds);
          group.ratios.push(seconds / first);
        }
      }
      const rows = groups.map(({ name, urls, seconds, ratios }) => ({
        case: name,
        processes: urls.length,
        workers: total,
        seconds: rounded(median(seconds), 2),
        ratio: rounded(median(ratios), 3),
      }));
      printRows(rows, json);
      printRows(await queueCost(`${redis.url}/9`), json);
    } finally {
      await Promise.all(groups.map(({ stop }) => stop()));
      await redis.stop();
    }
  },
});

async function secondsOf(url, document) {
  const startedMs = performance.now();
  const begun = await fetch(`${url}/api/v2/experiments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', prefer: 'respond-async' },
    body: JSON.stringify(document),
  });
  if (begun.status !== 202) throw new Error(`the job was answered with ${await begun.text()}`);
  for (;;) {
    const { status, error } = await (await fetch(url + begun.headers.get('location'))).json();
    if (status === 'successful') return (performance.now() - startedMs) / 1000;
    if (status === 'failed') throw new Error(error.error);
    await new Promise((next) => setTimeout(next, POLL_MS));
  }
}

/**
 * Cost of an empty chunk and of a stored condition: in wall time, and in processor time of Redis and of this process,
 * which does not depend on other load of the machine.
 */
async function queueCost(url) {
  const redis = new Redis(url, { maxRetriesPerRequest: null });
  const connect = () => new Redis(url, { maxRetriesPerRequest: null });
  const queue = new BullChunkQueue(redis, connect, 60_000);
  const chunks = Array.from({ length: CHUNKS }, (_, at) => ({
    job: 'bench',
    model: 'bench',
    phase: 0,
    from: at,
    to: at + 1,
    before: 0,
  }));
  let left = CHUNKS;
  const times = [await cpuTimes(redis)];
  await queue.add(chunks);
  times.push(await cpuTimes(redis));
  await new Promise((resolve) =>
    queue.start({
      model: 'bench',
      atOnce: 4,
      hasRoom: () => true,
      compute: async () => void (--left === 0 && resolve()),
      giveUp: async () => undefined,
    }),
  );
  times.push(await cpuTimes(redis));
  const store = new RedisJobStore(redis, {
    perClient: 9,
    atOnce: 9,
    brainMsPerClient: 1e9,
    resultBytes: 1e9,
    kept: 9,
    storedForMs: 60_000,
  });
  const record = { id: 'bench', client: 'bench', brainMs: 1, conditions: CHUNKS, createdMs: Date.now() };
  await store.create(record);
  await store.begin('bench');
  const outcome = Buffer.alloc(OUTCOME_BYTES, 'outcome');
  times.push(await cpuTimes(redis));
  for (let index = 0; index < CHUNKS; index++) {
    await store.keep('bench', { index, outcome, brainMs: 1, costMs: 1 }, CHUNKS);
  }
  times.push(await cpuTimes(redis));
  await queue.close();
  redis.disconnect();
  const [start, added, done, keepFrom, kept] = times;
  return [
    ['add a chunk', start, added],
    ['hand out a chunk', added, done],
    ['keep a condition', keepFrom, kept],
  ].map(([what, from, to]) => ({
    what,
    wallMs: rounded((to.wallMs - from.wallMs) / CHUNKS, 3),
    redisCpuMs: rounded((to.redisMs - from.redisMs) / CHUNKS, 3),
    ownCpuMs: rounded((to.ownMs - from.ownMs) / CHUNKS, 3),
  }));
}

async function cpuTimes(redis) {
  const info = await redis.info('cpu');
  const seconds = ['sys', 'user'].map((name) =>
    Number(new RegExp(`^used_cpu_${name}:(.*)$`, 'm').exec(info)[1]),
  );
  const { user, system } = process.cpuUsage();
  return {
    wallMs: performance.now(),
    redisMs: 1000 * (seconds[0] + seconds[1]),
    ownMs: (user + system) / 1000,
  };
}

/** Starts processes that divide the workers among them. */
async function startGroup(name, count, { connectome, total, variables = {} }) {
  const services = await Promise.all(
    Array.from({ length: count }, () =>
      startService(connectome, {
        WORKERS: String(total / count),
        ROLE: 'worker',
        BACKEND: 'cpu',
        ...variables,
      }),
    ),
  );
  return {
    name,
    urls: services.map(({ url }) => url),
    seconds: [],
    ratios: [],
    stop: () => Promise.all(services.map((service) => service.stop())),
  };
}

/** A port that was free a moment ago. */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

async function startRedis() {
  const port = await freePort();
  const directory = mkdtempSync(join(tmpdir(), 'bench-jobs-'));
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'yes'];
  const child = spawn('redis-server', [...options, '--dir', directory], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const url = `redis://127.0.0.1:${port}`;
  const redis = new Redis(url, { retryStrategy: () => POLL_MS });
  redis.on('error', () => undefined);
  const info = await redis.info('server');
  redis.disconnect();
  // Another server may have taken the port, because Redis cannot choose one.
  if (!info.includes(`process_id:${child.pid}\r`)) throw new Error(`another Redis answers at ${url}`);
  return {
    url,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
      rmSync(directory, { recursive: true });
    },
  };
}
