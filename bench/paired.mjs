/**
 * npm run bench:paired compares this checkout with another one, for example the state before a change, over HTTP.
 *
 * Both services run on this machine with the same connectome, without limits. Requests go to one and to the other in
 * turn, each with its own seed, so that changes of the machine affect both. A round has the requests of one case to
 * both. A row has the medians of rounds, and of the ratios within rounds. Answers must be equal. Two processes of one
 * build differ by a few per cent, depending on the pages of memory that they got: --starts repeats all of it with new
 * processes.
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runCommand } from '../dist/tools/cli/command.js';
import { CodedError } from '../dist/engine/errors.js';
import { median, percentile, printRows, rounded, wholeNumber } from './measure.mjs';
import { startService } from './service.mjs';

const RUN = '/api/v1/run?view=drive';
const EXPERIMENT = '/api/v2/experiments';
const experiment = (members) => (seed) => ({
  inputs: { sugar: { node_set: '@stimulus/sugar', rate_hz: 100 } },
  reports: { mn9: { type: 'rate', node_set: '@channel/proboscis' } },
  ...members,
  seed,
});
const CASES = [
  { name: 'run of sugar', path: RUN, requests: 100, body: (seed) => ({ stimulus: 'sugar', seed }) },
  { name: 'run of loom', path: RUN, requests: 100, body: (seed) => ({ stimulus: 'loom', seed }) },
  {
    name: 'experiment, 1 trial of 100 ms',
    path: EXPERIMENT,
    requests: 50,
    body: experiment({ duration_ms: 100, trials: 1 }),
  },
  {
    name: 'experiment, 100 trials of 100 ms',
    path: EXPERIMENT,
    requests: 5,
    body: experiment({ duration_ms: 100, trials: 100 }),
  },
  {
    name: 'experiment, 30 trials of 1 s',
    path: EXPERIMENT,
    requests: 3,
    body: experiment({ duration_ms: 1000, trials: 30 }),
  },
];
const OWN = new URL('../', import.meta.url);
const NO_LIMITS = { WORKERS: '2', EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '0' };
/** Members that differ between builds without being results. */
const OF_A_BUILD = new Set(['engine', 'model', 'id']);

await runCommand({
  name: 'bench:paired',
  summary: 'Compares this checkout with another one, over HTTP, request by request in turn.',
  options: {
    connectome: {
      value: 'FILE',
      default: 'data/default.connectome',
      help: 'The connectome that both serve.',
    },
    rounds: { value: 'N', default: '15', help: 'Rounds of each case and start.' },
    starts: { value: 'N', default: '3', help: 'How often both services are started anew.' },
    json: { help: 'Print the rows as JSON, and nothing else.' },
  },
  positionals: { usage: 'CHECKOUT', help: 'A directory of the other one, built.' },
  async run(options, [directory]) {
    const rounds = wholeNumber('rounds', options.rounds, 1000);
    const starts = wholeNumber('starts', options.starts, 100);
    const checkout = pathToFileURL(`${resolve(directory)}/`);
    const connectome = resolve(options.connectome);
    const measured = CASES.map(() => []);
    for (let start = 0; start < starts; start++) {
      const services = [];
      try {
        // Either is the first to start, in turn.
        for (const each of start % 2 === 0 ? [checkout, OWN] : [OWN, checkout]) {
          services.push({ ...(await startService(connectome, NO_LIMITS, each)), checkout: each });
        }
        const urlOf = (each) => services.find((service) => service.checkout === each).url;
        for (const [at, each] of CASES.entries()) {
          measured[at].push(await measure(each, urlOf(OWN), urlOf(checkout), rounds));
        }
      } finally {
        for (const { stop } of services) await stop();
      }
    }
    printRows(
      CASES.map(({ name }, at) => row(name, measured[at])),
      options.json,
    );
  },
});

async function measure({ name, path, requests, body }, ownUrl, otherUrl, rounds) {
  const found = { ownMs: [], otherMs: [], ratios: [] };
  // Round 0 warms up, and its answers are compared.
  for (let round = 0, seed = 1; round <= rounds; round++) {
    const times = { [ownUrl]: [], [otherUrl]: [] };
    for (let request = 0; request < requests; request++, seed++) {
      const order = (request + round) % 2 === 0 ? [ownUrl, otherUrl] : [otherUrl, ownUrl];
      const answers = [];
      for (const url of order) {
        const [ms, answer] = await timedPost(url + path, body(seed));
        times[url].push(ms);
        answers.push(answer);
      }
      if (round === 0 && resultOf(answers[0]) !== resultOf(answers[1])) {
        throw new CodedError('USAGE', `The answers of both checkouts differ: ${name}, seed ${seed}.`);
      }
    }
    if (round === 0) continue;
    const [ownMs, otherMs] = [ownUrl, otherUrl].map((url) => median(times[url]));
    found.ownMs.push(ownMs);
    found.otherMs.push(otherMs);
    found.ratios.push(ownMs / otherMs);
  }
  return found;
}

async function timedPost(url, body) {
  const begin = process.hrtime.bigint();
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const answer = await response.text();
  const ms = Number(process.hrtime.bigint() - begin) / 1e6;
  if (!response.ok) throw new CodedError('USAGE', `${url} was answered with ${response.status}: ${answer}`);
  return [ms, answer];
}

/** The results that both builds must agree on: all of a run, and the members of a condition that every build has. */
function resultOf(answer) {
  const { conditions, ...run } = JSON.parse(answer);
  const result =
    conditions?.map(({ spikes, synaptic_events, reports }) => [spikes, synaptic_events, reports]) ?? run;
  return JSON.stringify(result, (key, value) => (OF_A_BUILD.has(key) ? undefined : value));
}

function row(name, starts) {
  const ratios = starts.map((each) => median(each.ratios));
  const all = starts.flatMap((each) => each.ratios);
  return {
    case: name,
    ownMs: rounded(median(starts.flatMap((each) => each.ownMs)), 3),
    otherMs: rounded(median(starts.flatMap((each) => each.otherMs)), 3),
    ratio: rounded(median(all), 3),
    quartiles: `${percentile(all, 0.25).toFixed(3)}..${percentile(all, 0.75).toFixed(3)}`,
    ofStarts: ratios.map((ratio) => ratio.toFixed(3)).join(' '),
  };
}
