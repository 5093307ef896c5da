import type { NumberField, TextField } from './fields.js';
import { type Place, refused } from './place.js';

/** Control characters and halves of surrogate pairs: not to be shown, and not the same in every table. */
export const UNPRINTABLE = /[\p{Cc}\p{Cs}]/u;

export function textIn({ maximumLength }: TextField, value: unknown, place: Place): string {
  if (typeof value !== 'string' || [...value].length > maximumLength || UNPRINTABLE.test(value)) {
    throw refused(place, value, `a string of at most ${maximumLength} characters without control characters`);
  }
  return value;
}

/** @returns the number, never -0 and without the rounding of a calculated multiple; null where that is allowed */
export function numberIn(field: NumberField, value: unknown, place: Place): number | null {
  if (value === null && field.untilEnd === true) return null;
  const number = typeof value === 'number' ? nearestMultiple(value, field.multipleOf) : NaN;
  // Also refuses NaN.
  if (!(number >= field.minimum && number <= field.maximum)) throw refused(place, value, allowedBy(field));
  // -0 and 0 are the same experiment.
  return number + 0;
}

/** 0.1 * 3 is not 0.3, but means it: so near a multiple, a number is that multiple. NaN if it is no multiple. */
function nearestMultiple(value: number, multipleOf: NumberField['multipleOf']): number {
  if (multipleOf === undefined) return value;
  if (multipleOf === 1) return Number.isInteger(value) ? value : NaN;
  const tenths = Math.round(value * 10);
  return Math.abs(value * 10 - tenths) < 1e-6 ? tenths / 10 : NaN;
}

function allowedBy({ minimum, maximum, multipleOf, untilEnd }: NumberField): string {
  const kind = { 1: 'an integer', 0.1: 'a multiple of 0.1', none: 'a number' }[multipleOf ?? 'none'];
  const bounds = maximum === Number.MAX_VALUE ? '' : ` from ${minimum} to ${maximum}`;
  return `${kind}${bounds}${untilEnd === true ? ', or null for the end of the trial' : ''}`;
}
