/**
 * Takes the examples of the OpenAPI descriptions from the answers of a service that serves the brain that ships:
 * npm run openapi:examples -- http://localhost:8080, then npm run openapi.
 */
import { writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';

const TARGET = 'src/answers/v1/api/openapi-examples.ts';
const TARGET_OF_V2 = 'src/answers/v2/api/openapi-examples.ts';
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

/** Members that refer to other schemas have their examples there. */
const holdsObjects = (value) =>
  typeof value === 'object' && (Array.isArray(value) ? value.some(holdsObjects) : true);
const examples = Object.entries(instances).map(([schema, instance]) => [
  schema,
  Object.fromEntries(Object.entries(instance).filter(([, value]) => !holdsObjects(value))),
]);
const drive = await run({ stimulus: 'loom' }, 'drive');

const source = `/**
 * Written by npm run openapi:examples. Responses of the default brain to {"stimulus": "loom"}, a frame of the response
 * to {"stimulus": "heat", "duration_ms": 50}, and the body of GET /api/v1/model; members by schema.
 */
export const EXAMPLES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = ${JSON.stringify(Object.fromEntries(examples))};

/** The complete response to {"stimulus": "loom"} with view=drive. */
export const DRIVE_RUN_EXAMPLE = ${JSON.stringify(drive)};
`;
writeFileSync(TARGET, await format(source, { ...(await resolveConfig(TARGET)), filepath: TARGET }));
console.log(TARGET);

/** What the examples of version 2 are answers to; the first request is the one that is answered in every format. */
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
const examples2 = {
  requests,
  answer: await (await answered(sugar)).json(),
  dryRun: await (await answered(sugar, '?dry_run=true')).json(),
  lines: (await (await answered(sugar, '', 'application/x-ndjson')).text())
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line)),
  csv: await (await answered(sugar, '', 'text/csv')).text(),
  neurons: await (await fetch(`${url}/api/v2/neurons?type=DNp01`)).json(),
  nodeSet: nodeSets.node_sets.find(({ name }) => name === '@MN9'),
  failures,
};
const source2 = `/** Written by npm run openapi:examples: answers of the brain that ships to the first of the requests. */
export const EXAMPLES = ${JSON.stringify(examples2)};
`;
writeFileSync(
  TARGET_OF_V2,
  await format(source2, { ...(await resolveConfig(TARGET_OF_V2)), filepath: TARGET_OF_V2 }),
);
console.log(TARGET_OF_V2);
