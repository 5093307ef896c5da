import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { CodedError } from '../errors.js';

/**
 * Writes a file so that nobody ever sees a part of it: under another name first, then renamed.
 * @param verify looks at the file before it gets its name; where it throws, what was there before stays
 * @returns what verify found
 * @throws CodedError USAGE where it cannot be written
 */
export async function writeWhole<T = void>(
  path: string,
  content: Uint8Array | string,
  verify?: (unfinished: string) => Promise<T>,
): Promise<T> {
  const unfinished = `${path}.${process.pid}.part`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    try {
      writeFileSync(unfinished, content);
      const found = await verify?.(unfinished);
      renameSync(unfinished, path);
      return found as T;
    } catch (error) {
      rmSync(unfinished, { force: true });
      throw error;
    }
  } catch (error) {
    if (error instanceof CodedError) throw error;
    throw new CodedError('USAGE', `${path} cannot be written: ${(error as Error).message}.`);
  }
}
