import fc from 'fast-check';
import { JsonBytes } from './json-bytes.js';

describe('JsonBytes', () => {
  it('writes integers as JSON.stringify does, also beyond the expected size', () => {
    fc.assert(
      fc.property(fc.array(fc.nat()), fc.string(), (integers, text) => {
        const json = new JsonBytes(1);
        json.text(`[${JSON.stringify(text)},[`);
        json.integers(Uint32Array.from(integers), 0, integers.length);
        json.text(']]');
        expect(JSON.parse(Buffer.from(json.finish()).toString())).toEqual([text, integers]);
      }),
      { seed: 783 },
    );
  });

  it('writes a range by itself', () => {
    const json = new JsonBytes(8);
    json.integers(Uint16Array.of(5, 0, 10, 99, 100, 1000), 1, 5);
    expect(Buffer.from(json.finish()).toString()).toBe('0,10,99,100');
  });
});
