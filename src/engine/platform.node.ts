/**
 * The functions of the platform that the engine and the experiments need, imported as `#platform` (package.json). This
 * is Node's version; a browser has another one with the same functions.
 */
import { createHash, hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CodedError, type ErrorCode } from './errors.js';
import { checkOf } from './schema/check.js';
import type { Schema } from './schema/json-schema.js';

/** @param parts pieces that are hashed in order; strings as UTF-8 */
export function sha256(...parts: readonly (string | Uint8Array)[]): Uint8Array {
  const digest = createHash('sha256');
  for (const part of parts) digest.update(part);
  return digest.digest();
}

/** Lower-case hex digits. */
export function sha256Hex(data: string | Uint8Array): string {
  return hash('sha256', data);
}

const DATA = {
  'node-sets': new URL('../../data/node-sets.json', import.meta.url),
  synonyms: new URL('../../data/synonyms.json', import.meta.url),
};
export type PublishedFile = keyof typeof DATA;

/**
 * Reads a file of published names in data/.
 * @throws CodedError INTERNAL
 */
export function publishedFile(name: PublishedFile): unknown {
  return readChecked(fileURLToPath(DATA[name]), 'INTERNAL');
}

/**
 * Reads a JSON file and checks it against a schema.
 * @param schemaPath by default NAME.schema.json beside NAME.json
 * @throws CodedError with `code`; the message names the member, the value found and the allowed values
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
