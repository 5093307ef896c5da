import { CodedError, describeValue } from '../../errors.js';

/** A place in a document: made for every value on the way down, written out only for an error. */
export type Place = Member | null;

interface Member {
  readonly parent: Place;
  readonly key: string | number;
}

/** The document as a whole. */
export const WHOLE: Place = null;

export function memberOf(parent: Place, key: string | number): Place {
  return { parent, key };
}

function keysOf(place: Place): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let at: Place = place; at !== null; at = at.parent) keys.unshift(at.key);
  return keys;
}

/** RFC 6901. */
export function pointerTo(place: Place): string {
  return keysOf(place)
    .map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
}

/** For messages: `inputs.sugar.times_ms[3]`. */
export function nameOf(place: Place): string {
  const [first, ...others] = keysOf(place);
  if (first === undefined) return 'The document';
  return others.reduce<string>(
    (name, key) => name + (typeof key === 'number' ? `[${key}]` : `.${key}`),
    String(first),
  );
}

/** A value that is not allowed. */
export function refused(
  place: Place,
  value: unknown,
  allowed: string,
  suggestions?: readonly string[],
): CodedError {
  return invalid(place, `${nameOf(place)} must be ${allowed}, got ${describeValue(value)}.`, suggestions);
}

export function invalid(place: Place, message: string, suggestions?: readonly string[]): CodedError {
  return new CodedError('INVALID_PARAMETER', message, {
    path: pointerTo(place),
    ...(suggestions !== undefined && suggestions.length > 0 && { suggestions }),
  });
}
