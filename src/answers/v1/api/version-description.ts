import type { VersionDescription } from '../../../openapi/openapi-document.js';
import { EXAMPLES } from './openapi-examples.js';

const DESCRIPTION = `Runs bounded, reproducible experiments on a pruned connectome of the fruit fly (FlyWire FAFB,
release 783). A client posts a stimulus; the service simulates the whole brain and answers with its spikes,
the rates of named groups of neurons, frames to animate and engineered drives for a body.

**Reproducible.** Each run is an experiment of its own. The same request gives the same bytes, on every
machine and at every time. What depends on the machine or the moment is in headers.

**Pace.** Send a run when something happens and animate its frames until the next; do not send one for each
picture you draw. A client may use a timeout of 60 seconds.

**Access.** There are no credentials. Every origin may call everything: a preflight (OPTIONS) is answered
with 204 and allows every header that it asks for. HEAD is answered wherever GET is.

**Examples.** They are real answers of the default brain to {"stimulus": "loom"}; the frame is from that
to {"stimulus": "heat", "duration_ms": 50}.

**Failures.** Every failure, from whatever layer, is JSON with a string \`error\` for people and a \`code\`
for programs. Beside those of the operations: 404 where there is nothing at a path, and 405, with the header
Allow, where there is something, but not with this method.

**Rate limit.** Each client, an IPv4 address or the /64 of an IPv6 address, may post 30 runs in any 60 seconds, unless
RateLimit-Limit says otherwise. A run counts whatever its outcome, unless it is refused with 429, with 503 before it
began, or because its body cannot be read as JSON. So Retry-After says when the next run is allowed.

**Versions.** The version is part of the path. Within /api/v1 members may be added to answers of the model and
of failures, never to a run, and none is removed or changes its meaning. What a run answers may change
only together with version of the model, which is part of every id. Should a /api/v2 come, /api/v1
stays for at least twelve months, and its answers carry the headers Deprecation (RFC 9745) and
Sunset (RFC 8594) for all of that time.`;

/** What the OpenAPI description of version 1 says beside its operations. */
export const DESCRIPTION_OF_V1: VersionDescription = {
  version: '1',
  fullVersion: '1.0.0',
  description: DESCRIPTION,
  tags: {
    Experiments: 'Runs of the simulated brain.',
    Descriptions: 'What is simulated, and how the interface works.',
  },
  examples: EXAMPLES,
  openSchemas: ['ChannelRates', 'Drives'],
};
