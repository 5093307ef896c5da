import { checkOf } from './check.js';
import { completed } from './completed.js';
import {
  anyOf,
  integer,
  listOf,
  mapOf,
  number,
  object,
  oneOf,
  ref,
  type Schema,
  text,
} from './json-schema.js';

const CIRCLE = object('A circle.', {
  form: oneOf('Its form.', ['circle'], { default: 'circle' }),
  radius: number(),
});
const SQUARE = object('A square.', {
  form: oneOf('Its form.', ['square']),
  side: number('Length of a side.'),
});
const TREE = anyOf('A tree.', [text(), listOf(undefined, ref('Tree'), { minItems: 1 })]);
const SCHEMA = {
  ...object('A drawing.', {
    'name?': text('Its name.', { minLength: 1, maxLength: 5 }),
    count: integer('How many.', { minimum: 1, maximum: 9, default: 1 }),
    'ms?': number('When.', { multipleOf: 0.1, minimum: 0, maximum: 1 }),
    'shape?': anyOf('The drawn shape.', [CIRCLE, SQUARE]),
    'tree?': ref('Tree'),
    'ids?': listOf(undefined, text(), { uniqueItems: true, maxItems: 3 }),
    'map?': mapOf(undefined, integer(), { maxProperties: 1, propertyNames: { pattern: '^[a-z]+$' } }),
  }),
  $defs: { Tree: TREE },
};
const check = checkOf(SCHEMA);
/** The message, and the path as text. */
const faultOf = (value: unknown) => {
  const fault = check(completed(SCHEMA, value));
  return fault && [fault.path.join('/'), fault.message, ...fault.suggestions];
};

it('says nothing of a value that is as its schema says', () => {
  const value = {
    name: 'a',
    shape: { radius: 1 },
    tree: ['x', [['y']]],
    ids: ['a', 'b'],
    map: { a: 1 },
    ms: 0.1 * 3,
  };
  expect(faultOf(value)).toBeUndefined();
  expect(JSON.stringify(completed(SCHEMA, value))).toBe(
    '{"name":"a","count":1,"ms":0.3,"shape":{"form":"circle","radius":1},"tree":["x",[["y"]]],"ids":["a","b"],"map":{"a":1}}',
  );
});

it.each<[unknown, string, string, ...string[]]>([
  [[], '', 'The document must be a JSON object, got []'],
  [
    { coutn: 1 },
    'coutn',
    expect.stringMatching(/^The document may have the members name, .*; near: count$/),
    'count',
  ],
  [{ name: '' }, 'name', 'name must be a string of 1 to 5 characters, got ""'],
  [{ count: 1.5 }, 'count', 'count must be an integer from 1 to 9, got 1.5'],
  [{ ms: 1e-9 }, 'ms', 'ms must be a multiple of 0.1 from 0 to 1, got 1e-9'],
  [{ ms: 0.25 }, 'ms', 'ms must be a multiple of 0.1 from 0 to 1, got 0.25'],
  [{ shape: 1 }, 'shape', 'shape must be a JSON object, got 1'],
  [
    { shape: { form: 'sqare' } },
    'shape/form',
    'shape.form must be one of circle, square, got "sqare"',
    'square',
  ],
  [{ shape: { side: 1 } }, 'shape/side', 'shape may have side only if form is square, got circle'],
  [{ shape: { form: 'square' } }, 'shape/side', 'shape must have the member side: Length of a side'],
  [{ shape: { radius: 'x' } }, 'shape/radius', 'shape.radius must be a number, got "x"'],
  [
    { tree: ['a', ['b', 1]] },
    'tree/1/1',
    'tree[1][1] must be a string, or a list of at least 1 items, got 1',
  ],
  [{ tree: [[], 1] }, 'tree/0', 'tree[0] must be a list of at least 1 items, got []'],
  [{ ids: ['a', 'b', 'a'] }, 'ids/2', expect.stringContaining('; item 0 is the same, got "a"')],
  [{ map: { a: 1, b: 2 } }, 'map', 'map may have at most 1 members, got 2'],
  [{ map: { A: 1 } }, 'map', 'map must be an object whose names are as in ^[a-z]+$, got "A"'],
])('names the mistake in %j', (value, path, message, ...suggestions) => {
  expect(faultOf(value)).toEqual([path, message, ...suggestions]);
});

it('names a value within a whole by the path that it is given', () => {
  const fault = checkOf(listOf(undefined, integer()) as Schema)([1, 'x'], ['a', 2]);
  expect(fault).toMatchObject({ path: ['a', 2, 1], message: 'a[2][1] must be an integer, got "x"' });
});
