import { prefersAsync } from './request-headers.js';

describe('Prefer', () => {
  it.each([
    'respond-async',
    'wait=5, Respond-Async',
    'x="a,b;\\"", respond-async;wait=5',
    ', ,respond-async',
    'respond-async=""',
    'respond-async = "" ; wait=5, x',
  ])('asks for a job: %s', (prefer) => {
    expect(prefersAsync({ headers: { prefer } })).toBe(true);
  });

  it.each([
    '',
    'x="respond-async"',
    'x="a, respond-async',
    'x="\\", respond-async',
    'x; respond-async',
    'respond-async="x"',
    'x="", y=""',
    '"\\',
  ])('does not: %s', (prefer) => {
    expect(prefersAsync({ headers: { prefer } })).toBe(false);
  });

  // If the end of a quote were looked for from each quote, this would take minutes.
  it.each(['', '\\'])('is read once if a quote has no end, but "%s"', (end) => {
    expect(prefersAsync({ headers: { prefer: `"${'\\"'.repeat(200_000)}${end}` } })).toBe(false);
  });
});
