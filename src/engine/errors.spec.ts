import { CodedError, describeValue, errorBody, failureOf } from './errors.js';

const plain = new CodedError('RATE_LIMITED', 'Wait.');
const placed = new CodedError('UNKNOWN_NEURONS', 'The model lacks "LC44".', {
  path: '/silence/0',
  suggestions: ['LC4'],
});
const whole = new CodedError('INVALID_PARAMETER', 'The document must be a JSON object, got 1.', { path: '' });

describe('an expected failure', () => {
  it.each([plain, placed, whole])('is the same after it passed to another thread: $code', (error) => {
    const arrived = CodedError.fromFailure(structuredClone(failureOf(error)));
    const { code, message, path, suggestions } = error;
    expect(arrived).toMatchObject({ code, message });
    expect([arrived.path, arrived.suggestions]).toEqual([path, suggestions]);
  });

  it('has its place in the body of an answer only if there is one', () => {
    const body = (error: CodedError) => JSON.stringify(errorBody(error));
    expect(body(plain)).toBe('{"error":"Wait.","code":"RATE_LIMITED"}');
    expect(body(placed)).toBe(
      '{"error":"The model lacks \\"LC44\\".","code":"UNKNOWN_NEURONS","path":"/silence/0","suggestions":["LC4"]}',
    );
    expect(body(whole)).toMatch(/"code":"INVALID_PARAMETER","path":""}$/);
  });
});

describe('describeValue', () => {
  it('describes a value that is nested too deeply to be written', () => {
    let list: unknown = [];
    let object: unknown = {};
    for (let level = 0; level < 100_000; level++) [list, object] = [[list], { object }];
    expect([describeValue(list), describeValue(object)]).toEqual(['a list', 'an object']);
  });
});
