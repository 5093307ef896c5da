import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { CodedError, type ErrorCode } from '../errors.js';
import { checkOf } from '../schema/check.js';
import type { Schema } from '../schema/json-schema.js';

/**
 * Reads a JSON file and checks it against a schema.
 * @param schemaPath by default NAME.schema.json beside NAME.json
 * @throws CodedError with `code`, naming the member, what it got and what is allowed
 */
export function readChecked<T>(
  path: string,
  code: ErrorCode,
  schemaPath: string = path.replace(/\.json$/, '.schema.json'),
): T {
  let text: string;
  let value: unknown;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new CodedError(code, `${path} cannot be read: ${(error as Error).message}.`);
  }
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new CodedError(code, `${path} is not JSON: ${(error as Error).message}.`);
  }
  const fault = checkOf(JSON.parse(readFileSync(schemaPath, 'utf8')) as Schema)(value);
  if (fault === undefined) return value as T;
  throw new CodedError(code, `${basename(path)}: ${fault.message}.`);
}
