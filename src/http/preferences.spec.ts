import { prefersAsync } from './preferences.js';

describe('Prefer', () => {
  it.each([
    'respond-async',
    'wait=5, Respond-Async',
    'x="a,b;\\"", respond-async;wait=5',
    ', ,respond-async',
  ])('asks for a job: %s', (prefer) => {
    expect(prefersAsync({ headers: { prefer } })).toBe(true);
  });

  it.each([
    '',
    'x="respond-async"',
    'x="a, respond-async',
    'x="\\", respond-async',
    'x; respond-async',
    '"\\',
  ])('does not: %s', (prefer) => {
    expect(prefersAsync({ headers: { prefer } })).toBe(false);
  });

  it('is read in time that follows its length, also where a quote has no end', () => {
    const began = performance.now();
    for (const end of ['', '\\']) {
      expect(prefersAsync({ headers: { prefer: `"${'\\"'.repeat(200_000)}${end}` } })).toBe(false);
    }
    expect(performance.now() - began).toBeLessThan(2_000);
  });
});
