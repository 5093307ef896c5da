import { CodedError, describeValue } from '../errors.js';

/** A path into a document: names of members and indices of items, outermost first. */
export type JsonPath = readonly (string | number)[];

/** @returns the JSON Pointer of a path (RFC 6901) */
export function pointerTo(path: JsonPath): string {
  return path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** @returns the names and indices of a JSON Pointer, as text */
export function keysIn(pointer: string): string[] {
  const tokens = pointer.split('/').slice(1);
  return tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** @returns the path of a JSON Pointer; a key that is a number counts as an index */
export function pathOf(pointer: string): JsonPath {
  return keysIn(pointer).map((key) => (/^\d+$/.test(key) ? Number(key) : key));
}

/**
 * Names a path in messages: `inputs.sugar.times_ms[3]`.
 * @param whole the name of the whole document
 */
export function nameOf([first, ...others]: JsonPath, whole = 'The document'): string {
  if (first === undefined) return whole;
  return others.reduce<string>(
    (name, key) => name + (typeof key === 'number' ? `[${key}]` : `.${key}`),
    String(first),
  );
}

/** @returns the error for a value that is not allowed */
export function refused(
  path: JsonPath,
  value: unknown,
  allowed: string,
  suggestions?: readonly string[],
): CodedError {
  return invalid(path, `${nameOf(path)} must be ${allowed}, got ${describeValue(value)}.`, suggestions);
}

/** @returns the error for a document that is invalid for another reason */
export function invalid(path: JsonPath, message: string, suggestions?: readonly string[]): CodedError {
  return new CodedError('INVALID_PARAMETER', message, {
    path: pointerTo(path),
    ...(suggestions !== undefined && suggestions.length > 0 && { suggestions }),
  });
}
