import type { VersionDescription } from '../openapi/openapi-document.js';
import { object, oneOf, text } from '../../../schema/json-schema.js';
import { ERROR_CODES_OF_V1 } from '../../http/error-examples.js';
import { MODEL_SCHEMAS } from './model.dto.js';
import { RUN_SCHEMAS } from './run-response.dto.js';
import EXAMPLES from './openapi-examples.json' with { type: 'json' };

const DESCRIPTION = `Runs bounded, reproducible experiments on a pruned connectome of the fruit fly
(GET /api/v1/model says which). A client posts a stimulus; the service simulates the whole brain and returns its spikes, the firing
rates of named groups of neurons, animation frames and engineered drives for an animated body.

**Reproducibility.** Runs are independent of each other. The same request gives the same bytes on every machine and at
any time. Information that depends on the machine or the time is in headers.

**When to send runs.** Send a run when something happens, and animate its frames until the next event; do not send a
run for each rendered frame. A timeout of 60 seconds is sufficient.

**Access.** There are no credentials. Pages of any origin may use every operation: a preflight (OPTIONS) is answered
with 204 and allows every header it asks for. HEAD works wherever GET does.

**Examples.** The examples are real responses of the default brain to {"stimulus": "loom"}; the frame is from the
response to {"stimulus": "heat", "duration_ms": 50}.

**Errors.** Every error response, from any layer, is JSON with a string \`error\` for people and a \`code\` for programs.
In addition to the errors of each operation there are 404, if there is nothing at a path, and 405 with the header
Allow, if the path does not support the method.

**Rate limit.** Each client, an IPv4 address or the /64 of an IPv6 address, may post 30 runs in any 60 seconds, unless
RateLimit-Limit says otherwise. A run counts whatever its outcome, unless it is rejected with 429, with 503 before it
started, or because its body is not valid JSON. Retry-After says when the next run is allowed.

**Versions.** The version is part of the path. Within /api/v1, members may be added to the model and to errors, but
not to runs, and no member is removed or changes its meaning. The results of a run change only together with the
version of the model, which is part of every id. /api/v2 adds open
experiments and does not replace /api/v1. Should a version be withdrawn, it stays available for at least twelve months,
and its responses carry the headers Deprecation (RFC 9745) and Sunset (RFC 8594) during that time.`;

const ERROR = object('The body of every error response, from any layer.', {
  error: text('A sentence for people: the field, the value received and what is allowed.', {
    examples: ['stimulus must be one of sugar, loom, none, got "salt".'],
  }),
  code: oneOf('A constant for programs; docs/errors.md lists them all.', ERROR_CODES_OF_V1, {
    examples: ['INVALID_PARAMETER'],
  }),
});

/** The OpenAPI description of version 1, except its operations. */
export const DESCRIPTION_OF_V1: VersionDescription = {
  version: '1',
  fullVersion: '1.0.0',
  description: DESCRIPTION,
  tags: {
    Experiments: 'Runs of the simulated brain.',
    Descriptions: 'The model and the interface.',
  },
  examples: EXAMPLES.schemas,
  schemas: { ...RUN_SCHEMAS, ...MODEL_SCHEMAS, ErrorResponse: ERROR },
};
