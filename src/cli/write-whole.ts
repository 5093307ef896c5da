import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { CodedError } from '../errors.js';

/**
 * Writes a file so that nobody ever sees a part of it: under another name first, then renamed.
 * @throws CodedError USAGE where it cannot be written
 */
export function writeWhole(path: string, content: Uint8Array | string): void {
  const unfinished = `${path}.${process.pid}.part`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(unfinished, content);
    renameSync(unfinished, path);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw new CodedError('USAGE', `${path} cannot be written: ${(error as Error).message}.`);
  }
}
