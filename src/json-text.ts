import { CodedError, describeValue } from './errors.js';

/** @throws CodedError MALFORMED_REQUEST */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new CodedError('MALFORMED_REQUEST', `The body is not valid JSON: ${describeValue(text)}.`, {
      cause: error,
    });
  }
}
