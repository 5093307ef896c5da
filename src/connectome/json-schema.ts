import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { describeValue } from '../errors.js';

/** @returns a function that returns the first error of a value as a phrase with its location, or null */
export function compileSchema(schema: object): (value: unknown, document: string) => string | null {
  const check = new Ajv2020({ verbose: true }).compile(schema);
  return (value, document) => (check(value) ? null : described(check.errors![0]!, document));
}

function described({ instancePath, keyword, message, params, data }: ErrorObject, document: string): string {
  const place = instancePath === '' ? document : instancePath;
  const allowed = (params as { allowedValues?: unknown[] }).allowedValues;
  if (keyword === 'additionalProperties') {
    return `${place} has a member ${describeValue((params as { additionalProperty: string }).additionalProperty)} that is not allowed`;
  }
  return `${place} ${message}${allowed === undefined ? '' : ` (${allowed.map((each) => describeValue(each)).join(', ')})`}, found ${describeValue(data)}`;
}
