/**
 * Documents as they cross threads. A list of 60,000 numbers takes a thread many milliseconds to receive. An array in shared
 * memory takes none, so long lists and long maps become arrays.
 */
import { type InParts, withoutPauses } from '../../engine/parts.js';
import { isObject } from '../../engine/schema/forms.js';

/** So many take a millisecond or two. */
const NUMBERS_AT_ONCE = 8192;
/** Members that a list or a map may have as it is. */
const MAX_MEMBERS = 64;
/** Length of UTF-8 for one unit of UTF-16. */
const MAX_BYTES_PER_UNIT = 3;

/** @returns a copy in which long lists of numbers are Float64Arrays, and other long lists and maps are bytes of JSON */
export function packed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    if (value.length <= MAX_MEMBERS) return value.map(packed);
    return value.every((member) => typeof member === 'number') ? Float64Array.from(value) : jsonOf(value);
  }
  const members = Object.entries(value);
  if (members.length > MAX_MEMBERS) return jsonOf(value);
  return Object.fromEntries(members.map(([name, member]) => [name, packed(member)]));
}

/**
 * Compares a packed value with one that is not packed, also in the order of members.
 * It unpacks nothing that is much longer than the other value: requests are compared on the main thread.
 */
export function equalsPacked(value: unknown, other: unknown): boolean {
  if (value instanceof Uint8Array) {
    const text = JSON.stringify(other) ?? '';
    const canBeEqual = value.length >= text.length && value.length <= MAX_BYTES_PER_UNIT * text.length;
    return canBeEqual && withoutPauses(packedJson(value)) === text;
  }
  if (value instanceof Float64Array || Array.isArray(value)) {
    return (
      Array.isArray(other) &&
      value.length === other.length &&
      other.every((member, at) => equalsPacked(value[at], member))
    );
  }
  if (!isObject(value) || !isObject(other)) return value === other;
  const [members, others] = [Object.entries(value), Object.entries(other)];
  return (
    members.length === others.length &&
    members.every(([name, member], at) => name === others[at]![0] && equalsPacked(member, others[at]![1]))
  );
}

/**
 * The JSON of a packed document.
 * @param value may also hold lists of Float64Arrays, each the parts of one list
 */
export function* packedJson(value: unknown): InParts<string> {
  if (value instanceof Uint8Array) {
    yield;
    // TextDecoder refuses shared memory.
    return new TextDecoder().decode(Uint8Array.from(value));
  }
  if (value instanceof Float64Array) return yield* listJson([value]);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const texts: string[] = [];
  if (Array.isArray(value)) {
    if (value.length > 0 && value.every((part) => part instanceof Float64Array))
      return yield* listJson(value);
    for (const member of value) texts.push(yield* packedJson(member));
    return `[${texts.join()}]`;
  }
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined) texts.push(`${JSON.stringify(name)}:${yield* packedJson(member)}`);
  }
  return `{${texts.join()}}`;
}

function* listJson(parts: readonly Float64Array[]): InParts<string> {
  const texts: string[] = [];
  for (const part of parts) {
    for (let at = 0; at < part.length; at += NUMBERS_AT_ONCE) {
      texts.push(part.subarray(at, at + NUMBERS_AT_ONCE).join());
      yield;
    }
  }
  return `[${texts.join()}]`;
}

function jsonOf(value: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}
