/** The schema of selectors (set-selector.ts), for documents and all other requests that name neurons. */
import {
  anyOf,
  integer,
  listOf,
  object,
  oneOf,
  ref,
  type Schema,
  type SchemaOf,
  text,
  UNPRINTABLE,
} from '../schema/json-schema.js';
import { MAX_SYNAPSES_PER_CONNECTION } from './connectome.js';
import { DIRECTIONS } from './neighbours.js';
import type { Label } from './neuron-index.js';
import {
  ALL_NEURONS,
  type LabelSelector,
  NAMED_SIDES,
  PUBLISHED_PREFIX,
  type SetSelector,
} from './set-selector.js';

/** The longest label of release 783 has 31 characters. */
export const MAX_LABEL_LENGTH = 100;
/** The depth of nested lists and objects. */
export const MAX_SELECTOR_DEPTH = 16;

const LENGTH = `1 to ${MAX_LABEL_LENGTH} characters without control characters`;

/** An unsigned integer of 64 bits. */
export const ROOT_ID = text(undefined, {
  pattern: '^(?:0|[1-9][0-9]{0,19})$',
  allowed:
    'a root id: a string of 1 to 20 decimal digits without a leading zero, because root ids exceed 2^53, beyond which ' +
    'a number in JSON is not exact',
});

/** A name, optionally with a colon and a side: the grammar of nameOnSide(). */
export const SELECTOR_NAME = text(undefined, {
  maxLength: MAX_LABEL_LENGTH,
  pattern: `^(?:[^:${UNPRINTABLE}]+|[^${UNPRINTABLE}]+:(?:${NAMED_SIDES.join('|')}))$`,
  allowed:
    `the name of a node set or a cell type: ${LENGTH}, alone or followed by one of ` +
    NAMED_SIDES.map((side) => `:${side}`).join(', '),
});

/** The schema of a label: one value, or a list of which any matches. */
function valuesOf(description: string, value: Schema, allowed = 'a string or a list of strings') {
  const list = listOf(undefined, value, {
    minItems: 1,
    uniqueItems: true,
    allowed: 'a list of at least one string',
  });
  return anyOf(description, [value, list], { allowed });
}

function namesOf(label: string, description: string) {
  const name = text(undefined, {
    maxLength: MAX_LABEL_LENGTH,
    pattern: `^[^${UNPRINTABLE}]+$`,
    allowed: `a ${label}: ${LENGTH}`,
  });
  return valuesOf(description, name);
}

const LABELS = {
  'type?': namesOf('type', 'Cell types; * stands for any text.'),
  'class?': namesOf('class', 'Cell classes; * stands for any text.'),
  'sub_class?': namesOf('sub_class', 'Sub classes; * stands for any text.'),
  'super_class?': namesOf('super_class', 'Super classes; * stands for any text.'),
  'side?': valuesOf(
    'left, right or center, in the convention of the 783 classification.',
    oneOf(undefined, NAMED_SIDES),
  ),
  'root_id?': valuesOf(
    'Root ids as strings: they exceed 2^53, beyond which numbers in JSON are not exact.',
    ROOT_ID,
    ROOT_ID.allowed,
  ),
};
/** The labels of a selector that is an object, in the order of the complete document. */
export const SELECTOR_LABELS = Object.keys(LABELS).map((name) => name.slice(0, -1)) as (keyof Pick<
  LabelSelector,
  Label | 'root_id'
>)[];

/** The schema of a selector, for a schema that has `$defs: SELECTOR_DEFINITIONS`. */
export function selector(description?: string): SchemaOf<SetSelector> {
  return ref('Selector', description);
}

const CONNECTED = {
  'downstream_of?': selector(
    'Neurons that these reach over 1 to `hops` connections. One of these themselves is among them only if it is reached too.',
  ),
  'upstream_of?': selector(
    'Neurons that reach these over 1 to `hops` connections; otherwise as `downstream_of`.',
  ),
  'hops?': integer(
    'Connections that follow one another, at most, for `downstream_of` and `upstream_of`; 1 if absent.',
    {
      minimum: 1,
      maximum: 3,
    },
  ),
  'minimum_synapses?': integer(
    'Synapses that each of these connections has at least: as many as the connections of the model have, or more. If ' +
      'absent, every connection of the model counts.',
    { minimum: 1, maximum: MAX_SYNAPSES_PER_CONNECTION },
  ),
};

const withoutLabel = {
  allowed: `an object with at least one of ${[...SELECTOR_LABELS, ...DIRECTIONS].join(', ')}`,
};
const ofConnections = {
  anyOf: DIRECTIONS.map((direction) => ({ properties: { [direction]: {} }, required: [direction] })),
};
export const LABEL_SELECTOR = object(
  'Neurons by labels and connections: all members must agree, and a list means any of its values. It must have a ' +
    'member other than `except`, `hops` and `minimum_synapses`.',
  { ...LABELS, ...CONNECTED, 'except?': selector('Neurons that are left out again.') },
  {
    minProperties: 1,
    ...withoutLabel,
    dependentSchemas: {
      hops: ofConnections,
      minimum_synapses: ofConnections,
      except: { minProperties: 2, ...withoutLabel },
    },
    examples: [
      { type: ['LC4', 'LPLC2'], side: 'left' },
      { super_class: 'descending', downstream_of: 'LC4', hops: 2, minimum_synapses: 10 },
    ],
  },
);

const FORMS = 'a name, an object of labels or a list of selectors';
const LIST = { minItems: 1, uniqueItems: true, allowed: `${FORMS} with at least one item` };
const SELECTOR = anyOf(
  `Selects neurons. A string is ${PUBLISHED_PREFIX}${ALL_NEURONS}, the name of a node set of the document, of a published one (${PUBLISHED_PREFIX}sugar, ` +
    `${PUBLISHED_PREFIX}shiu2024/sugar), of a channel (${PUBLISHED_PREFIX}channel/escape) or a stimulus ` +
    `(${PUBLISHED_PREFIX}stimulus/loom) of the model, or else a cell type, in which * stands for any text; :left, :right or ` +
    `:center at its end takes one side. An object has labels, or selects neighbours along connections. A list of selectors is their union. At most ` +
    `${MAX_SELECTOR_DEPTH} levels.`,
  [SELECTOR_NAME, LABEL_SELECTOR, listOf(undefined, selector(), LIST)],
  {
    allowed: `${FORMS}; ids are strings in root_id`,
    examples: ['LC4:left', { type: ['LC4', 'LPLC2'], side: 'left' }, ['@sugar', 'CB0701']],
  },
);

export const SELECTOR_DEFINITIONS = { Selector: SELECTOR };

const DEEPER = `A selector at a deeper level; a selector has at most ${MAX_SELECTOR_DEPTH} levels.`;

/**
 * The published definitions, unrolled to two levels and free of circles: most generators, mocks and validators of
 * OpenAPI fail on a schema that contains itself. They allow all that the service allows; it checks deeper levels itself.
 */
export function publishedSelectors() {
  const union = (labels: string) =>
    listOf(
      undefined,
      anyOf(undefined, [SELECTOR_NAME, ref(labels), { type: 'array', description: DEEPER }]),
      LIST,
    );
  const deeper = { description: DEEPER };
  const inner = { ...LABEL_SELECTOR.properties, downstream_of: deeper, upstream_of: deeper, except: deeper };
  const { examples: _, ...ofLabels } = LABEL_SELECTOR;
  const through = (name: 'downstream_of' | 'upstream_of' | 'except') => ({
    ...LABEL_SELECTOR.properties[name],
    ...ref('InnerSelector'),
  });
  return {
    Selector: { ...SELECTOR, anyOf: [SELECTOR_NAME, ref('LabelSelector'), union('LabelSelector')] },
    LabelSelector: {
      ...LABEL_SELECTOR,
      properties: {
        ...LABEL_SELECTOR.properties,
        downstream_of: through('downstream_of'),
        upstream_of: through('upstream_of'),
        except: through('except'),
      },
    },
    InnerSelector: anyOf('A selector within a selector.', [
      SELECTOR_NAME,
      ref('InnerLabelSelector'),
      union('InnerLabelSelector'),
    ]),
    InnerLabelSelector: { ...ofLabels, properties: inner },
  };
}
