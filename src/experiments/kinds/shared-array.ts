/** An array in shared memory: sending it to a worker copies nothing. */
export function sharedArray(values: ArrayLike<number>): Uint32Array {
  const array = new Uint32Array(new SharedArrayBuffer(values.length * Uint32Array.BYTES_PER_ELEMENT));
  array.set(values);
  return array;
}

/** The same of lists of steps, all in one piece of memory: sending thousands of pieces takes long. */
export function sharedStepLists(lists: readonly (readonly number[])[]): Uint16Array[] {
  const total = lists.reduce((sum, { length }) => sum + length, 0);
  const all = new Uint16Array(new SharedArrayBuffer(total * Uint16Array.BYTES_PER_ELEMENT));
  const empty = all.subarray(0, 0);
  let end = 0;
  return lists.map((list) => {
    if (list.length === 0) return empty;
    all.set(list, end);
    return all.subarray(end, (end += list.length));
  });
}
