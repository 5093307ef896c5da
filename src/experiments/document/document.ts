/**
 * The document of an experiment, the body of POST /api/v2/experiments and the file of `npm run experiment -- DOCUMENT.json`.
 *
 * Types, checks (parse-document.ts) and OpenAPI follow from one JSON Schema. Inputs, edits of the network, reports and axes of
 * a sweep come in kinds, each with its own schema. Names follow SONATA if it has a name.
 *
 * A _complete_ document has every default written out and its members in the order of the schema. So equal experiments have
 * equal complete documents.
 */
import { publishedSelectors, SELECTOR_NAME } from '../../engine/connectome/selector-schema.js';
import { ofCompleteValues, ofRequests } from '../../engine/schema/components.js';
import {
  anyOf,
  type Definitions,
  integer,
  listOf,
  mapOf,
  object,
  oneOf,
  printable,
  type Schema,
  type SchemaOf,
  type Static,
  text,
} from '../../engine/schema/json-schema.js';
import { CONTROLS } from '../kinds/controls.js';
import { AXIS_KINDS, type GivenAxis, type SweepAxis } from '../kinds/axis-kinds.js';
import { EDIT_SCHEMAS } from '../kinds/edit-kinds.js';
import { INPUT_KINDS } from '../kinds/input-kinds.js';
import { REPORT_KINDS } from '../kinds/report-kinds.js';
import { INPUT_NAME, MAX_DURATION_MS, NODE_SET, SWEPT_OF_DOCUMENT } from '../kinds/fields.js';
import type { InputDocument, ReportDocument } from '../kinds/kind-schemas.js';
import type { ReportKind } from '../kinds/report-kind.js';

export { GROUP_LABELS, type GroupLabel } from '../kinds/fields.js';

/** Names of node sets and reports. `__proto__` is refused, because it is a special member in JavaScript. */
const SET_NAME = {
  pattern: '^(?!__proto__$)[A-Za-z0-9_.-]{1,64}$',
  allowed: '1 to 64 letters, digits, "_", "." or "-", and not __proto__',
};

/** The schemas of kinds, each a component of the name of its kind. */
function schemasOf<T>(
  kinds: Readonly<Record<string, { readonly schema: SchemaOf<T> }>>,
  of: string,
): SchemaOf<T>[] {
  return Object.entries(kinds).map(([name, { schema }]) => ({
    ...schema,
    component: `${name[0]!.toUpperCase()}${name.slice(1)}${of}`,
  }));
}

const REPORT_SCHEMAS = schemasOf<ReportDocument>(REPORT_KINDS, 'Report');
const A_REPORT = 'A report on some neurons.';
/** parse-document.ts writes it out. */
const ONLY_NEURONS = {
  ...SELECTOR_NAME,
  description: 'Only the neurons: the same as a report with this `node_set`, of their mean rate.',
};
const ALLOWED_REPORT = { allowed: 'a JSON object, or a string that names neurons' };

/** A report as a request may have it. @param kinds schemas of kinds */
function reportOf(kinds: readonly SchemaOf<ReportDocument>[], component: string) {
  return anyOf(A_REPORT, [...kinds, ONLY_NEURONS], { component, ...ALLOWED_REPORT });
}

const AN_AXIS = 'An axis of the sweep.';
const SWEEP_AXIS = { component: 'SweepAxis' };

export const DOCUMENT = object(
  'An experiment: neurons that are stimulated or silenced, repeated trials, and reports.',
  {
    'name?': printable('A name of the experiment, for tables.', 120, { examples: ['Sugar dose response'] }),
    'network?': text(
      'Network that the experiment is meant for, as `network` of GET /api/v2/model; another one refuses it.',
      {
        pattern: '^[a-z0-9][a-z0-9.-]{0,99}$',
        allowed: 'the name of a network such as flywire-783: lower-case letters, digits, "." and "-"',
        examples: ['malecns-1.0'],
      },
    ),
    node_sets: mapOf(
      'Groups of neurons by name, for use as selectors. A set may name others, but not in a circle; no name is that of a cell type.',
      NODE_SET,
      { propertyNames: SET_NAME, maxProperties: 64, default: {}, examples: [{ mn9: ['@MN9'] }] },
    ),
    inputs: mapOf(
      'The stimulation. The random numbers of an input depend on its name.',
      anyOf('Neurons that get input events.', schemasOf<InputDocument>(INPUT_KINDS, 'Input'), {
        component: 'Input',
      }),
      {
        propertyNames: INPUT_NAME,
        maxProperties: 16,
        default: {},
        examples: [{ sugar: { node_set: '@sugar', rate_hz: 100 } }],
      },
    ),
    ...EDIT_SCHEMAS,
    duration_ms: SWEPT_OF_DOCUMENT.duration_ms,
    trials: integer('Repetitions of each condition, each from rest and with trains of its own.', {
      minimum: 1,
      maximum: 100,
      default: 10,
      examples: [30],
    }),
    seed: SWEPT_OF_DOCUMENT.seed,
    'reports?': mapOf(
      'The reports. By default the rate of each channel of the model, by side.',
      reportOf(REPORT_SCHEMAS, 'Report'),
      {
        propertyNames: SET_NAME,
        maxProperties: 32,
        examples: [{ mn9: { node_set: '@MN9', group_by: ['side'] } }],
      },
    ),
    'sweep?': listOf(
      'Axes whose product is the conditions; the last one varies fastest.',
      anyOf(
        AN_AXIS,
        Object.values(AXIS_KINDS).map(({ schema }): SchemaOf<GivenAxis> => schema),
        SWEEP_AXIS,
      ),
      {
        maxItems: 3,
        uniqueItems: true,
        examples: [[{ set: 'inputs.sugar.rate_hz', from: 10, to: 200, step: 10 }]],
      },
    ),
    'controls?': CONTROLS,
    on_missing: oneOf(
      'Ids and types that the model lacks, selectors without a neuron, overrides without a connection: refuse the ' +
        'experiment, or leave them out and warn.',
      ['error', 'skip'],
      { default: 'error', examples: ['skip'] },
    ),
  },
);

/** A document that its schema accepts. It has all defaults, except those that depend on the model or on several members. */
export type CheckedDocument = Static<typeof DOCUMENT>;

/** A complete document. The end of a window is null if it differs between conditions. */
export interface ExperimentDocument extends Omit<CheckedDocument, 'reports' | 'sweep'> {
  readonly reports: Readonly<Record<string, ReportDocument>>;
  /** Absent if there is no sweep. */
  readonly sweep?: readonly SweepAxis[];
}

/** The document of a session: one trial, so it has no conditions, and no report that reads only whole trials. */
function sessionDocument(): Schema {
  const { sweep: _sweep, controls: _controls, ...members } = DOCUMENT.properties;
  const kinds = REPORT_SCHEMAS.filter(
    (_, at) => !Object.values<ReportKind>(REPORT_KINDS)[at]!.isOfWholeTrials,
  );
  return {
    ...DOCUMENT,
    description: 'The experiment of a session: one trial, without sweep.',
    properties: {
      ...members,
      duration_ms: integer(
        'Simulated time before the first step, in ms. If absent, the session begins at rest.',
        {
          minimum: 1,
          maximum: MAX_DURATION_MS,
          examples: [60],
        },
      ),
      trials: integer('One: a session is one trial.', { const: 1, default: 1, examples: [1] }),
      reports: { ...members.reports, additionalProperties: reportOf(kinds, 'SessionReport') },
    },
  };
}

/** A complete document. Each of its reports is written out, and so are the values of its sweep. */
function completeDocument(): Schema {
  // Their examples are of requests.
  const { examples: _inputs, ...inputs } = DOCUMENT.properties.inputs;
  const { examples: _reports, ...reports } = DOCUMENT.properties.reports;
  const { examples: _sweep, ...sweep } = DOCUMENT.properties.sweep;
  const axes = Object.values(AXIS_KINDS).map((kind): Schema =>
    'complete' in kind ? kind.complete : kind.schema,
  );
  return {
    ...DOCUMENT,
    description: 'An experiment with every default.',
    required: [...(DOCUMENT as Schema).required!, 'reports'],
    properties: {
      ...DOCUMENT.properties,
      inputs,
      reports: {
        ...reports,
        description: 'The reports.',
        additionalProperties: anyOf(A_REPORT, REPORT_SCHEMAS, { component: 'Report' }),
      },
      sweep: { ...sweep, items: anyOf(AN_AXIS, axes, SWEEP_AXIS) },
    },
  };
}

/** The schemas of documents and of their parts, by their names in OpenAPI. */
export function documentSchemas(): Definitions {
  const requests = ofRequests({ Experiment: DOCUMENT, SessionDocument: sessionDocument() });
  const complete = ofCompleteValues({ CompleteExperiment: completeDocument() }, requests);
  return { ...requests, ...complete, ...publishedSelectors() };
}
