/** The YAML files of operations repeat names and numbers of the code; these tests compare them. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { FORMATS, TABLE_FORMATS } from '../../experiments/formats/formats.js';
import { isFinished, JOB_STATUSES } from '../jobs/job.js';
import { bodyTooLargeMessage } from '../http/error-of.js';
import { ERROR_CODES_OF_V1, PUBLIC_ERROR_CODES } from '../http/error-examples.js';
import { IDEMPOTENCY_KEY } from '../http/request-headers.js';
import { BODY_LIMIT_BYTES, DOCUMENT_LIMIT_BYTES } from '../limits/limits.js';
import { CACHE_NAME } from './v1/run.controller.js';

const operationsIn = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8');
const v1 = operationsIn('./v1/operations.yaml');
const v2 = operationsIn('./v2/operations.yaml');
const pathsIn = (file: string) => JSON.parse(readFileSync(file, 'utf8')).paths;
const experiments = pathsIn('openapi-v2.json')['/api/v2/experiments'].post;

type Operations = Readonly<Record<string, { readonly failures: readonly string[] }>>;

/** Operations by their ids. */
function operationsOf(text: string): Operations {
  const customTags = ['!schema', '!example'].map((tag) => ({
    tag,
    resolve: (value: string) => value,
  }));
  const { shared: _, ...operations } = parse(text, { merge: true, customTags }) as Operations;
  return operations;
}

it('names every failure that an experiment and a run can have', () => {
  const elsewhere = ['NOT_FOUND', 'METHOD_NOT_ALLOWED'];
  const ofSessions = ['SESSION_ENDED', 'STEP_OUT_OF_ORDER', 'SESSION_FULL'];
  const ofOthers = [...elsewhere, ...ofSessions, 'STIMULUS_UNAVAILABLE'];
  expect(operationsOf(v1)['runExperiment']!.failures).toEqual(
    ERROR_CODES_OF_V1.filter((code) => !elsewhere.includes(code)),
  );
  expect(operationsOf(v2)['runOpenExperiment']!.failures).toEqual(
    PUBLIC_ERROR_CODES.filter((code) => !ofOthers.includes(code)),
  );
});

it('names no failure that there is not', () => {
  const known: readonly string[] = PUBLIC_ERROR_CODES;
  const operations = Object.values({ ...operationsOf(v1), ...operationsOf(v2) });
  expect(operations.length).toBeGreaterThan(14);
  expect(operations.flatMap(({ failures }) => failures).filter((code) => !known.includes(code))).toEqual([]);
});

it.each(['openapi.json', 'openapi-v2.json'])('describes 415 of every operation in %s', (file) => {
  const operations = Object.values<object>(pathsIn(file)).flatMap((path) => Object.values(path));
  expect(operations.filter(({ responses }) => !(415 in responses))).toEqual([]);
});

it('has the media types, patterns and limits of the code', () => {
  const mediaTypes = Object.values(FORMATS).map(({ mediaType }) => mediaType);
  expect(Object.keys(experiments.responses[200].content).sort()).toEqual(mediaTypes.sort());
  const connections = pathsIn('openapi-v2.json')['/api/v2/connections'].get;
  expect(Object.keys(connections.responses[200].content)).toEqual(
    ['json' as const, ...TABLE_FORMATS].map((format) => FORMATS[format].mediaType),
  );
  const { schemas } = JSON.parse(readFileSync('openapi-v2.json', 'utf8')).components;
  const { content } = pathsIn('openapi-v2.json')['/api/v2/neurons'].get.responses[200];
  expect(content['text/csv'].schema.description).toContain(
    `: ${Object.keys(schemas.Neuron.properties).join(', ')}.`,
  );
  const key = experiments.parameters.find(({ name }: { name: string }) => name === 'Idempotency-Key');
  expect(key.schema.pattern).toBe(IDEMPOTENCY_KEY.source);
  const results = pathsIn('openapi-v2.json')['/api/v2/experiments/{job}/results'].get;
  const open = JOB_STATUSES.filter((status) => !isFinished({ status }));
  expect(results.responses[200].headers['Job-Status'].schema.enum).toEqual([...open, 'successful']);
  expect(v2).toContain(bodyTooLargeMessage(DOCUMENT_LIMIT_BYTES));
  expect(v2).toContain(`larger than ${DOCUMENT_LIMIT_BYTES / 2 ** 20} MiB`);
  expect(v1).toContain(`larger than ${BODY_LIMIT_BYTES / 1024} KiB`);
  expect(v1).toContain(`"${CACHE_NAME}; hit"`);
});
