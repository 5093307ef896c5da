/** The schema of selectors (set-selector.ts), for documents and all other requests that name neurons. */
import {
  anyOf,
  type Definitions,
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

const LENGTH = `1 to ${MAX_LABEL_LENGTH} characters without control characters or lone surrogates`;

/** An unsigned integer of 64 bits. */
export const ROOT_ID = text(undefined, {
  pattern: '^(?:0|[1-9][0-9]{0,19})$',
  allowed:
    'a root id, which only measured cells have: a string of 1 to 20 decimal digits without a leading zero, because root ' +
    'ids exceed 2^53, beyond which a number in JSON is not exact',
});

/** A name, optionally with a colon and a side: the grammar of nameOnSide(). */
export const SELECTOR_NAME = text(undefined, {
  maxLength: MAX_LABEL_LENGTH,
  pattern: `^(?:[^:${UNPRINTABLE}]+|[^${UNPRINTABLE}]+:(?:${NAMED_SIDES.join('|')}))$`,
  allowed:
    `the name of a node set or a cell type: ${LENGTH}, alone or followed by one of ` +
    NAMED_SIDES.map((side) => `:${side}`).join(', ') +
    '; a type with another colon needs {"type": "NAME"}',
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

/** The labels whose values have the same schema, by the name of this schema. */
const VALUES = {
  LabelNames: ['type', 'class', 'sub_class', 'super_class'],
  Sides: ['side'],
  RootIds: ['root_id'],
} as const;

/**
 * The published definitions, unrolled to two levels and free of circles: most generators, mocks and validators of
 * OpenAPI fail on a schema that contains itself. They allow all that the service allows; it checks deeper levels itself.
 * Every part has a name, because generated clients number the others.
 */
export function publishedSelectors(): Definitions {
  const { properties } = LABEL_SELECTOR;
  const labels = Object.entries(VALUES).flatMap(([name, members]) =>
    members.map((member) => [member, ref(name, properties[member].description)]),
  );
  const values = Object.entries(VALUES).map(([name, [member]]) => [
    name,
    { ...properties[member], description: 'A value of a label, or several.' },
  ]);
  const connected = (schemaOf: (description?: string) => Schema) => ({
    ...properties,
    ...Object.fromEntries(labels),
    downstream_of: schemaOf(properties.downstream_of.description),
    upstream_of: schemaOf(properties.upstream_of.description),
    except: schemaOf(properties.except.description),
  });
  const { examples: _, ...withoutExamples } = LABEL_SELECTOR;
  const lists = (prefix: string): Definitions => ({
    [`${prefix}SelectorList`]: listOf('The union of selectors.', ref(`${prefix}SelectorItem`), LIST),
    [`${prefix}SelectorItem`]: anyOf('A selector within a list.', [
      ref('SelectorName'),
      ref(`${prefix}LabelSelector`),
      listOf(DEEPER, {}),
    ]),
  });
  const forms = (prefix: string) =>
    ['SelectorName', `${prefix}LabelSelector`, `${prefix}SelectorList`].map((name) => ref(name));
  return {
    Selector: { ...SELECTOR, anyOf: forms('') },
    SelectorName: { ...SELECTOR_NAME, description: 'A name, which a side may follow.' },
    LabelSelector: {
      ...LABEL_SELECTOR,
      properties: connected((description) => ref('InnerSelector', description)),
    },
    ...lists(''),
    InnerSelector: anyOf('A selector within a selector.', forms('Inner')),
    InnerLabelSelector: { ...withoutExamples, properties: connected(() => ({ description: DEEPER })) },
    ...lists('Inner'),
    ...Object.fromEntries(values),
  };
}
