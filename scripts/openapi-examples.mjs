/**
 * Takes the examples of the OpenAPI description from the answers of a service that serves the brain that ships:
 * npm run openapi:examples -- http://localhost:8080, then npm run openapi.
 */
import { writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';

const TARGET = 'src/answers/v1/api/openapi-examples.ts';
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
