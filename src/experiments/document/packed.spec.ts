import { withoutPauses } from '../../engine/parts.js';
import { equalsPacked, packed, packedJson } from './packed.js';

const jsonOf = (value: unknown) => withoutPauses(packedJson(value));

const numbers = Array.from({ length: 70 }, (_, at) => at / 10);
const DOCUMENT = {
  name: 'é',
  inputs: { a: { rate_hz: { times_ms: numbers, values: [1, 2] }, node_set: numbers.map(String) } },
  rows: numbers.map((rate) => ({ node_set: 'x', rate })),
  by_id: Object.fromEntries(numbers.map((each, at) => [`n${at}`, [each]])),
  short: [[1.5, null, 1e-7, 1e21], [], {}, true],
};

describe('a packed document', () => {
  it('has no long list and no long map, and has the same JSON', () => {
    const { inputs, rows, by_id: byId, short } = packed(DOCUMENT) as typeof DOCUMENT;
    expect(inputs.a.rate_hz).toEqual({ times_ms: new Float64Array(numbers), values: [1, 2] });
    for (const value of [inputs.a.node_set, rows, byId]) expect(value).toBeInstanceOf(Uint8Array);
    expect(short).toEqual(DOCUMENT.short);
    expect(jsonOf(packed(DOCUMENT))).toBe(JSON.stringify(DOCUMENT));
  });

  it('equals only what it was packed from', () => {
    const { rows, ...rest } = DOCUMENT;
    expect(equalsPacked(packed(DOCUMENT), structuredClone(DOCUMENT))).toBe(true);
    const others = [
      { ...DOCUMENT, name: 'e' },
      { ...rest, rows },
      rest,
      { ...DOCUMENT, rows: rows.slice(1) },
      { ...DOCUMENT, rows: [...rows.slice(1), rows[0]] },
      { ...DOCUMENT, rows: undefined },
      { ...DOCUMENT, short: [...DOCUMENT.short.slice(1), null] },
      { ...DOCUMENT, inputs: { a: { ...DOCUMENT.inputs.a, rate_hz: { times_ms: rows, values: [1, 2] } } } },
    ];
    for (const other of others) expect(equalsPacked(packed(DOCUMENT), other)).toBe(false);
  });

  it('may have a list in parts, and bytes in shared memory', () => {
    const bytes = new TextEncoder().encode('["ä"]');
    const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
    shared.set(bytes);
    const parts = {
      list: [new Float64Array([1]), new Float64Array([2.5, 3])],
      shared,
      none: [],
      left: undefined,
    };
    expect(jsonOf(parts)).toBe('{"list":[1,2.5,3],"shared":["ä"],"none":[]}');
  });
});
