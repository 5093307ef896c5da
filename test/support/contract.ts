import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { API_VERSIONS, apiPath, type ApiVersion } from '../../src/service/http/api-versions.js';

interface Answered {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

type Components = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

interface ResponseObject {
  readonly headers?: Readonly<Record<string, object>>;
  readonly content?: Readonly<Record<string, object>>;
}

/** The committed descriptions; a test of its own says that the served ones equal them. */
export const DOCUMENTS = new Map(
  API_VERSIONS.map((version) => [version, JSON.parse(readFileSync(`${idOf(version)}.json`, 'utf8'))]),
);
/** The same with the parts that operations share in their places. Schemas stay references. */
const WITH_PARTS = new Map(
  [...DOCUMENTS].map(([version, document]) => [version, inlined(document, document)]),
);
export const DOCUMENT = WITH_PARTS.get('1');
export const DOCUMENT_OF_V2 = WITH_PARTS.get('2');

/** Schema of every failure on any path. */
const FAILURE = '#/components/schemas/ErrorResponse';
/**
 * Headers that depend on headers of the client, on a limit of runs, and on rows that do not
 * fit.
 */
const SOMETIMES = /^(Content-Encoding|RateLimit-\w+|Link|Spikes-Truncated|X-Accel-Buffering)$/;
// Selectors of version 2 take values of several types, which strictTypes would have spelled out in every branch.
const ajv = new Ajv2020({
  strict: true,
  strictTypes: false,
  allErrors: true,
  formats: {
    int64: true,
    'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  },
});
for (const [version, document] of DOCUMENTS) {
  const id = idOf(version);
  ajv.addSchema({ $id: id, components: { schemas: ofAnyModel(document.components.schemas) } } as object, id);
}
ajv.addVocabulary(['components']);
const validators = new Map<string, ValidateFunction>();

/** Throws unless the answer is one that the description promises. */
export function checkAnswer({ method, path, status, headers, text }: Answered): void {
  const what = `${method} ${path} answered ${status}`;
  if (headers.get('access-control-allow-origin') !== '*') throw new Error(`${what} without CORS`);
  if (!/^[\w.:-]{1,64}$/.test(headers.get('x-request-id') ?? '')) throw new Error(`${what} without an id`);
  const version = API_VERSIONS.find((each) => path.startsWith(apiPath(each, ''))) ?? '1';
  const id = idOf(version);
  const document = WITH_PARTS.get(version);
  const operation = document.paths[templateOf(path.split('?', 1)[0]!, document)]?.[method.toLowerCase()];
  const response = operation?.responses[status] as ResponseObject | undefined;
  if (operation !== undefined && response === undefined) throw new Error(`${what}, which is not documented`);
  for (const [name, header] of Object.entries(response?.headers ?? {})) {
    const value = headers.get(name);
    const schema = (header as { schema: { type: string } }).schema;
    if (value === null) {
      if (!SOMETIMES.test(name)) throw new Error(`${what} without ${name}`);
      continue;
    }
    check(`${what}: header ${name}`, schema, schema.type === 'integer' ? Number(value) : value, id);
  }
  const described = Object.keys(response?.headers ?? {}).map((name) => name.toLowerCase());
  for (const name of operation === undefined ? [] : headers.keys()) {
    if (!name.startsWith('ratelimit-') || described.includes(name)) continue;
    throw new Error(`${what} with ${name}, which is not documented`);
  }
  if (status === 429 || status === 503) {
    if (!/^[1-9]\d*$/.test(headers.get('retry-after') ?? '')) throw new Error(`${what} without Retry-After`);
  }
  if (status >= 400) {
    check(what, { $ref: `${id}${FAILURE}` }, JSON.parse(text), id);
  }
  if (response?.content === undefined || text === '') return;
  const [mediaType] = (headers.get('content-type') ?? '').split(';');
  const content = response.content[mediaType!] as { schema: object } | undefined;
  if (content === undefined) throw new Error(`${what} as ${mediaType}, which is not documented`);
  if (mediaType === 'application/json') check(what, content.schema, JSON.parse(text), id);
  if (mediaType === 'application/x-ndjson') {
    for (const line of text.trimEnd().split('\n')) check(what, content.schema, JSON.parse(line), id);
  }
}

/** The schemas without the members that only some models have, because tests serve several. */
function ofAnyModel({ ...schemas }: Record<string, Readonly<Record<string, unknown>>>): object {
  for (const name of ['ChannelRates', 'Drives']) {
    const { required: _, ...schema } = schemas[name] ?? {};
    if (name in schemas) schemas[name] = schema;
  }
  return schemas;
}

/** Copies a part of a document and puts headers, answers, parameters and examples in the places of their references. */
function inlined<T>(part: T, document: { readonly components: Components }): T {
  const replaced = (_: string, value: unknown): unknown => {
    const { $ref: reference } = (value ?? {}) as { readonly $ref?: unknown };
    const [, kind, name] = /^#\/components\/(\w+)\/(.+)/.exec(String(reference)) ?? [];
    return kind === undefined || kind === 'schemas' ? value : document.components[kind]![name!];
  };
  return JSON.parse(JSON.stringify(part, replaced)) as T;
}

/** The name of the description of a version, as that of its file. */
function idOf(version: ApiVersion): string {
  return version === '1' ? 'openapi' : `openapi-v${version}`;
}

/** The path of the description that a path is one of. */
function templateOf(path: string, { paths }: { readonly paths: object }): string {
  return (
    Object.keys(paths).find((each) => new RegExp(`^${each.replace(/\{\w+\}/g, '[^/]+')}$`).test(path)) ?? path
  );
}

/** Throws unless a value fits a schema of a description. */
export function check(what: string, schema: object, value: unknown, id = 'openapi'): void {
  const key = `${id} ${JSON.stringify(schema)}`;
  let validate = validators.get(key);
  if (validate === undefined) {
    validate = ajv.compile(
      JSON.parse(JSON.stringify(schema).replaceAll('"#/components', `"${id}#/components`)),
    );
    validators.set(key, validate);
  }
  if (!validate(value)) throw new Error(`${what}: ${ajv.errorsText(validate.errors)}`);
}
