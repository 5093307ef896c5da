import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { compileSchema } from './json-schema.js';
import { CodedError, type ErrorCode } from '../errors.js';

/**
 * Reads a JSON file and checks it against a schema.
 * @param schemaPath by default NAME.schema.json beside NAME.json
 * @throws CodedError with `code`, naming the place, what was found there and what is allowed
 */
export function readChecked<T>(
  path: string,
  code: ErrorCode,
  schemaPath: string = path.replace(/\.json$/, '.schema.json'),
): T {
  const value = parsed(path, code);
  const fault = compileSchema(JSON.parse(readFileSync(schemaPath, 'utf8')) as object)(value, 'the document');
  if (fault !== null) {
    throw new CodedError(code, `${basename(path)}: ${fault}.`);
  }
  return value as T;
}

function parsed(path: string, code: ErrorCode): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new CodedError(code, `${path} cannot be read: ${(error as Error).message}.`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CodedError(code, `${path} is not JSON: ${(error as Error).message}.`);
  }
}
