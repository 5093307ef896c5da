import {
  ApiEndpoint,
  component,
  constantHeader,
  countHeader,
  textHeader,
  type FailureDescription,
  type HeaderDescriptions,
} from '../../http/api-operation.js';
import { bodyTooLargeMessage } from '../../http/error-of.js';
import { DOCUMENT_LIMIT_BYTES } from '../../limits/limits.js';
import { PUBLIC_ERROR_CODES, type PublicErrorCode } from '../../http/error-examples.js';
import { IDEMPOTENCY_KEY } from '../../http/request-headers.js';
import { FORMATS, type TableFormat } from '../../../experiments/formats/formats.js';
import EXAMPLES from './openapi-examples.json' with { type: 'json' };

export const BUDGET_HEADERS: HeaderDescriptions = {
  'RateLimit-Limit': countHeader(
    'Brain seconds that the experiments of a client may cost in any 60 seconds.',
    1,
  ),
  'RateLimit-Remaining': countHeader(
    'Brain seconds that this client has left, this experiment at its expected price deducted.',
    0,
  ),
  'RateLimit-Reset': countHeader(
    'Seconds until the oldest brain seconds that count leave the 60 seconds.',
    1,
  ),
};

/** Headers of results, whether they are answered at once or are those of a job. */
export const RESULT_HEADERS: HeaderDescriptions = {
  'Server-Timing': textHeader('Milliseconds spent until the answer began.'),
  Vary: textHeader('The format follows Accept; text is gzipped where the client accepts that.'),
  Link: textHeader(
    'Of a table of events that goes on: the query of the next page, at the same address and with the ' +
      'same document. `<?format=csv&table=spikes&page=17.4>; rel="next"`',
  ),
  'Spikes-Truncated': constantHeader(
    'Of a table of events: rows were left out, as truncate=true allows.',
    'true',
  ),
};

/** Content of an answer in formats other than JSON. */
export const OTHER_FORMATS: Readonly<Record<string, object>> = {
  [FORMATS.ndjson.mediaType]: {
    schema: {
      description:
        'A line: ExperimentHead comes first, then conditions in order and progress between them, ExperimentTotals ' +
        'last. After a failure the last line is an ErrorResponse.',
      anyOf: ['ExperimentHead', 'Condition', 'ExperimentProgress', 'ExperimentTotals', 'ErrorResponse'].map(
        (name) => component(name),
      ),
    } as object,
    examples: Object.fromEntries(
      EXAMPLES.lines.map((value, at) => [
        `line${at + 1}`,
        { summary: `Line ${at + 1} of the answer to the first example`, value },
      ]),
    ),
  },
  [FORMATS.csv.mediaType]: {
    schema: {
      type: 'string',
      description:
        'One table with a header. `rates` has a row for each condition, report and group: condition, the swept ' +
        'parameters, report, its groups, neurons, responding, rate_hz_mean, rate_hz_sd, trials.',
    },
    examples: { rates: { summary: 'Of the first example', value: EXAMPLES.csv } },
  },
  ...binaryTable('arrow', 'One table as an Arrow IPC stream.'),
  ...binaryTable('parquet', 'One table as a Parquet file.'),
};

function binaryTable(format: TableFormat, description: string) {
  const contentMediaType = FORMATS[format].mediaType;
  return { [contentMediaType]: { schema: { type: 'string', contentMediaType, description } } };
}

const BODY_LIMIT = `${DOCUMENT_LIMIT_BYTES / 2 ** 20} MiB`;

/** Where version 2 says more than the table of errors, which also speaks of runs. */
export const FAILURES_OF_V2: Partial<Record<PublicErrorCode, FailureDescription>> = {
  ...Object.fromEntries(Object.entries(EXAMPLES.failures).map(([code, example]) => [code, { example }])),
  MALFORMED_REQUEST: { example: { error: 'The body is not valid JSON: "{\\"trials\\": ten}".', path: '' } },
  BODY_TOO_LARGE: {
    meaning: `The request body is larger than ${BODY_LIMIT}.`,
    example: { error: bodyTooLargeMessage(DOCUMENT_LIMIT_BYTES), path: '' },
  },
  UNSUPPORTED_MEDIA_TYPE: { example: { path: '' } },
  NOT_ACCEPTABLE: { example: { path: '' } },
  RATE_LIMITED: {
    meaning:
      'The experiments of the client cost more brain seconds in a minute than allowed; Retry-After says when to try again.',
    example: {
      error:
        'At most 600 brain seconds a minute are allowed for each client; this experiment needs 300 and 100 are left; try again in 42 s.',
      path: '',
    },
  },
  QUEUE_FULL: {
    meaning:
      'Too many experiments or jobs are under way, or too many documents are waiting, of all clients or of this one.',
    example: { error: 'The queue is full: 4 experiments of this client are under way; try again shortly.' },
  },
};

export const ACCEPT_HEADER = {
  Accept: textHeader(
    'Media types of the formats, with weights; JSON where nothing is preferred. `format` overrides it.',
  ),
};

/** Failures that no experiment has. */
const NO_FAILURES: readonly PublicErrorCode[] = ['STIMULUS_UNAVAILABLE', 'NOT_FOUND', 'METHOD_NOT_ALLOWED'];

export const ApiExperiments = ApiEndpoint({
  operationId: 'runOpenExperiment',
  summary: 'Runs an open experiment.',
  description:
    'Stimulates any neurons, silences any, repeats trials, sweeps parameters and reads any neurons. Every field is ' +
    'optional. With dry_run=true nothing is simulated: the answer says which neurons the selectors stand for and ' +
    'what the experiment costs. Where rows of events do not fit into an answer, it has whole trials up ' +
    'to the limit and names the page that goes on. An NDJSON answer comes line by line as conditions finish, in order. With ' +
    'Prefer: respond-async the experiment becomes a job, which goes on when the client has disconnected.',
  body: {
    required: false,
    description: `The experiment, in JSON of at most ${BODY_LIMIT}, not compressed.`,
    schema: component('Experiment'),
    examples: EXAMPLES.requests,
  },
  requestHeaders: {
    ...ACCEPT_HEADER,
    Prefer: textHeader(
      'respond-async (RFC 7240) makes the experiment a job: it is answered with 202 at once, and has larger limits.',
    ),
    'Idempotency-Key': textHeader(
      'With Prefer: respond-async: a string chosen by the client, such as a random UUID. A request that is repeated ' +
        'with the same key and document begins no second job; it is answered with the state of the first. Keys are kept ' +
        'for each client, by default for a day.',
      IDEMPOTENCY_KEY.source,
    ),
  },
  answers: {
    200: {
      description: 'The results, or with dry_run=true what is known without them.',
      headers: { ...BUDGET_HEADERS, ...RESULT_HEADERS },
      content: {
        [FORMATS.json.mediaType]: {
          schema: { anyOf: [component('ExperimentAnswer'), component('DryRunAnswer')] },
          examples: {
            answer: { summary: 'Of the first example', value: EXAMPLES.answer },
            dryRun: { summary: 'Of the same, with dry_run=true', value: EXAMPLES.dryRun },
          },
        },
        ...OTHER_FORMATS,
      },
    },
    202: {
      description: 'With Prefer: respond-async: the experiment is a job, and this is its state.',
      headers: {
        Location: textHeader(
          'Where the job is. Its name is random: only those who were told can follow or end it.',
          '^/api/v2/experiments/[\\w-]{24}$',
        ),
        'Preference-Applied': constantHeader('The preference that was followed.', 'respond-async'),
      },
      content: {
        [FORMATS.json.mediaType]: {
          schema: component('JobStatus'),
          examples: { accepted: { summary: 'Of the first example', value: EXAMPLES.jobs.accepted } },
        },
      },
    },
  },
  failures: PUBLIC_ERROR_CODES.filter((code) => !NO_FAILURES.includes(code)),
  failureDescriptions: FAILURES_OF_V2,
});
