/** The controls of the laboratory write values of a document as text, and change it at only one path. */
import {
  type Json,
  readableJson,
  withMemberRenamed,
  withValueAt,
} from '../../clients/pages/laboratory/json.js';
import {
  axisText,
  axisValues,
  COURSE,
  NUMBER,
  NUMBERS,
  PLAIN,
  type Writing,
} from '../../clients/pages/laboratory/values.js';

it.each<[string, Writing, Json, string]>([
  ['a word', PLAIN, 'flywire-783', 'flywire-783'],
  ['a number', NUMBER, -0.5, '-0.5'],
  ['text for the service to name', NUMBER, 'ten', 'ten'],
  ['times', NUMBERS, [10, 20.5], '10, 20.5'],
  ['a steady rate', COURSE, 80, '80'],
  ['a course', COURSE, { times_ms: [0, 100], values: [10, 80] }, '0: 10, 100: 80'],
])('writes %s, and reads the same back', (_, writing, value, text) => {
  expect(writing.textOf(value)).toBe(text);
  expect(writing.valueOf(text)).toEqual(value);
});

it.each<[string, Writing, Json]>([
  ['members', NUMBER, {}],
  ['lists of lists', NUMBERS, [[1]]],
  ['a course of only times', COURSE, { times_ms: [0] }],
  ['a course with values that are too few', COURSE, { times_ms: [0, 1], values: [1] }],
  ['a course with another member', COURSE, { times_ms: [0], values: [1], unit: 'Hz' }],
])('has no text for %s', (_, writing, value) => {
  expect(writing.textOf(value)).toBeUndefined();
});

it.each(['0,5 1,5 2,5', '0,5, 1,5', '0,5; 1,5'])('keeps the decimal commas of %s as text', (text) => {
  expect(NUMBERS.valueOf(text)).toBe(text);
  expect(NUMBERS.textOf(text)).toBe(text);
});

it.each(['1,2,3', '1, 2, 3', '1 2 3', ' 1,2,3 '])('reads %s as a list', (text) => {
  expect(NUMBERS.valueOf(text)).toEqual([1, 2, 3]);
});

it('leaves out a member for no text, and keeps half a course as text', () => {
  expect(NUMBER.valueOf(' ')).toBeUndefined();
  expect(NUMBER.valueOf('1e2')).toBe(100);
  expect(COURSE.valueOf('0: 10, 100')).toBe('0: 10, 100');
  expect(COURSE.valueOf('0: 10, ')).toEqual({ times_ms: [0], values: [10] });
});

it.each<[string, { readonly [name: string]: Json }]>([
  ['10, 50', { values: [10, 50] }],
  ['10:20:0.5', { from: 10, to: 20, step: 0.5 }],
  ['10:20:', { from: 10, to: 20, step: '' }],
])('writes an axis as %s', (text, axis) => {
  expect(axisText(axis)).toBe(text);
  expect(axisValues(text)).toEqual(axis);
});

it('has no text for half a range', () => {
  expect(axisText({ from: 1, to: 2 })).toBeUndefined();
});

it('changes one place: adds, replaces, and removes empty members', () => {
  const document = { inputs: { a: { rate_hz: 1 } }, silence: ['LC4', 'LC6'], constants: { delay_ms: 2 } };
  expect(withValueAt(document, '/inputs/a/rate_hz', 2)).toEqual({
    ...document,
    inputs: { a: { rate_hz: 2 } },
  });
  expect(withValueAt({}, '/wiring/jitter', 0.5)).toEqual({ wiring: { jitter: 0.5 } });
  expect(withValueAt(document, '/silence/2', 'LC9')).toMatchObject({ silence: ['LC4', 'LC6', 'LC9'] });
  expect(withValueAt(document, '/silence/0', undefined)).toMatchObject({ silence: ['LC6'] });
  expect(withValueAt({ silence: ['LC4'], trials: 1 }, '/silence/0', undefined)).toEqual({ trials: 1 });
  const { constants: _, ...others } = document;
  expect(withValueAt(document, '/constants/delay_ms', undefined)).toEqual(others);
  expect(document.silence).toEqual(['LC4', 'LC6']);
});

it('renames a member in its place', () => {
  expect(readableJson(withMemberRenamed({ inputs: { a: 1, b: 2 } }, '/inputs/a', 'c'))).toBe(
    '{ "inputs": { "c": 1, "b": 2 } }',
  );
});
