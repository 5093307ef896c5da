import type { VersionDescription } from '../openapi/openapi-document.js';
import { ANSWER_SCHEMAS, ERROR_SCHEMA } from './answer-schemas.js';
import { documentSchemas } from '../../../experiments/document/document.js';

const DESCRIPTION = `Open experiments on a spiking model of a fruit fly brain, such as FlyWire's (GET /api/v2/model says
which), for laboratories: stimulate any neurons, silence any, repeat trials, sweep parameters, read any neurons. /api/v1 gives a fly
one of ten stimuli and is meant for animation; both versions are served side by side.

**Reproducible.** Equal experiments give equal ids and equal bytes, on every machine and at every time. POST may be
repeated, unless it begins a job. A train of input events depends on the seed, the trial, the name of the input and the
neuron alone: silencing neurons, adding an input or a report, or running more trials never redraws what stays.

**Price.** An experiment costs brain seconds: conditions x trials x duration. dry_run=true says how many, and costs
nothing; nor does what is refused. What takes more of a core than simulated time ordinarily does costs more: inputs of
very many neurons, runaway activity, short trials and reports of very many groups or spikes (a brain second buys 20 ms).
A client may spend 600 brain seconds in any 60 seconds, unless RateLimit-Limit says otherwise. The expected price is
charged before the experiment begins, and settled at its end: what was not needed is given back, what was needed beyond
it counts as well.

**Long experiments.** Ask for application/x-ndjson: each condition comes when it is done, and at least every 5 seconds
there is a line. Where a connection breaks, \`from\` goes on at a condition. A client that disconnects ends its
experiment.

**Jobs.** What is too large for one request, up to 20,000 conditions and 300,000 brain seconds, is sent with
\`Prefer: respond-async\`. The answer is 202 with the Location of a job: GET says how far it is, GET with /results gives
its results in every format (those of the conditions that are done, until all are), DELETE ends it. Jobs are computed
when no other request needs the workers. They cost no brain seconds of the minute; those of the unfinished jobs of a
client are bounded together. A job is kept for a day after its end. A POST that begins a job may be repeated if it has an
\`Idempotency-Key\`, such as a random UUID: the same key and document begin the job once, for a day.

**Sessions.** A trial that goes on for minutes, up to 600 s, in steps of 1 to 1000 ms: POST /api/v2/sessions opens it, POST
to its /steps simulates what comes next, with rates and silences that change from step to step. Its /document is the
experiment so far, which replays it spike for spike, and from which it can be opened again. It ends 60 s after its last
step. Brain seconds of steps are charged a second ahead.

**Neurons.** A selector is the name of a node set of the document, a published one (@sugar, see /api/v2/node-sets), a
cell type (* stands for any text; :left, :right and :center choose a side), an object of labels, or a list of these. An
object may also ask for the neurons up to three connections downstream or upstream of others. Find cell types with
/api/v2/neurons, and who connects with whom with /api/v2/connections. Root ids are strings: as numbers they would exceed 2^53. On synthetic wiring
single neurons are sampled, so root ids are refused.

**Access.** There are no credentials. Every origin may call everything: a preflight (OPTIONS) is answered with 204
and allows every header that it asks for. HEAD is answered wherever GET is.

**Failures.** As in version 1, every failure is JSON with \`error\` and \`code\`. What is wrong with a document also has
\`path\`, a JSON Pointer to the place, and \`suggestions\` where names come near. An NDJSON answer that fails after it
began ends with such a line; other formats end without their last bytes, and the connection is closed.

**Versions.** Members may be added to answers; none is removed or changes its meaning within /api/v2.`;

/** Texts of the OpenAPI description of version 2 beside its operations. */
export const DESCRIPTION_OF_V2: VersionDescription = {
  version: '2',
  fullVersion: '2.0.0',
  description: DESCRIPTION,
  tags: {
    'Open experiments': 'Experiments on any neurons.',
    Jobs: 'Experiments that nobody waits for.',
    Sessions: 'Brains that go on, step by step.',
    Neurons: 'What a selector can name, and how these are connected.',
    Descriptions: 'How the interface works.',
  },
  schemas: { ...documentSchemas(), ...ANSWER_SCHEMAS, ErrorResponse: ERROR_SCHEMA },
};
