/**
 * npm run bench:sessions measures sessions over HTTP: the time of a step, the number of flies in real time, runs of
 * version 1 beside them, and a long session against the replay of its document.
 *
 * The service is a process of its own with two workers; all clients share the machine with it, so they are plain
 * sockets: node:http would take as long as the brain. Clients of different loopback addresses are different clients,
 * since one may open eight sessions.
 */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCommand } from '../dist/tools/cli/command.js';
import { CodedError } from '../dist/engine/errors.js';
import { PHILOX_STREAM, PhiloxSequence } from '../dist/engine/stimulus/philox.js';
import { percentile, printRows, rounded, wholeNumber } from './measure.mjs';
import { startService } from './service.mjs';

const PATH = '/api/v2/sessions';
const STEP_MS = 20;
const SESSIONS_OF_CLIENT = 8;
const STIMULI = { sugar: 100, loom: 100, food: 100 };
/** Flies of the real-time case have these in turn: food lights up a large part of the brain. */
const STIMULI_IN_REAL_TIME = ['sugar', 'loom'];
const VARIABLES = { WORKERS: '2', EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '0', EXPERIMENT_BRAIN_SECONDS: '600' };
/** Food lasts no longer before its activity exceeds the limit of a session. */
const MAX_FLY_MS = 10_000;
const MEGABYTE = 1e6;
const WARM_UP_SECONDS = 2;
/** Brain time of all flies before they are measured: by then V8 has compiled all code of the service that runs again. */
const WARM_UP_OF_MANY_SECONDS = 10;

const END_OF_HEAD = '\r\n\r\n';

/** A client with a connection that stays open. It asks one thing after another. */
class Client {
  #received = '';
  #onAnswer;

  constructor(url, place) {
    const { hostname: host, port } = new URL(url);
    this.host = `${host}:${port}`;
    this.socket = connect({ host, port, localAddress: `127.0.0.${place + 1}`, noDelay: true });
    // Answers are ASCII, so their lengths are those of their texts.
    this.socket.setEncoding('latin1').on('data', (text) => this.#take(text));
  }

  async ask(method, path, body) {
    const text = body === undefined ? '' : JSON.stringify(body);
    const head = [
      ...[`${method} ${path} HTTP/1.1`, `host: ${this.host}`],
      ...(text === '' ? [] : ['content-type: application/json', `content-length: ${text.length}`]),
    ];
    const answered = new Promise((resolve) => (this.#onAnswer = resolve));
    this.socket.write(head.join('\r\n') + END_OF_HEAD + text);
    const { status, body: answer } = await answered;
    if (status >= 300) throw new CodedError('USAGE', `${method} ${path}: ${status} ${answer}`);
    return answer === '' ? undefined : JSON.parse(answer);
  }

  #take(text) {
    this.#received += text;
    const end = this.#received.indexOf(END_OF_HEAD);
    if (end < 0) return;
    const head = this.#received.slice(0, end);
    const begin = end + END_OF_HEAD.length;
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
    if (this.#received.length < begin + length) return;
    const body = this.#received.slice(begin, begin + length);
    this.#received = '';
    this.#onAnswer({ status: Number(head.slice('HTTP/1.1 '.length, end).split(' ', 1)[0]), body });
  }

  async open(document) {
    const { session } = await this.ask('POST', PATH, document);
    return new Session(this, `${PATH}/${session}`);
  }
}

class Session {
  tMs = 0;

  constructor(client, path) {
    this.client = client;
    this.path = path;
  }

  async step(durationMs, changes = {}) {
    const answer = await this.client.ask('POST', `${this.path}/steps`, {
      t_ms: this.tMs,
      duration_ms: durationMs,
      ...changes,
    });
    this.tMs = answer.t_ms;
    return answer;
  }

  end() {
    return this.client.ask('DELETE', this.path);
  }
}

await runCommand({
  name: 'bench:sessions',
  summary: 'Measures steps of sessions, alone and many at once, and replays a long one.',
  options: {
    connectome: {
      value: 'FILE',
      default: 'data/default.connectome',
      help: 'The connectome to serve.',
    },
    flies: { value: 'N', default: '40', help: 'Sessions in real time at once.' },
    seconds: { value: 'N', default: '10', help: 'How long each case is measured.' },
    minutes: {
      value: 'N',
      default: '1',
      help: 'Brain minutes of the session that is replayed, up to 10.',
    },
    json: { help: 'Print the rows as JSON, and nothing else.' },
  },
  async run(options) {
    const flies = wholeNumber('flies', options.flies, 40);
    const seconds = wholeNumber('seconds', options.seconds, 600);
    const minutes = wholeNumber('minutes', options.minutes, 10);
    const service = await startService(options.connectome, VARIABLES);
    try {
      const rows = [];
      // The first steps of a process are slow.
      await oneFly(service, 'sugar', WARM_UP_SECONDS);
      for (const stimulus of Object.keys(STIMULI)) rows.push(await oneFly(service, stimulus, seconds));
      await manyFlies(service, flies, WARM_UP_OF_MANY_SECONDS);
      rows.push(await manyFlies(service, flies, seconds), await runsBeside(service, 20, seconds));
      const replayed = await replay(service, minutes);
      printRows(rows, options.json);
      if (!options.json) console.log(`\n${minutes} min of a session and their replay: ${replayed.text}`);
      return replayed.areEqual ? 0 : 1;
    } finally {
      await service.stop();
    }
  },
});

/** The last quarter of all sessions is for clients that have none. */
function clientOf(fly) {
  return fly < 30 ? Math.floor(fly / SESSIONS_OF_CLIENT) : 50 + fly;
}

function documentOf(stimulus, seed) {
  return {
    inputs: { stimulus: { node_set: `@stimulus/${stimulus}`, rate_hz: STIMULI[stimulus] } },
    reports: { walk: { node_set: '@channel/walk' }, proboscis: { node_set: '@channel/proboscis' } },
    seed,
  };
}

async function oneFly({ url }, stimulus, seconds) {
  const client = new Client(url, 0);
  let session = await client.open(documentOf(stimulus, 1));
  const latenciesMs = [];
  const endMs = performance.now() + 1000 * seconds;
  while (performance.now() < endMs) {
    if (session.tMs >= MAX_FLY_MS) {
      await session.end();
      session = await client.open(documentOf(stimulus, latenciesMs.length));
    }
    const begin = performance.now();
    await session.step(STEP_MS);
    latenciesMs.push(performance.now() - begin);
  }
  await session.end();
  return summary(`one fly, ${stimulus}, as fast as it goes`, latenciesMs.slice(latenciesMs.length / 10));
}

/** Each fly asks for a step every 20 ms by its own clock; a step is as late as its answer is after its time. */
async function manyFlies(service, flies, seconds) {
  const before = residentMegabytes(service);
  const sessions = [];
  for (let fly = 0; fly < flies; fly++) {
    const client = new Client(service.url, clientOf(fly));
    sessions.push(await client.open(documentOf(STIMULI_IN_REAL_TIME[fly % 2], fly)));
  }
  const latenciesMs = [];
  const beginMs = performance.now() + 100;
  await Promise.all(
    sessions.map(async (session, fly) => {
      const ownMs = beginMs + (STEP_MS * fly) / flies;
      for (let step = 0; step < (1000 * seconds) / STEP_MS; step++) {
        const dueMs = ownMs + STEP_MS * step;
        const waitMs = dueMs - performance.now();
        if (waitMs > 0) await sleep(waitMs);
        await session.step(STEP_MS);
        latenciesMs.push(performance.now() - dueMs);
      }
    }),
  );
  const tookSeconds = (performance.now() - beginMs) / 1000;
  const each = (residentMegabytes(service) - before) / flies;
  for (const session of sessions) await session.end();
  return {
    ...summary(`${flies} flies in real time`, latenciesMs),
    note: `${Math.round(latenciesMs.length / tookSeconds)} steps a second, ${rounded(each, 1)} MB a session`,
  };
}

/** The p50 of runs of version 1, without and with flies in real time. */
async function runsBeside({ url }, flies, seconds) {
  let seed = 1_000_000;
  const client = new Client(url, 120);
  const runs = async () => {
    const latenciesMs = [];
    const endMs = performance.now() + 1000 * seconds;
    while (performance.now() < endMs) {
      const begin = performance.now();
      await client.ask('POST', '/api/v1/run?view=drive', { stimulus: 'sugar', seed: seed++ });
      latenciesMs.push(performance.now() - begin);
      await sleep(5);
    }
    return latenciesMs;
  };
  const alone = await runs();
  let isOver = false;
  const living = Array.from({ length: flies }, async (_, fly) => {
    const session = await new Client(url, clientOf(fly)).open(documentOf(STIMULI_IN_REAL_TIME[fly % 2], fly));
    for (let dueMs = performance.now() + fly; !isOver; dueMs += STEP_MS) {
      await sleep(Math.max(0, dueMs - performance.now()));
      await session.step(STEP_MS);
    }
    await session.end();
  });
  await sleep(500);
  const beside = await runs();
  isOver = true;
  await Promise.all(living);
  const ratio = percentile(beside, 0.5) / percentile(alone, 0.5);
  return {
    ...summary(`runs of version 1 beside ${flies} flies`, beside),
    note: `${rounded(percentile(alone, 0.5), 2)} ms alone, ratio ${rounded(ratio, 2)}`,
  };
}

/** Steps of random lengths with random rates; their spikes against those of the document, in all and of each group. */
async function replay(service, minutes) {
  const client = new Client(service.url, 0);
  const { reports, ...document } = documentOf('sugar', 1);
  const session = await client.open({ ...document, reports });
  const random = new PhiloxSequence(1, 0, PHILOX_STREAM.shuffle);
  const endMs = 60_000 * minutes;
  let spikes = 0;
  const begin = performance.now();
  while (session.tMs < endMs) {
    const durationMs = Math.min(endMs - session.tMs, 1 + random.nextBelow(1000));
    const changes = random.nextBelow(4) === 0 ? { rates_hz: { stimulus: random.nextBelow(120) } } : {};
    spikes += (await session.step(durationMs, changes)).spikes;
  }
  const seconds = (performance.now() - begin) / 1000;
  const experiment = await client.ask('GET', `${session.path}/document`);
  await session.end();
  const restMegabytes = residentMegabytes(service);
  let mostMegabytes = restMegabytes;
  const watch = setInterval(() => (mostMegabytes = Math.max(mostMegabytes, residentMegabytes(service))), 20);
  const replayBegin = performance.now();
  const answer = await fetch(`${service.url}/api/v2/experiments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(experiment),
  });
  const { conditions } = await answer.json();
  const replaySeconds = (performance.now() - replayBegin) / 1000;
  clearInterval(watch);
  const areEqual = conditions[0].spikes.mean === spikes;
  return {
    areEqual,
    text:
      `${spikes} spikes of all neurons, ${areEqual ? 'equal' : `but ${conditions[0].spikes.mean} in the replay`}; ` +
      `${rounded(seconds, 1)} s in steps, ${rounded(replaySeconds, 1)} s as an experiment; ` +
      `${rounded(restMegabytes, 0)} MB resident before it, at most ${rounded(mostMegabytes, 0)} in it`,
  };
}

function summary(name, latenciesMs) {
  return {
    case: name,
    steps: latenciesMs.length,
    p50Ms: rounded(percentile(latenciesMs, 0.5), 2),
    p99Ms: rounded(percentile(latenciesMs, 0.99), 2),
    maximumMs: rounded(percentile(latenciesMs, 1), 1),
    note: '',
  };
}

function residentMegabytes({ pid }) {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
  return (pages * 4096) / MEGABYTE;
}
