import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { CodedError } from '../errors.js';

/**
 * The lines of a golden run, whether they are gzipped or not.
 * @throws CodedError GOLDEN_INVALID for a file that cannot be read
 */
export function readGoldenFile(file: string): string {
  try {
    const bytes = readFileSync(file);
    const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
    return (isGzip ? gunzipSync(bytes) : bytes).toString('utf8');
  } catch (error) {
    throw new CodedError('GOLDEN_INVALID', `${file} cannot be read: ${(error as Error).message}`);
  }
}
