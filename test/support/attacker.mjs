/**
 * Keeps a service busy until it is killed: node attacker.mjs NAME URL [CLIENT]. Without a name it prints the names. It is
 * a separate process, so that its reading does not slow the measuring process.
 */
import { request } from 'node:http';
import { connect } from 'node:net';

const [name, url = 'http://localhost', client = '192.0.2.66'] = process.argv.slice(2);
const { hostname, port } = new URL(url);

/** Six reports of all neurons by neuron: 835,530 rows of a trial of 1 ms. */
const WIDE = {
  inputs: { a: { node_set: '@stimulus/sugar', rate_hz: 100 } },
  duration_ms: 1,
  trials: 1,
  reports: Object.fromEntries(
    Array.from({ length: 6 }, (_, i) => [
      `r${i}`,
      { node_set: '@all', type: 'rate', group_by: ['neuron'], start_ms: 0, end_ms: 1 },
    ]),
  ),
};
/** Each unknown type is compared with all known types. */
const UNKNOWN = {
  on_missing: 'skip',
  duration_ms: 1,
  inputs: { a: { node_set: Array.from({ length: 9000 }, (_, i) => `Unknown${i}*`) } },
  reports: { a: { node_set: '@all' } },
};
/** Six inputs of all neurons: a trial of 1 ms takes a second of a worker. */
const HEAVY = {
  inputs: Object.fromEntries(
    Array.from({ length: 6 }, (_, i) => [`i${i}`, { node_set: '@all', rate_hz: 500 }]),
  ),
  duration_ms: 1,
  trials: 100,
  reports: { a: { node_set: '@channel/escape' } },
};

let seed = 0;

/** An answer of some 200 kB, which is stored: each further one is free. */
const STORED = {
  seed: 1,
  duration_ms: 1,
  trials: 1,
  inputs: { a: { node_set: '@stimulus/sugar' } },
  reports: { a: { node_set: ['LC10*', 'LC12', 'LC17', 'LC18'], group_by: ['neuron'] } },
};

const RATES = Array.from({ length: 60_000 }, (_, i) => i);
/** A session of 60,000 rates in time, with six reports of the whole brain. */
const LONG_SESSION = {
  duration_ms: 6_000,
  inputs: {
    a: {
      module: 'poisson',
      node_set: '@stimulus/sugar',
      rate_hz: { times_ms: RATES.map((i) => i / 10), values: RATES.map((i) => i % 97) },
    },
  },
  reports: Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`r${i}`, { node_set: '@all' }])),
};

const SMALL_SESSION = { inputs: { a: { node_set: '@stimulus/sugar', rate_hz: 100 } }, reports: {} };

/** A job of 60,000 rates in time and 256 conditions: it takes long to plan, and is refused if others are under way. */
const LONG_JOB = {
  ...LONG_SESSION,
  sweep: [{ set: 'inputs.a.scale', values: Array.from({ length: 256 }, (_, i) => i / 256) }],
  trials: 1,
};

/** 16 conditions of 60,000 rates in time each: `scale` makes every condition's rates anew. */
const SCALES = {
  ...LONG_SESSION,
  reports: {},
  sweep: [{ set: 'inputs.a.scale', values: Array.from({ length: 16 }, (_, i) => i / 16) }],
  trials: 1,
};

/** Statuses of a step: the budget of a minute, or the memory of answers, may be used up. */
const ANSWERED = [200, 429, 503];

const ATTACKS = {
  /** A step with 10,000 rows, asked for again 8 times on each of 800 connections. Nothing of the answers is read. */
  unread: async () => {
    const path = await wideSession();
    await stepped(path, WIDE_STEP);
    const body = JSON.stringify(WIDE_STEP);
    const head = `Host: x\r\nX-Forwarded-For: ${client}\r\nContent-Type: application/json`;
    const one = `POST ${path}/steps HTTP/1.1\r\n${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    for (let at = 0; at < 800; at++) {
      const socket = connect(Number(port), hostname).on('error', () => undefined);
      socket.pause();
      // More than the buffers of the system take.
      socket.write(one.repeat(8));
      if (at % 40 === 0) await new Promise((resolve) => setTimeout(resolve, 50));
    }
    setInterval(() => undefined, 1000);
  },
  /** Jobs that are refused after they were planned, because four others of the client are under way. */
  jobs: () => {
    const asJob = { prefer: 'respond-async' };
    const others = Array.from({ length: 4 }, () => posted(HEAVY, 'json', '', asJob));
    return repeat(4, async () => {
      for (const status of await Promise.all(others)) only([202], status);
      return only([503], await posted(LONG_JOB, 'json', '', asJob));
    });
  },
  /** The document of a session whose steps have set 4,000 rates, on 40 connections. */
  'stepped-documents': () => {
    const path = steppedSession();
    return repeat(40, async () => (await asked('GET', `${await path}/document`)).status);
  },
  /** 60 pipelined searches of 60 bytes on each of 40 connections. */
  searches: () => repeat(40, () => pipelined(60, '/api/v2/neurons?type=*&limit=0')),
  cards: () => {
    const path = atlas();
    return repeat(40, async () => pipelined(60, `/atlas/${await path}/types/1`));
  },
  parquet: () => repeat(4, () => posted(WIDE, 'parquet')),
  csv: () => repeat(4, () => posted(WIDE, 'csv')),
  'dry-runs': () => repeat(4, () => posted(UNKNOWN, 'json', '&dry_run=true')),
  heavy: () => repeat(4, () => posted(HEAVY, 'json')),
  scales: () => repeat(4, () => posted(SCALES, 'json')),
  stored: () => repeat(40, () => posted(STORED, 'json')),
  /** The document of a session, of some 800 kB, on 40 connections. */
  documents: () => documents(40),
  'many-documents': () => documents(400),
  /** Sessions of 60,000 rates in time, each opened and ended. */
  openings: () =>
    repeat(4, async () => {
      const opened = await asked('POST', '/api/v2/sessions', LONG_SESSION);
      if (opened.location !== undefined) await asked('DELETE', opened.location);
      return opened.status === 201 ? 200 : opened.status;
    }),
  /** Steps of four sessions with 60,000 rates in time. */
  steps: () =>
    Array.from({ length: 4 }, async () => {
      const path = await longSession();
      for (let t_ms = LONG_SESSION.duration_ms; ; t_ms++) {
        await stepped(path, { t_ms, duration_ms: 1 });
      }
    }),
  /** Steps of eight sessions with 10,000 rows and the rates of 1,000 neurons each, which the main thread writes. */
  'wide-steps': () =>
    Array.from({ length: 8 }, async () => {
      const path = await sessionOf({
        inputs: { a: { node_set: 'LC10*', rate_hz: 500 } },
        reports: { a: STORED.reports.a, i: { node_set: '@all', type: 'inputs' } },
      });
      for (let t_ms = 0; ; t_ms += 20) {
        await stepped(path, { t_ms, duration_ms: 20 });
      }
    }),
  /** One step with 10,000 rows, which is asked for again and again on 40 connections. */
  'repeated-steps': () => {
    const path = wideSession();
    return repeat(40, async () =>
      only(ANSWERED, (await asked('POST', `${await path}/steps`, WIDE_STEP)).status),
    );
  },
  /** Branches of a session with a silence of 800 kB, which silence other neurons. */
  silences: () => {
    const silence = [{ type: Array.from({ length: 9000 }, (_, i) => `${i}${'x'.repeat(85)}`) }];
    const path = sessionOf({ ...SMALL_SESSION, on_missing: 'skip', silence });
    return repeat(4, () => branched(path, { silence: ['LC4'] }));
  },
  /** Branches of a session at 4.9 s, whose only step raises a rate: it draws 4.9 s of trains. */
  'raised-rates': () => {
    const path = lateSession();
    return repeat(4, async () => {
      const { status, location } = await asked('POST', `${await path}/branches`, {});
      if (location === undefined) return status;
      const step = { t_ms: 4900, duration_ms: 1, rates_hz: { a: 500 } };
      const answer = await asked('POST', `${location}/steps`, step);
      await asked('DELETE', location);
      return only(ANSWERED, answer.status);
    });
  },
  branches: () => {
    const path = longSession();
    let times = 0;
    return repeat(4, () => branched(path, times++ % 2 === 0 ? {} : { silence: ['LC*'] }));
  },
};

function documents(connections) {
  const path = longSession();
  return repeat(connections, async () => (await asked('GET', `${await path}/document`)).status);
}

async function lateSession() {
  const path = await sessionOf({ inputs: { a: { node_set: 'LC*', rate_hz: 0 } }, reports: {} });
  for (let t_ms = 0; t_ms < 4900; t_ms += 700) {
    await stepped(path, { t_ms, duration_ms: 700 });
  }
  return path;
}

/** Branches a session, and ends the branch. */
async function branched(path, changes) {
  const answer = await asked('POST', `${await path}/branches`, changes);
  if (answer.location !== undefined) await asked('DELETE', answer.location);
  return answer.status === 201 ? 200 : answer.status;
}

function repeat(times, once) {
  return Array.from({ length: times }, async () => {
    for (;;) {
      const status = await once().catch(() => 0);
      // A refused client that asks again at once could never be served.
      if (status !== 200) await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });
}

/** Takes a step. If it is refused for now, it asks again, as clients should. */
async function stepped(path, step) {
  while (only(ANSWERED, (await asked('POST', `${path}/steps`, step)).status) !== 200) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Ends this process if the service refuses an attack for another reason than its limits: it would attack nothing. */
function only(statuses, status) {
  if (statuses.includes(status)) return status;
  console.error(`The attack ${name} got the status ${status}.`);
  process.exit(1);
}

async function sessionOf(document) {
  const { status, location } = await asked('POST', '/api/v2/sessions', document);
  only([201], status);
  return location;
}

const longSession = () => sessionOf(LONG_SESSION);
const wideSession = () =>
  sessionOf({
    inputs: { a: { node_set: '@all', rate_hz: 100 } },
    reports: { s: { node_set: '@all', type: 'spikes' } },
  });
const WIDE_STEP = { t_ms: 0, duration_ms: 20 };

async function steppedSession() {
  const names = Array.from({ length: 16 }, (_, i) => `i${i}`);
  const ratesOf = (rateHz) => Object.fromEntries(names.map((name) => [name, rateHz]));
  const inputs = Object.fromEntries(names.map((name) => [name, { node_set: '@MN9', rate_hz: 0 }]));
  const location = await sessionOf({ inputs, reports: {} });
  for (let t_ms = 0; t_ms < 250; t_ms++) {
    const step = { t_ms, duration_ms: 1, rates_hz: ratesOf(t_ms % 97) };
    only([200], (await asked('POST', `${location}/steps`, step)).status);
  }
  return location;
}

function asked(method, path, body) {
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': client };
  return new Promise((resolve, reject) => {
    const sent = request(url + path, { method, headers }, (answer) =>
      answer
        .on('error', reject)
        .on('end', () => resolve({ status: answer.statusCode, location: answer.headers.location }))
        .resume(),
    );
    sent.on('error', reject).end(body && JSON.stringify(body));
  });
}

function pipelined(count, path) {
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    const one = `GET ${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${client}\r\n\r\n`;
    let answers = 0;
    socket.on('error', () => resolve(0)).on('close', () => resolve(0));
    socket.on('data', (bytes) => {
      answers += bytes.toString('latin1').split('HTTP/1.1 ').length - 1;
      if (answers < count) return;
      socket.destroy();
      resolve(200);
    });
    socket.write(one.repeat(count));
  });
}

function posted(document, format, query = '', more = {}) {
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': client, ...more };
  return new Promise((resolve, reject) => {
    const sent = request(
      `${url}/api/v2/experiments?format=${format}${query}`,
      { method: 'POST', headers },
      (answer) =>
        answer
          .on('error', reject)
          .on('end', () => resolve(answer.statusCode))
          .resume(),
    );
    // Another seed for each, because equal experiments get stored answers.
    sent.on('error', reject).end(JSON.stringify({ seed: seed++, ...document }));
  });
}

async function atlas() {
  const model = await (await fetch(`${url}/api/v1/model`)).json();
  return model.atlas_url.replace(/^\/atlas\/|\.json$/g, '');
}

// A benchmark that is killed leaves no attacker.
process.once('disconnect', () => process.exit());
if (name === undefined) console.log(Object.keys(ATTACKS).join(' '));
else void ATTACKS[name]();
