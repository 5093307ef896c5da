import fc from 'fast-check';
import { wildcard } from './wildcard.js';

describe('a wildcard', () => {
  it('matches as a regular expression does', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 8 });
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*'), maxLength: 6 });
    fc.assert(
      fc.property(pattern, text, (wanted, found) => {
        const expression = new RegExp(`^${wanted.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
        expect(wildcard(wanted)(found)).toBe(expression.test(found));
      }),
      { numRuns: 2000 },
    );
  });

  it('takes no longer for a pattern that an expression would try in every way', () => {
    expect(wildcard('*a'.repeat(40) + 'b')('a'.repeat(100))).toBe(false);
  });
});
