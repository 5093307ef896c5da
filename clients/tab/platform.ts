/** `#platform` of a browser: see src/engine/platform.node.ts. */
import { sha256 as sha256Of } from '@noble/hashes/sha2.js';
import nodeSets from '../../data/node-sets.json' with { type: 'json' };
import synonyms from '../../data/synonyms.json' with { type: 'json' };
import { hexOf, joinedBytes } from '../../src/engine/bytes.js';

const ENCODER = new TextEncoder();
const bytesOf = (data: string | Uint8Array) => (typeof data === 'string' ? ENCODER.encode(data) : data);

export function sha256(...parts: readonly (string | Uint8Array)[]): Uint8Array {
  const hash = sha256Of.create();
  for (const part of parts) hash.update(bytesOf(part));
  return hash.digest();
}

/** The same in another thread, and several times as fast. A page without TLS has no such hash. */
export async function sha256Aside(...parts: readonly (string | Uint8Array)[]): Promise<Uint8Array> {
  const subtle = globalThis.crypto.subtle as typeof globalThis.crypto.subtle | undefined;
  if (subtle === undefined) return sha256(...parts);
  const joined = joinedBytes(parts.map(bytesOf));
  const digest = await subtle.digest('SHA-256', joined);
  // Free the copy, which is as large as a brain; the garbage collector would keep it for long. Old browsers cannot.
  (joined.buffer as Partial<ArrayBuffer>).transfer?.(0);
  return new Uint8Array(digest);
}

export function sha256Hex(data: string | Uint8Array): string {
  return hexOf(sha256Of(bytesOf(data)));
}

const DATA = { 'node-sets': nodeSets, synonyms };

/** The content of a file of published names; tests check it against its schema. */
export function publishedFile(name: keyof typeof DATA): unknown {
  return DATA[name];
}

/**
 * A page without cross-origin isolation has no shared memory, and static hosts give none. One thread needs none: memory
 * that can grow in the same way is enough.
 */
class GrowingMemory extends ArrayBuffer {
  grow(bytes: number): void {
    this.resize(bytes);
  }
}

globalThis.SharedArrayBuffer ??= GrowingMemory as unknown as SharedArrayBufferConstructor;
