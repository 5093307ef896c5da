import { parseTraceparent, traceparentOf } from './trace-context.js';

/** The example of W3C Trace Context, section 3.2.3. */
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

describe('parseTraceparent', () => {
  it.each([
    ['sampled', `00-${TRACE}-${PARENT}-01`, '01'],
    ['not sampled', `00-${TRACE}-${PARENT}-00`, '00'],
    ['with a random id', `00-${TRACE}-${PARENT}-03`, '03'],
    ['with flags that mean nothing yet', `00-${TRACE}-${PARENT}-ff`, '03'],
    ['of a later version', `cc-${TRACE}-${PARENT}-01`, '01'],
    ['of a later version with more behind', `cc-${TRACE}-${PARENT}-01-what-the-future-holds`, '01'],
  ])('takes over one that is %s', (_, header, flags) => {
    const span = parseTraceparent(header)!;
    expect(span).toEqual({
      traceId: TRACE,
      parentSpanId: PARENT,
      spanId: expect.stringMatching(/^[\da-f]{16}$/),
      flags,
    });
    expect(span.spanId).not.toBe(PARENT);
    expect(traceparentOf(span)).toBe(`00-${TRACE}-${span.spanId}-${flags}`);
  });

  it.each([
    ['that is absent', undefined],
    ['that is empty', ''],
    ['with a trace id of zeros', `00-${'0'.repeat(32)}-${PARENT}-01`],
    ['with a span id of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['of the version that is forbidden', `ff-${TRACE}-${PARENT}-01`],
    ['of version 00 with more behind', `00-${TRACE}-${PARENT}-01-more`],
    ['of a later version with more that is not set off', `cc-${TRACE}-${PARENT}-01more`],
    ['in capitals', `00-${TRACE.toUpperCase()}-${PARENT}-01`],
    ['that is too short', `00-${TRACE.slice(1)}-${PARENT}-01`],
    ['with one digit of flags', `00-${TRACE}-${PARENT}-1`],
    ['sent twice', `00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`],
  ])('ignores one %s', (_, header) => {
    expect(parseTraceparent(header)).toBeUndefined();
  });
});
