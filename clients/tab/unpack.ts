/** Unpacks the file of a brain. A worker does it, because it takes long enough for a page to stand still. */
import { CodedError } from '../../src/engine/errors.js';

const GZIP_MAGIC = [0x1f, 0x8b];

/**
 * Some servers tell the browser that a file is compressed, and it is then unpacked already.
 * @param source names the file
 * @throws CodedError CONNECTOME_INVALID
 */
export async function unpacked(bytes: ArrayBuffer, source: string): Promise<ArrayBuffer> {
  const [first, second] = new Uint8Array(bytes, 0, Math.min(2, bytes.byteLength));
  if (first !== GZIP_MAGIC[0] || second !== GZIP_MAGIC[1]) return bytes;
  const unzipped = new Response(bytes).body!.pipeThrough(new DecompressionStream('gzip'));
  try {
    return await new Response(unzipped).arrayBuffer();
  } catch (cause) {
    const message = `The connectome file ${source} is damaged: gzip cannot unpack it.`;
    throw new CodedError('CONNECTOME_INVALID', message, { cause });
  }
}
