import { CodedError, describeValue } from '../errors.js';
import { allowedBy, isAllowedBy } from './allowed-values.js';
import { own } from '../own.js';
import { isObject } from './forms.js';
import type { Schema, Static } from './json-schema.js';

type Fields = Readonly<Record<string, Schema>>;

/** The names of a flat object in messages. */
export const BODY = { whole: 'body', field: 'field' };
export const QUERY = { whole: 'query', field: 'query parameter' };

/**
 * Checks a flat object, such as a query, whose fields are all optional. Only undefined counts as absent.
 * @returns the object with its fields in the order of the schemas
 * @throws CodedError INVALID_PARAMETER with the field, the value and the allowed values
 */
export function checkedFields<const F extends Fields>(
  fields: F,
  value: unknown,
  { whole, field }: typeof BODY,
): { readonly [Name in keyof F]?: Static<F[Name]> } {
  if (!isObject(value)) throw notObject(whole, value);
  const allowed = Object.keys(fields);
  for (const name of Object.keys(value))
    if (!allowed.includes(name)) throw unknownField(name, allowed, field);
  const given = Object.entries(fields).filter(([name]) => own(value, name) !== undefined);
  for (const [name, schema] of given) {
    if (!isAllowedBy(schema, own(value, name))) throw notAllowed(name, allowedBy(schema)!, own(value, name));
  }
  return Object.fromEntries(given.map(([name]) => [name, own(value, name)])) as ReturnType<
    typeof checkedFields<F>
  >;
}

export function notObject(whole: string, value: unknown): CodedError {
  return invalid(`The ${whole} must be a JSON object, got ${describeValue(value)}.`);
}

export function unknownField(name: string, allowed: readonly string[], field: string): CodedError {
  return invalid(`${describeValue(name)} is not a ${field}; allowed: ${allowed.join(', ') || 'none'}.`);
}

export function notAllowed(name: string, allowed: string, value: unknown): CodedError {
  return invalid(`${name} must be ${allowed}, got ${describeValue(value)}.`);
}

function invalid(message: string): CodedError {
  return new CodedError('INVALID_PARAMETER', message);
}
