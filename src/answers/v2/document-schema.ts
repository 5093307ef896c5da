import { ALL_NEURONS, NAMED_SIDES, PUBLISHED_PREFIX } from '../../connectome/set-selector.js';
import {
  DOCUMENT,
  type Field,
  MAXIMUM_LABEL_LENGTH,
  MAXIMUM_SELECTOR_DEPTH,
  type NumberField,
  type ObjectField,
  ROOT_ID,
  SELECTOR_LABELS,
  type TaggedField,
  type TimesField,
} from './fields.js';

type Schema = Readonly<Record<string, unknown>>;

/** Of a document and of what stands in it several times, by name. */
interface DocumentSchemas {
  readonly Experiment: Schema;
  readonly Selector: Schema;
  readonly LabelSelector: Schema;
}

/**
 * JSON Schemas (2020-12) of a document as a request may have it, from the table of fields. Multiples of 0.1 are said in
 * words: validators divide doubles and refuse 0.3.
 * @param definitions where the schemas stand in the whole
 */
export function documentSchemas(definitions = '#/components/schemas'): DocumentSchemas {
  const refTo = (name: keyof DocumentSchemas): Schema => ({ $ref: `${definitions}/${name}` });
  return {
    Experiment: new Schemas(refTo('Selector')).of(DOCUMENT),
    Selector: selectorSchema(refTo('Selector'), refTo('LabelSelector')),
    LabelSelector: labelSelectorSchema(refTo('Selector')),
  };
}

/** The schema of a document alone, for editors and validators. */
export function documentSchema(): Schema {
  const { Experiment: experiment, ...others } = documentSchemas('#/$defs');
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Experiment',
    ...experiment,
    $defs: others,
  };
}

class Schemas {
  constructor(private readonly selector: Schema) {}

  of(field: Field): Schema {
    return { ...this.#form(field), ...annotations(field) };
  }

  #form(field: Field): Schema {
    switch (field.kind) {
      case 'text':
        return { type: 'string', maxLength: field.maximumLength };
      case 'number':
        return numberSchema(field);
      case 'choice':
        return field.allowed.length === 1 ? { const: field.allowed[0] } : { enum: field.allowed };
      case 'list':
        return {
          type: 'array',
          items: this.of(field.of),
          ...(field.minimumLength > 0 && { minItems: field.minimumLength }),
          ...(field.maximumLength < Infinity && { maxItems: field.maximumLength }),
          uniqueItems: true,
        };
      case 'map':
        return {
          type: 'object',
          propertyNames: { pattern: field.names.pattern },
          additionalProperties: this.of(field.of),
          maxProperties: field.maximumLength,
        };
      case 'object':
        return this.#object(field);
      case 'tagged':
        return this.#tagged(field);
      case 'either':
        return { anyOf: [this.of(field.having), this.of(field.otherwise)] };
      case 'selector':
        return this.selector;
      case 'times':
        return timesSchema(field);
    }
  }

  #object({ members }: ObjectField): Schema {
    const entries = Object.entries(members);
    const required = entries.filter(
      ([, { default: value, optional }]) => value === undefined && optional !== true,
    );
    return {
      type: 'object',
      properties: Object.fromEntries(entries.map(([name, member]) => [name, this.of(member)])),
      ...(required.length > 0 && { required: required.map(([name]) => name) }),
      additionalProperties: false,
    };
  }

  /** The tag may be left out of the default variant alone. */
  #tagged({ tag, defaultTag, variants }: TaggedField): Schema {
    return {
      anyOf: Object.entries(variants).map(([name, variant]) => {
        const schema = this.of(variant);
        if (name === defaultTag) return schema;
        return { ...schema, required: [...((schema['required'] as string[] | undefined) ?? []), tag] };
      }),
    };
  }
}

function annotations({ description, default: value, example }: Field): Schema {
  return {
    description,
    ...(value !== undefined && { default: value }),
    ...(example !== undefined && { examples: [example] }),
  };
}

function numberSchema({ minimum, maximum, multipleOf, untilEnd }: NumberField): Schema {
  const type = multipleOf === 1 ? 'integer' : 'number';
  return {
    type: untilEnd === true ? [type, 'null'] : type,
    ...(maximum < Number.MAX_VALUE && { minimum, maximum }),
    ...(multipleOf === 0.1 && { $comment: 'A multiple of 0.1.' }),
  };
}

function timesSchema({ time, maximumLength }: TimesField): Schema {
  const list = {
    type: 'array',
    items: { ...numberSchema(time), description: time.description },
    maxItems: maximumLength,
    uniqueItems: true,
  };
  return {
    anyOf: [
      list,
      { type: 'object', propertyNames: { pattern: ROOT_ID }, additionalProperties: list, minProperties: 1 },
    ],
  };
}

const NAME: Schema = { type: 'string', minLength: 1, maxLength: MAXIMUM_LABEL_LENGTH };

/**
 * TypeScript has no array type that contains itself outside of an alias, so generators cannot express lists in lists.
 * They skip `unevaluatedItems`, which validators apply to all items here, because no other keyword speaks of them.
 */
function selectorSchema(selector: Schema, labelSelector: Schema): Schema {
  const listOf = (items: Schema): Schema => ({ type: 'array', ...items, minItems: 1, uniqueItems: true });
  const innerList = listOf({ unevaluatedItems: selector });
  return {
    description:
      `Which neurons. A string is ${PUBLISHED_PREFIX}${ALL_NEURONS}, the name of a node set of the document, of a published one (${PUBLISHED_PREFIX}sugar, ` +
      `${PUBLISHED_PREFIX}shiu2024/sugar), of a channel (${PUBLISHED_PREFIX}channel/escape) or a stimulus ` +
      `(${PUBLISHED_PREFIX}stimulus/loom) of the model, or else a cell type, where * stands for any text; :left, :right or ` +
      `:center behind it takes one side. An object has labels. A list of selectors is their union. At most ` +
      `${MAXIMUM_SELECTOR_DEPTH} levels.`,
    anyOf: [NAME, labelSelector, listOf({ items: { anyOf: [NAME, labelSelector, innerList] } })],
    examples: ['LC4:left', { type: ['LC4', 'LPLC2'], side: 'left' }, ['@sugar', 'CB0701']],
  };
}

function labelSelectorSchema(selector: Schema): Schema {
  const valueOf = (name: string): Schema => {
    if (name === 'root_id') return { type: 'string', pattern: ROOT_ID };
    return name === 'side' ? { enum: NAMED_SIDES } : NAME;
  };
  const labels = Object.entries(SELECTOR_LABELS).map(([name, description]) => [
    name,
    {
      anyOf: [valueOf(name), { type: 'array', items: valueOf(name), minItems: 1, uniqueItems: true }],
      description,
    },
  ]);
  return {
    type: 'object',
    description:
      'Neurons by labels: all members must agree, and a list means any of its values. It must have a member other ' +
      'than `except`.',
    properties: {
      ...Object.fromEntries(labels),
      except: { ...selector, description: 'Neurons that are left out again.' },
    },
    additionalProperties: false,
    minProperties: 1,
    dependentSchemas: { except: { minProperties: 2 } },
    examples: [{ type: ['LC4', 'LPLC2'], side: 'left' }],
  };
}
