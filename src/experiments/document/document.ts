/**
 * The document of an experiment, the body of POST /api/v2/experiments and the file of `npm run experiment -- DOCUMENT.json`.
 *
 * Types, checks (parse-document.ts) and OpenAPI follow from one JSON Schema. Inputs, edits of the network, reports and axes of
 * a sweep come in kinds, each with its own schema. Names follow SONATA if it has a name.
 *
 * A _complete_ document has every default written out and its members in the order of the schema. So equal experiments have
 * equal complete documents.
 */
import { publishedSelectors } from '../../engine/connectome/selector-schema.js';
import {
  anyOf,
  integer,
  listOf,
  mapOf,
  object,
  oneOf,
  printable,
  type SchemaOf,
  type Static,
  text,
} from '../../engine/schema/json-schema.js';
import { CONTROLS } from '../kinds/controls.js';
import { AXIS_KINDS, type GivenAxis, type SweepAxis } from '../kinds/axis-kinds.js';
import { EDIT_SCHEMAS } from '../kinds/edit-kinds.js';
import { INPUT_KINDS } from '../kinds/input-kinds.js';
import { REPORT_KINDS } from '../kinds/report-kinds.js';
import { INPUT_NAME, NODE_SET, SWEPT_OF_DOCUMENT } from '../kinds/fields.js';
import type { InputDocument, ReportDocument } from '../kinds/kind-schemas.js';

export { GROUP_LABELS, type GroupLabel } from '../kinds/fields.js';

/** Names of node sets and reports. `__proto__` is refused, because it is a special member in JavaScript. */
const SET_NAME = {
  pattern: '^(?!__proto__$)[A-Za-z0-9_.-]{1,64}$',
  allowed: '1 to 64 letters, digits, "_", "." or "-", and not __proto__',
};

function schemasOf<T>(kinds: Readonly<Record<string, { readonly schema: SchemaOf<T> }>>): SchemaOf<T>[] {
  return Object.values(kinds).map(({ schema }) => schema);
}

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
      anyOf('Neurons that get input events.', schemasOf<InputDocument>(INPUT_KINDS)),
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
      anyOf('A report on some neurons.', schemasOf<ReportDocument>(REPORT_KINDS)),
      {
        propertyNames: SET_NAME,
        maxProperties: 32,
        examples: [{ mn9: { node_set: '@MN9', group_by: ['side'] } }],
      },
    ),
    'sweep?': listOf(
      'Axes whose product is the conditions; the last one varies fastest.',
      anyOf('An axis of the sweep.', schemasOf<GivenAxis>(AXIS_KINDS)),
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

/** The schemas of a document and of its recurring parts, by their names in OpenAPI. */
export function documentSchemas() {
  return { Experiment: DOCUMENT, ...publishedSelectors() };
}
