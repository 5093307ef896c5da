/**
 * Converts values of a document to the text of a control, and back. Invalid text stays, so that the service can refuse
 * it.
 */
import { isList, isMembers, type Json, type Members } from './json.js';

/** A conversion between values and text. `textOf` returns undefined for a value that it cannot write. */
export interface Writing {
  textOf(value: Json): string | undefined;
  /** @returns undefined for an empty text, which removes the member */
  valueOf(text: string): Json | undefined;
}

/** One word or number. */
export const PLAIN: Writing = {
  textOf: (value) => (isList(value) || isMembers(value) || value === null ? undefined : String(value)),
  valueOf: (text) => (text === '' ? undefined : text),
};

export const NUMBER: Writing = {
  // null means the end of the trial, as does a missing member.
  textOf: (value) => (value === null ? '' : PLAIN.textOf(value)),
  valueOf: (text) => (text.trim() === '' ? undefined : numberOf(text)),
};

/** `10, 20.5, 31`. A text with decimal commas stays one, such as `0,5 1,5`; in `1,2` the comma separates numbers. */
export const NUMBERS: Writing = {
  textOf(value) {
    if (!isList(value)) return typeof value === 'string' ? value : undefined;
    return value.every((each) => PLAIN.textOf(each) !== undefined) ? value.join(', ') : undefined;
  },
  valueOf(text) {
    if (/\d,\d/.test(text) && /[\s;]/.test(text.trim())) return text;
    return text
      .split(/[,\s]+/)
      .filter(Boolean)
      .map(numberOf);
  },
};

/** A number, or a course over time: `0: 10, 100: 80` means 10 from 0 ms on and 80 from 100 ms on. */
export const COURSE: Writing = {
  textOf(value) {
    if (!isMembers(value)) return NUMBER.textOf(value);
    const { times_ms: times, values, ...others } = value;
    if (!isList(times) || !isList(values) || times.length !== values.length) return undefined;
    if (times.length === 0 || Object.keys(others).length > 0) return undefined;
    return times.map((time, at) => `${String(time)}: ${String(values[at])}`).join(', ');
  },
  valueOf(text) {
    if (!text.includes(':')) return NUMBER.valueOf(text);
    const points = text
      .split(',')
      .filter((point) => point.trim() !== '')
      .map((point) => point.split(':').map((part) => numberOf(part.trim())));
    if (points.some(({ length }) => length !== 2)) return text;
    return { times_ms: points.map(([time]) => time!), values: points.map(([, value]) => value!) };
  },
};

/** Values of an axis: `10, 50, 100`, or `10:200:10` (from, to, step), also while a part is still missing. */
export function axisText({ values, from, to, step }: Members): string | undefined {
  if (values !== undefined) return NUMBERS.textOf(values);
  const range = [from, to, step];
  return range.every((part) => part !== undefined && PLAIN.textOf(part) !== undefined)
    ? range.join(':')
    : undefined;
}

export function axisValues(text: string): Members {
  const [from, to, step, more] = text.split(':').map((part) => numberOf(part.trim()));
  return step !== undefined && more === undefined
    ? { from: from!, to: to!, step }
    : { values: NUMBERS.valueOf(text)! };
}

function numberOf(text: string): Json {
  const number = Number(text);
  return text.trim() === '' || Number.isNaN(number) ? text : number;
}
