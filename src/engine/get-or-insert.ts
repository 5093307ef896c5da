/** Returns the value of a key; if there is none, makes and stores it. Node lacks Map.prototype.getOrInsertComputed. */
export function getOrInsert<K, V>(
  map: { get(key: K): V | undefined; set(key: K, value: NoInfer<V>): unknown },
  key: K,
  make: (key: K) => V,
): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make(key);
  map.set(key, made);
  return made;
}

/** The same for a promise. All callers share it while it is pending; if it fails, the next caller tries again. */
export function getOrBegin<K, V>(
  map: {
    get(key: K): Promise<V> | undefined;
    set(key: K, value: Promise<V>): unknown;
    delete(key: K): unknown;
  },
  key: K,
  make: (key: K) => Promise<V>,
): Promise<V> {
  return getOrInsert(map, key, () => {
    const value = make(key);
    value.catch(() => map.get(key) === value && map.delete(key));
    return value;
  });
}
