/** The value of a key, made and kept where there is none: Map.prototype.getOrInsertComputed, which Node does not have yet. */
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

/** The same for what takes time: made once for all who ask meanwhile, and not kept where it fails. */
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
