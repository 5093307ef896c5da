/** Decorators that describe operations in OpenAPI, with the headers and failures that all operations share. */
import { readFileSync } from 'node:fs';
import { applyDecorators } from '@nestjs/common';
import {
  ApiBody,
  type ApiBodyOptions,
  ApiHeader,
  ApiOperation,
  ApiParam,
  type ApiParamOptions,
  ApiResponse,
  type ApiResponseOptions,
} from '@nestjs/swagger';
import { parse } from 'yaml';
import { mapped } from '../../engine/mapped.js';
import { ERRORS } from '../../engine/errors.js';
import { EXAMPLE_MESSAGES, PUBLIC_ERROR_CODES, type PublicErrorCode } from './error-examples.js';

type HeaderDescriptions = NonNullable<ApiResponseOptions['headers']>;
/** Headers that an answer may lack, because they depend on the request or on the settings of the service. */
const SOMETIMES = /^(RateLimit-\w+|Link|Spikes-Truncated|X-Accel-Buffering)$/;

interface Answer {
  readonly description: string;
  /** Cache headers; by default the answer is not stored. */
  readonly caching?: HeaderDescriptions;
  /** Headers in addition to the common ones. */
  readonly headers?: HeaderDescriptions;
  readonly content?: Readonly<Record<string, object>>;
  /** Operations that go on with a part of the answer. */
  readonly links?: ApiResponseOptions['links'];
}

/** An operation's own description of a failure, if the general one speaks of runs. */
interface FailureDescription {
  readonly meaning?: string;
  readonly example?: Readonly<Record<string, unknown>>;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** The variable part of the path. */
  readonly parameter?: ApiParamOptions;
  readonly body?: ApiBodyOptions;
  /** Optional headers of the request. */
  readonly requestHeaders?: Readonly<Record<string, ReturnType<typeof textHeader>>>;
  /** By status. */
  readonly answers: Readonly<Record<number, Answer>>;
  /** Failures in addition to those that any request can cause. */
  readonly failures: readonly PublicErrorCode[];
  /** Headers of failures after the request was counted. */
  readonly failureHeaders?: HeaderDescriptions;
  readonly failureDescriptions?: Partial<Record<PublicErrorCode, FailureDescription>>;
}

/** Errors that any request can cause, on any path. */
const FAILURES_OF_ANY_REQUEST: readonly PublicErrorCode[] = [
  'MALFORMED_REQUEST',
  'REQUEST_TIMEOUT',
  'UNSUPPORTED_MEDIA_TYPE',
  'EXPECTATION_FAILED',
  'HEADERS_TOO_LARGE',
  'INTERNAL',
];

/** Errors before a request is counted: their answers have no rate-limit headers. */
const UNCOUNTED_STATUSES: readonly number[] = [406, 408, 413, 415, 417, 431];

/** Headers of every answer. */
const COMMON_HEADERS: HeaderDescriptions = {
  'Access-Control-Allow-Origin': constantHeader('Pages of any origin may read the response.', '*'),
  'X-Request-Id': textHeader(
    'Identifies the request in the log: the X-Request-Id of the request if it has 1 to 64 letters, digits or ._:-, ' +
      'otherwise a new one.',
    '0f343b09-1126-4a20-9133-d67c2b018a3b',
  ),
};

const NOT_STORED: HeaderDescriptions = { 'Cache-Control': constantHeader('no-store.', 'no-store') };

/**
 * Leaves out Content-Encoding on purpose. HTTP libraries handle it themselves, and a mock server that follows this
 * description would announce gzip and send plain text.
 */
const VARY_HEADER: HeaderDescriptions = {
  Vary: textHeader('The body is compressed with gzip if the client accepts it.', 'Accept-Encoding'),
};

const REVALIDATED: HeaderDescriptions = {
  ETag: textHeader(
    'Identifies the bytes of the body; send it in If-None-Match.',
    '"0f343b0931126a20f133d67c2b018a3b"',
  ),
  'Cache-Control': constantHeader(
    'no-cache: revalidate with If-None-Match before using a stored copy.',
    'no-cache',
  ),
};

function textHeader(description: string, example?: string) {
  return { description, schema: { type: 'string' }, ...(example !== undefined && { example }) } as const;
}

function constantHeader(description: string, value: string) {
  return { description, schema: { type: 'string', const: value } as object };
}

function countHeader(description: string, minimum: number, example: number) {
  return { description, schema: { type: 'integer', minimum }, example } as const;
}

function withRequired(headers: HeaderDescriptions): HeaderDescriptions {
  return mapped(headers, (header, name) => (SOMETIMES.test(name) ? header : { ...header, required: true }));
}

/** Refers to a schema of the description by its name. */
function component(name: string): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

/** Documents an operation. */
function ApiEndpoint(operation: Operation): MethodDecorator {
  const { operationId, summary, description, parameter, body, requestHeaders = {}, answers } = operation;
  return applyDecorators(
    ApiOperation({ operationId, summary, description }),
    ...(parameter ? [ApiParam(parameter)] : []),
    ...(body ? [ApiBody(body)] : []),
    ...Object.entries(requestHeaders).map(([name, header]) =>
      ApiHeader({ name, required: false, ...header }),
    ),
    ...Object.entries(answers).map(([status, { caching = NOT_STORED, headers, ...answer }]) =>
      ApiResponse({
        ...answer,
        status: Number(status),
        headers: withRequired({ ...COMMON_HEADERS, ...caching, ...headers }),
      } as ApiResponseOptions),
    ),
    ...describeFailures(operation),
  );
}

/** An operation that answers with JSON that rarely changes, and supports If-None-Match. */
interface RevalidatedOperation extends Omit<Operation, 'answers'> {
  readonly schema: object;
  readonly examples?: object;
}

function ApiRevalidated({ schema, examples, ...operation }: RevalidatedOperation): MethodDecorator {
  const common = { caching: REVALIDATED, headers: VARY_HEADER };
  const content = { schema, ...(examples && { examples }) };
  return ApiEndpoint({
    ...operation,
    requestHeaders: {
      'If-None-Match': textHeader(
        'ETags of bodies that the client already has; if one is current, the response is 304.',
      ),
    },
    answers: {
      200: { ...common, description: 'The description.', content: { 'application/json': content } },
      304: { ...common, description: 'The client already has the current body; this response has no body.' },
    },
  });
}

/**
 * Reads a YAML file that describes operations by their ids, and parts that they share, in OpenAPI's terms. The file
 * may use two tags: `!schema` refers to a schema by name, `!example` is a value by its path in the examples. An
 * operation with a `schema` and no answers supports If-None-Match.
 * @returns a decorator that documents the operation with the given id
 */
export function readOperations(file: URL, examples: object = {}): (operationId: string) => MethodDecorator {
  const exampleAt = (path: string) =>
    path.split('.').reduce<unknown>((at, key) => (at as Readonly<Record<string, unknown>>)[key], examples);
  const customTags = [
    { tag: '!schema', resolve: component },
    { tag: '!example', resolve: exampleAt },
  ];
  const described = parse(readFileSync(file, 'utf8'), { merge: true, customTags }) as Readonly<
    Record<string, Operation | RevalidatedOperation>
  >;
  return (operationId) => {
    const operation = { ...described[operationId]!, operationId };
    return 'schema' in operation ? ApiRevalidated(operation) : ApiEndpoint(operation);
  };
}

/** Describes the failures of each status, in the order of PUBLIC_ERROR_CODES. */
function describeFailures({
  failures,
  failureHeaders,
  failureDescriptions = {},
}: Operation): MethodDecorator[] {
  const codes = [...FAILURES_OF_ANY_REQUEST, ...failures];
  const inOrder = PUBLIC_ERROR_CODES.filter((code) => codes.includes(code));
  const statuses = [...new Set(inOrder.map((code) => ERRORS[code].status))];
  return statuses.map((status) => {
    const group = inOrder.filter((code) => ERRORS[code].status === status);
    const meanings = group.map(
      (code) => `\`${code}\`: ${failureDescriptions[code]?.meaning ?? ERRORS[code].meaning}`,
    );
    const examples = group.map((code) => {
      const value = { error: EXAMPLE_MESSAGES[code], code, ...failureDescriptions[code]?.example };
      return [code, { value }] as const;
    });
    return ApiResponse({
      status,
      description: meanings.join(' '),
      headers: withRequired({
        ...COMMON_HEADERS,
        ...NOT_STORED,
        ...(UNCOUNTED_STATUSES.includes(status) ? {} : failureHeaders),
        ...((status === 429 || status === 503) && {
          'Retry-After': countHeader('Seconds to wait before trying again.', 1, 2),
        }),
      }),
      content: {
        'application/json': {
          schema: component('ErrorResponse'),
          examples: Object.fromEntries(examples),
        },
      },
    });
  });
}
