import {
  closeSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { CodedError } from '../errors.js';

/** In one piece, or in pieces where the whole would be too much for memory. */
export type FileContent = Uint8Array | string | Iterable<string>;

/**
 * Writes a file atomically: under a temporary name first, then renamed. A symbolic link stays a link, to the new file.
 * Pipes, terminals and devices such as /dev/null are written directly.
 * @param verify checks the file before it is renamed; if it throws, an existing file stays unchanged
 * @returns what verify found
 * @throws CodedError USAGE where it cannot be written
 */
export async function writeWhole<T = void>(
  path: string,
  content: FileContent,
  verify?: (unfinished: string) => Promise<T>,
): Promise<T> {
  try {
    mkdirSync(dirname(path), { recursive: true });
    const there = statSync(path, { throwIfNoEntry: false });
    if (there?.isDirectory() === true) throw new Error('it is a directory');
    if (there?.isFile() === false && verify === undefined) {
      write(path, content);
      return undefined as T;
    }
    const target = there === undefined ? path : realpathSync(path);
    const unfinished = `${target}.${process.pid}.part`;
    try {
      write(unfinished, content);
      const found = await verify?.(unfinished);
      renameSync(unfinished, target);
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

function write(path: string, content: FileContent): void {
  const file = openSync(path, 'w');
  try {
    const pieces = typeof content === 'string' || content instanceof Uint8Array ? [content] : content;
    for (const piece of pieces) {
      const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
      for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
    }
  } finally {
    closeSync(file);
  }
}
