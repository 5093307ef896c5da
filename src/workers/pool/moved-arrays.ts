import { getOrInsert } from '../../engine/get-or-insert.js';

/** @returns a region of this many bytes */
export type MakeRoom<Memory extends ArrayBufferLike> = (bytes: number) => Uint8Array<Memory>;

/**
 * @returns a copy of plain data with its arrays in memory that `room` provides. V8 does not count shared memory, so
 *   unused arrays would stay until a garbage collection happens for another reason. Arrays with a common buffer keep
 *   a common one.
 * @param room returns a region that begins at a multiple of 8 bytes
 */
export function withMovedArrays<Data, Memory extends ArrayBufferLike>(
  data: Data,
  room: MakeRoom<Memory>,
): Data {
  const moved = new Map<ArrayBufferLike, Uint8Array<Memory>>();
  const copyOfBuffer = (buffer: ArrayBufferLike): Uint8Array<Memory> => {
    const piece = room(buffer.byteLength);
    piece.set(new Uint8Array(buffer));
    return piece;
  };
  const copyOf = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    if (ArrayBuffer.isView(value)) {
      const { buffer, byteOffset } = getOrInsert(moved, value.buffer, copyOfBuffer);
      const { length } = value as Uint32Array;
      const TypedArray = value.constructor as new (buffer: Memory, at: number, length: number) => unknown;
      return new TypedArray(buffer, byteOffset + value.byteOffset, length);
    }
    if (Array.isArray(value)) return value.map(copyOf);
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copyOf(member)]));
  };
  return copyOf(data) as Data;
}
