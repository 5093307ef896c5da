import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { CodedError, type ErrorCode, shown } from '../errors.js';

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
  const check = new Ajv2020({ verbose: true }).compile<T>(
    JSON.parse(readFileSync(schemaPath, 'utf8')) as object,
  );
  if (!check(value)) {
    throw new CodedError(code, `${basename(path)}: ${described(check.errors![0]!)}.`);
  }
  return value;
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
    throw new CodedError(code, `${path} is no JSON: ${(error as Error).message}.`);
  }
}

function described({ instancePath, keyword, message, params, data }: ErrorObject): string {
  const place = instancePath === '' ? 'the document' : instancePath;
  const allowed = (params as { allowedValues?: unknown[] }).allowedValues;
  if (keyword === 'additionalProperties') {
    return `${place} has a member ${shown((params as { additionalProperty: string }).additionalProperty)} that is not allowed`;
  }
  return `${place} ${message}${allowed === undefined ? '' : ` (${allowed.map((each) => shown(each)).join(', ')})`}, found ${shown(data)}`;
}
