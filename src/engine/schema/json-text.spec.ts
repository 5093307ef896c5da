import fc from 'fast-check';
import { refuseRepeatedMember, repeatedMember } from './json-text.js';

describe('repeatedMember', () => {
  it.each([
    ['{"a":1,"a":2}', 'a', '/a'],
    ['{"a":{"b":[{"c":1},{"c":1,"d":{},"c":2}]}}', 'c', '/a/b/1/c'],
    ['{"a" \n\t: 1, "\\u0061":2}', 'a', '/a'],
    ['{"x/y~z":[],"x/y~z":{}}', 'x/y~z', '/x~1y~0z'],
    ['{"":"","":""}', '', '/'],
    ['[[1,2,"a"],{"__proto__":1,"__proto__":2}]', '__proto__', '/1/__proto__'],
    ['{"a\\"":"b","a\\"":1}', 'a"', '/a"'],
  ])('finds that of %s', (json, name, path) => {
    expect(repeatedMember(json)).toEqual({ name, path });
  });

  it.each([
    '{"a":"a","b":"a:","c":"\\",\\"a\\":1"}',
    '[{"a":1},{"a":2}]',
    '{"a":{"a":{"a":1}},"b":["a","a"]}',
    '"a"',
    '{}',
    `{"deep":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    `{"long":"${'\\"'.repeat(100_000)}"}`,
  ])('finds none in others: %#', (json) => {
    expect(repeatedMember(json)).toBeUndefined();
  });

  it('finds none in the output of JSON.stringify, and one that is added at the end', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), (value) => {
        const json = JSON.stringify(value, null, 1);
        expect(repeatedMember(json)).toBeUndefined();
        const [name] = Object.keys(value);
        const added = `${json.slice(0, -1)},${JSON.stringify(name)}:0}`;
        expect(repeatedMember(added)).toMatchObject({ name });
      }),
    );
  });
});

describe('refuseRepeatedMember', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}{"a":1,"a":2}${']'.repeat(levels)}`;

  it.each([
    [16, `${'/0'.repeat(16)}/a`],
    [60_000, ''],
  ])('names the place in %d lists, unless it is too deep to be of use', (levels, path) => {
    expect(() => refuseRepeatedMember(nested(levels))).toThrow(
      expect.objectContaining({ code: 'INVALID_PARAMETER', path }),
    );
  });
});
