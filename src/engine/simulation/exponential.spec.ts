import fc from 'fast-check';
import { exponentialDecay } from './exponential.js';

describe('exponentialDecay', () => {
  it('is 1 at 0 and 0 far away', () => {
    expect(exponentialDecay(0)).toBe(1);
    expect(exponentialDecay(1e6)).toBe(0);
  });

  it('equals exp(-x) to 12 digits', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 30, noNaN: true }), (x) => {
        expect(Math.abs(exponentialDecay(x) / Math.exp(-x) - 1)).toBeLessThan(1e-12);
      }),
      { seed: 783, numRuns: 2000 },
    );
  });
});
