/**
 * npm run bench:http measures latency and throughput of a whole service, over HTTP on the loopback.
 *
 * The service is a separate process without rate limit and with one worker, unless WORKERS is set.
 * "uncached" sends another seed with every request, "cached" the same request again and again. All clients
 * share the machine with the service, so the results are lower bounds. --beside compares runs alone with
 * runs beside open experiments that would use the whole machine.
 */
import autocannon from 'autocannon';
import { createHash } from 'node:crypto';
import { runCommand } from '../dist/tools/cli/command.js';
import { median, percentile, printRows, rounded, wholeNumber } from './measure.mjs';
import { startService } from './service.mjs';

const CASES = ['drive', 'full'].flatMap((view) =>
  ['identity', 'gzip'].flatMap((encoding) =>
    [false, true].flatMap((cached) =>
      [1, 16].map((connections) => ({ view, encoding, cached, connections })),
    ),
  ),
);
/** Representative cases: many clients, one client, and answers from the cache. */
const BRIEF_CASES = [
  { view: 'drive', encoding: 'identity', cached: false, connections: 16 },
  { view: 'drive', encoding: 'identity', cached: false, connections: 1 },
  { view: 'drive', encoding: 'identity', cached: true, connections: 16 },
];
/** Seeds of uncached requests start here, so that none was asked for before. */
const FIRST_SEED = 1_000_000;
/** Seed of cached requests, and of the answer whose digest is shown. */
const FIXED_SEED = 42;
/** Load of --beside: one of two workers is left for runs; the other gets more experiments than it can compute. */
const WORKERS_BESIDE = 2;
const EXPERIMENTS_BESIDE = 4;
const BESIDE_CASES = [1, 16].map((connections) => ({
  view: 'drive',
  encoding: 'identity',
  cached: false,
  connections,
}));

await runCommand({
  name: 'bench:http',
  summary: 'Measures latency and runs a second of a service on this machine.',
  options: {
    connectome: {
      value: 'FILE',
      default: 'data/default.connectome',
      help: 'The connectome to serve.',
    },
    stimulus: { value: 'ID', default: 'sugar', help: 'The stimulus of every request.' },
    seconds: { value: 'N', default: '5', help: 'How long each case is measured.' },
    requests: { value: 'N', help: 'So many of each case instead, however long they take.' },
    rounds: {
      value: 'N',
      default: '1',
      help: 'So often, all cases in turn; the rows are medians. For a machine that others use too.',
    },
    brief: {
      help: 'Three cases alone: not cached with 16 connections and with one, and cached with 16.',
    },
    beside: {
      help: 'Instead: the p50 of runs alone and beside open experiments, in turn, with two workers.',
    },
    json: { help: 'Print the rows as JSON, and nothing else.' },
  },
  async run(options) {
    const extent =
      options.requests === undefined
        ? { duration: wholeNumber('seconds', options.seconds, 600) }
        : // The load generator checks only at each sample whether it is done.
          { amount: wholeNumber('requests', options.requests, 1_000_000), sampleInt: 50 };
    const rounds = wholeNumber('rounds', options.rounds, 1000);
    const service = await startService(
      options.connectome,
      options.beside
        ? { WORKERS: String(WORKERS_BESIDE), EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '0' }
        : { WORKERS: process.env.WORKERS ?? '1' },
    );
    try {
      const body = (seed) => JSON.stringify({ stimulus: options.stimulus, seed });
      if (options.beside) {
        const rows = await measureBeside(service.url, extent, rounds, body);
        printRows(rows, options.json);
        return rows.some(({ failed }) => failed > 0) ? 1 : 0;
      }
      const firstTen = [];
      for (let seed = 100; seed < 110; seed++) firstTen.push(await timeOnServer(service.url, body(seed)));
      const cases = options.brief ? BRIEF_CASES : CASES;
      const measured = cases.map(() => []);
      let nextSeed = FIRST_SEED;
      for (let round = 0; round < rounds; round++) {
        for (const [i, each] of cases.entries()) {
          measured[i].push(
            await measure(service.url, each, extent, body(FIXED_SEED), () =>
              body(each.cached ? FIXED_SEED : nextSeed++),
            ),
          );
        }
      }
      const rows = measured.map(summary);
      if (!options.json) {
        console.log(
          `first request ${firstTen[0].toFixed(1)} ms, median of the next nine ${median(firstTen.slice(1)).toFixed(1)} ms (as the service says)\n`,
        );
      }
      printRows(rows, options.json);
      return rows.some(({ failed }) => failed > 0) ? 1 : 0;
    } finally {
      await service.stop();
    }
  },
});

/**
 * @param extent of the measurement, in autocannon's words
 * @param fixed the body whose answer gives the digest
 * @param next the body of the next request that is timed
 */
async function measure(url, { view, encoding, cached, connections }, extent, fixed, next) {
  const path = `/api/v1/run?view=${view}`;
  const headers = { 'content-type': 'application/json', 'accept-encoding': encoding };
  const answer = await fetch(url + path, { method: 'POST', headers, body: fixed });
  const digest = createHash('sha256')
    .update(Buffer.from(await answer.arrayBuffer()))
    .digest('hex');

  const latenciesMs = [];
  const run = autocannon({
    url,
    connections,
    ...extent,
    requests: [{ method: 'POST', path, headers, setupRequest: (request) => ({ ...request, body: next() }) }],
  });
  run.on('response', (_client, status, _bytes, ms) => {
    if (status === 200) latenciesMs.push(ms);
  });
  const result = await run;
  return {
    view,
    encoding,
    cached,
    connections,
    p50Ms: rounded(percentile(latenciesMs, 0.5), 2),
    p99Ms: rounded(percentile(latenciesMs, 0.99), 2),
    runsPerSecond: rounded(latenciesMs.length / result.duration, 0),
    failed: result.non2xx + result.errors + result.timeouts,
    digest: digest.slice(0, 16),
  };
}

/** The p50 of runs without and with open experiments, one after the other in each round; the rows are medians. */
async function measureBeside(url, extent, rounds, body) {
  let nextSeed = FIRST_SEED;
  const next = () => body(nextSeed++);
  const measured = BESIDE_CASES.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, each] of BESIDE_CASES.entries()) {
      const alone = await measure(url, each, extent, body(FIXED_SEED), next);
      const load = await startExperiments(url);
      const beside = await measure(url, each, extent, body(FIXED_SEED), next);
      const trials = await load.stop();
      measured[i].push({
        connections: each.connections,
        aloneP50Ms: alone.p50Ms,
        besideP50Ms: beside.p50Ms,
        ratio: beside.p50Ms / alone.p50Ms,
        trials,
        failed: alone.failed + beside.failed + (trials === 0 ? 1 : 0),
      });
    }
  }
  return measured.map((rows) => {
    const of = (key) => rows.map((row) => row[key]);
    return {
      connections: rows[0].connections,
      aloneP50Ms: rounded(median(of('aloneP50Ms')), 2),
      besideP50Ms: rounded(median(of('besideP50Ms')), 2),
      ratio: rounded(median(of('ratio')), 2),
      failed: of('failed').reduce((sum, failed) => sum + failed, 0),
    };
  });
}

/** Open experiments that follow one another until they are stopped; resolves when each has begun. */
async function startExperiments(url) {
  const stop = new AbortController();
  let trials = 0;
  const experiment = {
    inputs: { sugar: { node_set: '@stimulus/sugar', rate_hz: 150 } },
    duration_ms: 1000,
    trials: 1,
    sweep: [{ set: 'seed', from: 1, to: 600, step: 1 }],
  };
  const post = () =>
    fetch(`${url}/api/v2/experiments?format=ndjson`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(experiment),
      signal: stop.signal,
    });
  const client = async (first) => {
    for (let response = first; !stop.signal.aborted; response = await post()) {
      if (!response.ok) throw new Error(`an experiment was answered with ${response.status}`);
      for await (const piece of response.body) trials += Buffer.from(piece).toString().split('\n').length - 1;
    }
  };
  const first = await Promise.all(Array.from({ length: EXPERIMENTS_BESIDE }, post));
  const clients = first.map((response) =>
    client(response).catch((error) => {
      if (!stop.signal.aborted) throw error;
    }),
  );
  return {
    stop: async () => {
      stop.abort();
      await Promise.all(clients);
      return trials;
    },
  };
}

/** Medians over the rounds of a case; failures add up. */
function summary(rounds) {
  const of = (key) => rounds.map((row) => row[key]);
  return {
    ...rounds[0],
    p50Ms: rounded(median(of('p50Ms')), 2),
    p99Ms: rounded(median(of('p99Ms')), 2),
    runsPerSecond: rounded(median(of('runsPerSecond')), 0),
    failed: of('failed').reduce((sum, failed) => sum + failed, 0),
  };
}

/** Uses Server-Timing, because this process is new too and its own first request is slow. */
async function timeOnServer(url, body) {
  const answer = await fetch(`${url}/api/v1/run?view=full`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  await answer.arrayBuffer();
  return Number(/total;dur=([\d.]+)/.exec(answer.headers.get('server-timing'))[1]);
}
