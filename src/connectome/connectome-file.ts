import { open } from 'node:fs/promises';
import { CodedError } from '../errors.js';

/**
 * Reads a connectome file into shared memory, so that every thread of the process sees one copy.
 * @throws CodedError CONNECTOME_MISSING when it does not exist or cannot be read
 */
export async function readConnectomeFile(path: string): Promise<SharedArrayBuffer> {
  try {
    const file = await open(path, 'r');
    try {
      const { size } = await file.stat();
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
