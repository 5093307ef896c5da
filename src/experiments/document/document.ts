/**
 * The document of an open experiment: what POST /api/v2/experiments and `npm run experiment -- DOCUMENT.json` take. One
 * JSON Schema says what it may have; types, checks (parse-document.ts) and OpenAPI are made from it. Its members stand
 * in the order of the complete document, in which every default is written out, so that equal experiments have equal
 * documents. Names follow SONATA where it has them. Inputs, edits of the network, reports and axes of a sweep come in
 * kinds, each with a schema of its own.
 */
import { publishedSelectors } from '../../connectome/selector-schema.js';
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
} from '../../schema/json-schema.js';
import { AXIS_KINDS, type GivenAxis, type SweepAxis } from '../kinds/axis-kinds.js';
import { EDIT_SCHEMAS } from '../kinds/edit-kinds.js';
import { SHUFFLE } from '../kinds/edits/wiring.js';
import { INPUT_KINDS } from '../kinds/input-kinds.js';
import { REPORT_KINDS } from '../kinds/report-kinds.js';
import { INPUT_NAME, NODE_SET, SWEPT_OF_DOCUMENT } from './fields.js';
import type { InputDocument, ReportDocument } from './kind-schemas.js';

export { GROUP_LABELS, type GroupLabel } from './fields.js';

/** `__proto__` is no ordinary member in JavaScript. */
const SET_NAME = {
  pattern: '^(?!__proto__$)[A-Za-z0-9_.-]{1,64}$',
  allowed: '1 to 64 letters, digits, "_", "." or "-", and not __proto__',
};

function schemasOf<T>(kinds: Readonly<Record<string, { readonly schema: SchemaOf<T> }>>): SchemaOf<T>[] {
  return Object.values(kinds).map(({ schema }) => schema);
}

const CONTROLS = object(
  'Rewired brains on which every condition is run as well, with the same trains: what is left of a rate does not come ' +
    'from the wiring. Control number n is the brain that `wiring` with this shuffle and the seed n gives.',
  {
    shuffle: SHUFFLE,
    count: integer('How many. Each counts as a condition in price and limits.', {
      minimum: 1,
      maximum: 1000,
      default: 20,
      examples: [100],
    }),
  },
  { examples: [{ shuffle: 'weights', count: 100 }] },
);

export const DOCUMENT = object(
  'An experiment: neurons that are stimulated or silenced, repeated trials, and what is read.',
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
      'What is stimulated. The random numbers of an input depend on its name.',
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
      'What is read. By default the rate of each channel of the model, by side.',
      anyOf('What is read of some neurons.', schemasOf<ReportDocument>(REPORT_KINDS)),
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
      'Ids and types that the model lacks: refuse the experiment, or leave them out and say so.',
      ['error', 'skip'],
      { default: 'error', examples: ['skip'] },
    ),
  },
);

/** A document as its schema says, with all defaults but those that depend on the model or on several members. */
export type CheckedDocument = Static<typeof DOCUMENT>;

/** A complete document. The end of a window is null where it differs between conditions. */
export interface ExperimentDocument extends Omit<CheckedDocument, 'reports' | 'sweep'> {
  readonly reports: Readonly<Record<string, ReportDocument>>;
  /** Absent without a sweep. */
  readonly sweep?: readonly SweepAxis[];
}

/** The schemas of a document and of what stands in it several times, by name. */
export function documentSchemas() {
  return { Experiment: DOCUMENT, ...publishedSelectors() };
}
