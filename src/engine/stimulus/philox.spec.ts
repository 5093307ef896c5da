import { philox4x32, PhiloxSequence } from './philox.js';

// Known answers of Random123 1.14 (tests/kat_vectors, philox 4x32, 10 rounds); Salmon et al. 2011.
const KNOWN_ANSWERS: [counter: number[], key: number[], block: string][] = [
  [[0, 0, 0, 0], [0, 0], '6627e8d5 e169c58d bc57ac4c 9b00dbd8'],
  [
    [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff],
    [0xffffffff, 0xffffffff],
    '408f276d 41c83b0e a20bc7c6 6d5451fd',
  ],
  [
    [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
    [0xa4093822, 0x299f31d0],
    'd16cfe09 94fdcceb 5001e420 24126ea1',
  ],
];

describe('philox4x32', () => {
  it.each(KNOWN_ANSWERS)('gives the published block for counter %p, key %p', (counter, key, expected) => {
    const block = new Uint32Array(4);
    philox4x32(block, counter[0]!, counter[1]!, counter[2]!, counter[3]!, key[0]!, key[1]!);
    expect([...block].map((word) => word.toString(16).padStart(8, '0')).join(' ')).toBe(expected);
  });
});

describe('PhiloxSequence', () => {
  it('reads the blocks of its key one after the other', () => {
    const sequence = new PhiloxSequence(7, 9, 1);
    const block = new Uint32Array(4);
    philox4x32(block, 1, 0, 0, 1, 7, 9);
    const words = Array.from({ length: 8 }, () => sequence.nextUint32());
    expect(words.slice(4)).toEqual([...block]);
  });

  it('draws every number below a limit about equally often', () => {
    const sequence = new PhiloxSequence(1, 2, 3);
    const counts = new Array<number>(7).fill(0);
    for (let i = 0; i < 70_000; i++) counts[sequence.nextBelow(7)]!++;
    // Binomial with n = 70,000, p = 1/7: five standard deviations are 463.
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(463);
  });
});
