/**
 * Takes the examples of the OpenAPI descriptions from the answers of a service that serves the brain that ships:
 * npm run openapi:examples -- http://localhost:8080, then npm run openapi.
 */
import { writeFileSync } from 'node:fs';
import { format } from 'oxfmt';
import options from '../.oxfmtrc.json' with { type: 'json' };

/** The file of examples of a version of the API. */
const targetOf = (version) => `src/service/api/${version}/openapi-examples.json`;
const [url = 'http://localhost:8080'] = process.argv.slice(2);

const run = async (request, view = 'full') => {
  const response = await fetch(`${url}/api/v1/run?view=${view}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status} to ${JSON.stringify(request)}`);
  return response.json();
};
const byId = (list, id) => list.find((entry) => entry.id === id);

const loom = await run({ stimulus: 'loom' });
const heat = await run({ stimulus: 'heat', duration_ms: 50 });
const model = await (await fetch(`${url}/api/v1/model`)).json();

const populations = [...model.stimuli, ...model.channels];
const selectors = populations.flatMap((population) => population.selectors);
const lengthOf = (value) => JSON.stringify(value).length;
const channel = byId(model.channels, 'escape');
const instances = {
  DriveRun: loom,
  FullRun: loom,
  Spikes: loom.spikes,
  ChannelRates: loom.channels,
  Drives: loom.drive,
  Frame: heat.frames[0],
  TopType: loom.top_types[0],
  Model: model,
  Source: model.sources[0],
  Licence: model.licence,
  Citation: model.citations[0],
  Pruning: model.pruning,
  SignRuleDescription: model.sign_rule,
  Stimulus: byId(model.stimuli, 'loom'),
  Channel: channel,
  Quantum: channel.quanta[0],
  DriveDescription: byId(model.drives, 'escape'),
  Parameters: model.parameters,
  WordParameter: model.parameters.stimulus,
  NumberParameter: model.parameters.duration_ms,
  RangeParameter: model.parameters.intensity,
  NetworkConstant: model.network[0],
  // No selector has every member, so each is taken from the shortest that has it.
  Selector: Object.assign({}, ...selectors.sort((a, b) => lengthOf(b) - lengthOf(a))),
};

const isObject = (value) => typeof value === 'object' && value !== null;
/** The first items of lists of objects are enough to show their form. */
const shortened = (value) => {
  if (Array.isArray(value)) return isObject(value[0]) ? value.slice(0, 2).map(shortened) : value;
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shortened(each)]));
};

/** Members that refer to other schemas have their examples there. */
const holdsObjects = (value) =>
  typeof value === 'object' && (Array.isArray(value) ? value.some(holdsObjects) : true);
const examples = Object.entries(instances).map(([schema, instance]) => [
  schema,
  Object.fromEntries(Object.entries(instance).filter(([, value]) => !holdsObjects(value))),
]);
const drive = await run({ stimulus: 'loom' }, 'drive');

await write('v1', {
  // Responses to {"stimulus": "loom"}, a frame of that to {"stimulus": "heat", "duration_ms": 50}, and the body of GET
  // /api/v1/model; members by schema.
  schemas: Object.fromEntries(examples),
  driveRun: drive,
  model: shortened(model),
});

/** Requests of the examples of version 2; the first one is answered in every format. */
const requests = {
  sugar: {
    summary: 'Sugar neurons at two rates; the rate of a motor neuron of the proboscis',
    value: {
      inputs: { sugar: { node_set: '@sugar' } },
      duration_ms: 200,
      trials: 2,
      reports: { mn9: { node_set: '@MN9', group_by: ['side'] } },
      sweep: [{ set: 'inputs.sugar.rate_hz', values: [50, 150] }],
    },
  },
  relay: {
    summary: 'Looming detectors with and without a relay, in a window of the trial',
    value: {
      inputs: {
        loom: { node_set: ['LC4:left', 'LPLC2:left'], rate_hz: 100, delay_ms: 200, duration_ms: 300 },
      },
      reports: { escape: { node_set: 'DNp01', type: 'histogram', group_by: ['side'], bin_ms: 25 } },
      sweep: [{ each: 'PVLP122*', group_by: ['type'], as: 'silence' }],
    },
  },
  spikes: {
    summary: 'Given input events; every spike',
    value: {
      inputs: { pulse: { node_set: 'LC4:left', module: 'spikes', times_ms: [10, 20, 30] } },
      duration_ms: 50,
      trials: 1,
      reports: { all: { node_set: { super_class: 'descending' }, type: 'spikes' } },
    },
  },
};
const failing = {
  INVALID_PARAMETER: { trials: 1000 },
  UNKNOWN_NEURONS: { inputs: { loom: { node_set: 'LC44x' } } },
  EMPTY_NODE_SET: { silence: [{ type: 'DNp01', side: 'center' }] },
  NO_CONNECTION: { connection_overrides: { direct: { source: 'LC4', target: 'MDN', weight: 0 } } },
  NO_SIGN_PROBABILITIES: { wiring: { signs: 'sampled' } },
  TOO_EXPENSIVE: { duration_ms: 5000, trials: 100, sweep: [{ set: 'seed', values: [1, 2, 3] }] },
};
const ask = (body, query, accept) =>
  fetch(`${url}/api/v2/experiments${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept },
    body: JSON.stringify(body),
  });
const answered = async (body, query = '', accept = 'application/json') => {
  const response = await ask(body, query, accept);
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return response;
};
for (const { value } of Object.values(requests)) await answered(value, '?dry_run=true');
const failures = {};
for (const [code, body] of Object.entries(failing)) {
  const failure = await (await ask(body, '', 'application/json')).json();
  if (failure.code !== code) throw new Error(`expected ${code}, got ${JSON.stringify(failure)}`);
  failures[code] = failure;
}
const { value: sugar } = requests.sugar;
const nodeSets = await (await fetch(`${url}/api/v2/node-sets`)).json();
const nodeSet = nodeSets.node_sets.find(({ name }) => name === '@MN9');
const answer = await (await answered(sugar)).json();
await write('v2', {
  requests,
  answer,
  dryRun: await (await answered(sugar, '?dry_run=true')).json(),
  lines: (await (await answered(sugar, '', 'application/x-ndjson')).text())
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line)),
  csv: await (await answered(sugar, '', 'text/csv')).text(),
  neurons: await (await fetch(`${url}/api/v2/neurons?type=DNp01`)).json(),
  connections: await (await fetch(`${url}/api/v2/connections?source=LC4,LPLC2&target=DNp01`)).json(),
  nodeSet,
  nodeSets: { ...nodeSets, node_sets: [nodeSet] },
  model: await (await fetch(`${url}/api/v2/model`)).json(),
  failures,
  jobs: jobsOf(answer),
});

/** States of a job of the first request, written out here: names and times of a real one are always others. */
function jobsOf({ id, model, conditions, cost }) {
  const job = 'Xh4_t2VbqkM0cR-9sWfEy1uZ';
  const href = `/api/v2/experiments/${job}`;
  const self = { href, rel: 'self', type: 'application/json' };
  const results = {
    href: `${href}/results`,
    rel: 'http://www.opengis.net/def/rel/ogc/1.0/results',
    type: 'application/json',
  };
  const at = (time) => `2026-11-20T09:00:${time}Z`;
  const state = (status, progress, times, conditionsDone, links, more = {}) => ({
    jobID: job,
    type: 'process',
    status,
    progress,
    ...times,
    id,
    model,
    conditions: conditions.length,
    conditions_done: conditionsDone,
    brain_seconds: cost.brain_seconds,
    ...more,
    links,
  });
  const created = at('00.000');
  const started = at('02.120');
  const dismissed = at('02.600');
  return {
    job,
    accepted: state('accepted', 0, { created, updated: created }, 0, [self, results]),
    running: state('running', 50, { created, started, updated: at('02.480') }, 1, [self, results], {
      seconds_left: 1,
    }),
    dismissed: state('dismissed', 50, { created, started, updated: dismissed, finished: dismissed }, 1, [
      self,
    ]),
  };
}

async function write(version, examples) {
  const file = targetOf(version);
  const { code, errors } = await format(file, JSON.stringify(examples), options);
  if (errors.length > 0) throw new Error(errors[0].message);
  writeFileSync(file, code);
  console.log(file);
}
