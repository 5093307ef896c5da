/**
 * Keeps a service busy until it is killed: node attacker.mjs NAME URL [CLIENT]. A process of its own, so that what it
 * reads takes nothing from the process that measures beside it.
 */
import { request } from 'node:http';
import { connect } from 'node:net';

const [name, url, client = '192.0.2.66'] = process.argv.slice(2);
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
/** Each unknown type is compared with all that there are. */
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

const ATTACKS = {
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
};

for (const attack of ATTACKS[name]()) void attack;

function repeat(times, once) {
  return Array.from({ length: times }, async () => {
    for (;;) {
      const status = await once().catch(() => 0);
      // A refused client that asks again at once could never be served.
      if (status !== 200) await new Promise((resolve) => setTimeout(resolve, 50));
    }
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

function posted(document, format, query = '') {
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': client };
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
    sent.on('error', reject).end(JSON.stringify(document));
  });
}

async function atlas() {
  const model = await (await fetch(`${url}/api/v1/model`)).json();
  return model.atlas_url.replace(/^\/atlas\/|\.json$/g, '');
}
