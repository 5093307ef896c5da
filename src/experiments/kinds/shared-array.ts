/** An array in shared memory: sending it to a worker copies nothing. */
export function sharedArray(values: ArrayLike<number>): Uint32Array;
export function sharedArray<T extends TypedArray>(values: ArrayLike<number>, Type: TypedArrayOf<T>): T;
export function sharedArray(
  values: ArrayLike<number>,
  Type: TypedArrayOf<TypedArray> = Uint32Array,
): TypedArray {
  const array = new Type(new SharedArrayBuffer(values.length * Type.BYTES_PER_ELEMENT));
  array.set(values);
  return array;
}

type TypedArray = Uint16Array | Uint32Array | Float64Array;
interface TypedArrayOf<T> {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: SharedArrayBuffer): T;
}

/** The same of lists of steps, all in one piece of memory: sending thousands of pieces takes long. */
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
