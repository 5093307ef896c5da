/** JSON values: members by name, paths as JSON Pointers, and readable text. */
export type Json = null | boolean | number | string | readonly Json[] | Members;
export interface Members {
  readonly [name: string]: Json;
}

/** A list or object that fits into this length is written on one line. */
const LINE_LENGTH = 56;
const INDENT = '  ';

export function isMembers(value: Json | undefined): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/**
 * JSON with an indent of two spaces, and short values on one line.
 * @param before text before the value on its line
 */
export function readableJson(value: Json, indent = '', before = indent): string {
  const line = onOneLine(value);
  if (line.length + before.length < LINE_LENGTH || typeof value !== 'object' || value === null) return line;
  const inner = indent + INDENT;
  const items = isList(value)
    ? value.map((item) => inner + readableJson(item, inner))
    : Object.entries(value as Members).map(([name, member]) => {
        const start = `${inner}${JSON.stringify(name)}: `;
        return start + readableJson(member, inner, start);
      });
  const [open, close] = isList(value) ? '[]' : '{}';
  return `${open}\n${items.join(',\n')}\n${indent}${close}`;
}

function onOneLine(value: Json): string {
  if (isList(value)) return `[${value.map(onOneLine).join(', ')}]`;
  if (!isMembers(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}: ${onOneLine(member)}`,
  );
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

/** A JSON Pointer (RFC 6901) from its parts. */
export function pointer(...keys: readonly (string | number)[]): string {
  return keys.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

export function keysOf(path: string): string[] {
  return path
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** @returns undefined if the document has no such path */
export function valueAt(document: Json, path: string): Json | undefined {
  let value: Json | undefined = document;
  for (const key of keysOf(path)) {
    if (isList(value)) value = value[Number(key)];
    else if (isMembers(value) && Object.hasOwn(value, key)) value = value[key];
    else return undefined;
  }
  return value;
}

/**
 * The document with another value at a path; missing parents are added.
 * @param replacement undefined removes the member or item, and parents that become empty
 */
export function withValueAt(document: Json, path: string, replacement: Json | undefined): Json {
  return changedAt(document, keysOf(path), () => replacement) ?? {};
}

/** The document with another name for the member at a path, in the same order. */
export function withMemberRenamed(document: Json, path: string, name: string): Json {
  const keys = keysOf(path);
  const before = keys.pop();
  const renamed = (value: Json | undefined) =>
    isMembers(value)
      ? Object.fromEntries(
          Object.entries(value).map(([key, member]) => [key === before ? name : key, member]),
        )
      : value;
  return changedAt(document, keys, renamed) ?? {};
}

function changedAt(
  value: Json | undefined,
  [key, ...rest]: readonly string[],
  change: (value: Json | undefined) => Json | undefined,
): Json | undefined {
  if (key === undefined) return change(value);
  if (isList(value)) {
    const items = key in value ? value : [...value, undefined];
    const kept = items
      .map((item, at) => (String(at) === key || item === undefined ? changedAt(item, rest, change) : item))
      .filter((item) => item !== undefined);
    return kept.length === 0 ? undefined : kept;
  }
  const members = isMembers(value) ? value : {};
  const changed = changedAt(Object.hasOwn(members, key) ? members[key] : undefined, rest, change);
  const entries = Object.entries({ ...members, ...(changed !== undefined && { [key]: changed }) });
  const kept = changed === undefined ? entries.filter(([name]) => name !== key) : entries;
  return kept.length === 0 && changed === undefined ? undefined : Object.fromEntries(kept);
}
