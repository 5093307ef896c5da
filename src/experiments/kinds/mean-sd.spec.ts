import { rounded, roundedMeanSd } from './mean-sd.js';

describe('numbers of answers', () => {
  it('have nine significant digits, however small they are', () => {
    expect([1 / 3, 20 / 3, 100 / 3, 1e5 / 3].map(rounded)).toEqual([
      0.333333333, 6.66666667, 33.3333333, 33333.3333,
    ]);
    expect(rounded(1 / 3e6)).toBe(3.33333333e-7);
    expect([0, 1, 123_456_789_012].map(rounded)).toEqual([0, 1, 123_456_789_012]);
  });

  it('tell the spikes of a large group apart: each rate gives its count back', () => {
    const neuronSeconds = 139_255 * 0.3;
    for (const spikes of [1, 2, 7, 99_999, 1_000_000]) {
      const { mean } = roundedMeanSd([spikes], neuronSeconds);
      expect(Math.round(mean * neuronSeconds)).toBe(spikes);
      expect(mean).toBeGreaterThan(0);
    }
  });
});
