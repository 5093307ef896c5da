import { describeValue } from '../errors.js';
import type { Schema } from './json-schema.js';

/** Tells whether a schema allows a string or a number. This needs no Ajv, which checks objects and lists. */
export function isAllowedBy(schema: Schema, value: unknown): boolean {
  const { accepts, type, enum: values, minimum = -Infinity, maximum = Infinity } = schema;
  if (accepts !== undefined) return accepts(value);
  if (values !== undefined) return values.includes(value);
  if (typeof value !== 'number') return type === typeof value;
  return value >= minimum && value <= maximum && (type === 'number' || Number.isInteger(value));
}

/** @returns the end of the sentence "NAME must be ..."; undefined if no keyword of the schema is known here */
export function allowedBy(schema: Schema): string | undefined {
  const { allowed, anyOf: forms, enum: values } = schema;
  if (allowed !== undefined) return allowed;
  if (forms !== undefined) return [...new Set(forms.map(allowedBy))].join(', or ');
  if ('const' in schema) return describeValue(schema['const']);
  if (values !== undefined) return `one of ${values.join(', ')}`;
  const [type, ...others] = [schema.type ?? []].flat();
  const words = allowedByType(type, schema);
  return words !== undefined && others.includes('null') ? `${words}, or null` : words;
}

function allowedByType(type: string | undefined, schema: Schema): string | undefined {
  const { minimum, maximum, exclusiveMinimum, multipleOf, pattern, minProperties } = schema;
  switch (type) {
    case 'number':
    case 'integer': {
      const kind = type === 'integer' ? 'an integer' : 'a number';
      const number = multipleOf === undefined ? kind : `a multiple of ${multipleOf}`;
      const most = maximum === undefined ? '' : ` and at most ${maximum}`;
      if (exclusiveMinimum !== undefined) return `${number} above ${exclusiveMinimum}${most}`;
      return number + between(minimum, maximum, 'from');
    }
    case 'string': {
      const length = between(schema.minLength, schema.maxLength, 'of', ' characters');
      return `a string${length}${pattern === undefined ? '' : ` that matches ${pattern}`}`;
    }
    case 'array':
      if (schema.maxItems === 0) return 'an empty list';
      return `a list${between(schema.minItems, schema.maxItems, 'of', ' items')}`;
    case 'object':
      return minProperties === undefined
        ? 'a JSON object'
        : `a JSON object with at least ${minProperties} members`;
    case 'boolean':
      return 'true or false';
    default:
      return undefined;
  }
}

/** @param preposition used if there are two bounds */
function between(
  minimum: number | undefined,
  maximum: number | undefined,
  preposition: string,
  unit = '',
): string {
  if (minimum === undefined && maximum === undefined) return '';
  if (minimum === undefined) return ` of at most ${maximum}${unit}`;
  if (maximum === undefined) return ` of at least ${minimum}${unit}`;
  return ` ${preposition} ${minimum} to ${maximum}${unit}`;
}
