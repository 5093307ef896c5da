import fc from 'fast-check';
import { parseJson, refuseRepeatedMember, repeatedMember, validUntil } from './json-text.js';

describe('parseJson', () => {
  it.each([
    ['{"stimulus": loom}', 1, 14],
    ['{\n  "trials": 1,\n  "seed": 01\n}', 3, 12],
    ['{"a": [1, 2,]}', 1, 13],
    ['{"a": 1,}', 1, 9],
    ["{'a': 1}", 1, 2],
    ['{"a" 1}', 1, 6],
    ['{"a": "b\\x"}', 1, 9],
    ['{"a": "b\nc"}', 1, 9],
    ['{"a": "\\u12x4"}', 1, 8],
    ['[1 2]', 1, 4],
    ['[1}', 1, 3],
    ['{}{}', 1, 3],
    ['{"a":\r\n{"b":', 2, 6],
    ['[1.]', 1, 3],
    ['[.5]', 1, 2],
    ['[1,\u00a02]', 1, 4],
    ['', 1, 1],
  ])('says where %j is no JSON', (text, line, column) => {
    expect(() => parseJson(text)).toThrow(
      expect.objectContaining({
        code: 'MALFORMED_REQUEST',
        message: expect.stringMatching(
          new RegExp(
            `^The body is not valid JSON: .*; the fault is in line ${line}, column ${column}\\.$`,
            's',
          ),
        ),
      }),
    );
  });

  it('finds a fault exactly in texts that JSON.parse refuses, and none before it', () => {
    const texts = fc.tuple(fc.jsonValue(), fc.nat(), fc.constantFrom(...'{}[],:"\\0-e. tn\n'), fc.nat(2));
    fc.assert(
      fc.property(texts, ([value, place, character, removed]) => {
        const json = JSON.stringify(value, null, 1);
        expect(validUntil(json)).toBe(json.length);
        const at = place % (json.length + 1);
        const text = json.slice(0, at) + character + json.slice(at + removed);
        const until = validUntil(text);
        try {
          JSON.parse(text);
          expect(until).toBe(text.length);
        } catch {
          // The text before the fault is only too short; the character at the fault is wrong whatever follows.
          expect(validUntil(text.slice(0, until))).toBe(until);
          expect(validUntil(text.slice(0, until + 1))).toBe(until);
        }
      }),
    );
  });

  it('finds the end of nesting as deep, and of a string as long, as a document can have', () => {
    const nested = `${'[{"a":'.repeat(200_000)}`;
    expect(validUntil(nested)).toBe(nested.length);
    const long = `"${'\\n'.repeat(500_000)}\\x`;
    expect(validUntil(long)).toBe(long.length - 2);
  });
});

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
