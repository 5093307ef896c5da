type TypedArray = Uint16Array | Uint32Array | Float64Array;
interface TypedArrayOf<T> {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: SharedArrayBuffer): T;
}

/** Copies values into shared memory. Sending the array to a worker then copies nothing. */
export function sharedArray<T extends TypedArray = Uint32Array>(
  values: ArrayLike<number>,
  Type = Uint32Array as TypedArrayOf<TypedArray> as TypedArrayOf<T>,
): T {
  const array = new Type(new SharedArrayBuffer(values.length * Type.BYTES_PER_ELEMENT));
  array.set(values);
  return array;
}

/** Copies lists of steps into one piece of shared memory, because sending thousands of pieces takes long. */
export function sharedStepLists(lists: readonly (readonly number[])[]): Uint32Array[] {
  const total = lists.reduce((sum, { length }) => sum + length, 0);
  const all = new Uint32Array(new SharedArrayBuffer(total * Uint32Array.BYTES_PER_ELEMENT));
  const empty = all.subarray(0, 0);
  let end = 0;
  return lists.map((list) => {
    if (list.length === 0) return empty;
    all.set(list, end);
    return all.subarray(end, (end += list.length));
  });
}
