import { constants, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import { CodedError } from '../../engine/errors.js';

/**
 * Reads a connectome file into shared memory, so that all threads of the process share one copy.
 * @throws CodedError CONNECTOME_MISSING if the file does not exist or cannot be read
 */
export async function readConnectomeFile(path: string): Promise<SharedArrayBuffer> {
  try {
    // Without O_NONBLOCK, opening a pipe would block a thread until another process writes to it.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const kind = await file.stat();
      if (!kind.isFile()) throw new Error(`it must be a regular file, but is ${nameOf(kind)}`);
      const { size } = kind;
      const buffer = new SharedArrayBuffer(size);
      const bytes = new Uint8Array(buffer);
      for (let at = 0; at < size;) {
        const { bytesRead } = await file.read(bytes, at, size - at, at);
        if (bytesRead === 0) throw new Error(`it ended after ${at} of ${size} bytes`);
        at += bytesRead;
      }
      return buffer;
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new CodedError(
      'CONNECTOME_MISSING',
      `The connectome file ${path} cannot be read: ${(error as Error).message}.`,
      { cause: error },
    );
  }
}

function nameOf(kind: Stats): string {
  if (kind.isDirectory()) return 'a directory';
  if (kind.isFIFO()) return 'a pipe';
  if (kind.isSocket()) return 'a socket';
  return 'a device';
}
