/** Checks of objects and lists that come from outside: of own members alone, whatever their names are. */
import { nearestNames } from '../../connectome/nearest-names.js';
import { describeValue } from '../../errors.js';
import { invalid, memberOf, nameOf, type Place, refused } from './place.js';

/** A longer name is not repeated in a path. */
const LONGEST_NAME_IN_PATH = 100;

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** JSON has no undefined, but a caller in the same process may write it for a member that is left out. */
export function isSet(value: object, member: string): boolean {
  return Object.hasOwn(value, member) && (value as Record<string, unknown>)[member] !== undefined;
}

/** @throws CodedError INVALID_PARAMETER for a member that is not in the list, with near names */
export function checkMembers(value: object, allowed: readonly string[], place: Place): void {
  const unknown = Object.keys(value).find((member) => !allowed.includes(member));
  if (unknown === undefined) return;
  const near = nearestNames(unknown, allowed);
  throw invalid(
    unknown.length > LONGEST_NAME_IN_PATH ? place : memberOf(place, unknown),
    `${nameOf(place)} may have the members ${allowed.join(', ')}, got ${describeValue(unknown)}` +
      (near.length === 0 ? '.' : `; near: ${near.join(', ')}.`),
    near,
  );
}

/** @throws CodedError INVALID_PARAMETER for an item that a list has had before */
export function checkNew(seen: Map<string, number>, key: string, place: Place, value: unknown): void {
  const before = seen.get(key);
  if (before !== undefined) {
    throw refused(place, value, `different from all other items of the list; item ${before} is the same`);
  }
  seen.set(key, seen.size);
}
