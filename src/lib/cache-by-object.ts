/** Returns a function that calls `compute` once per object and keeps the result for as long as the object exists. */
export function cacheByObject<Key extends object, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const entries = new WeakMap<Key, { readonly value: Value }>();
  return (key) => {
    let entry = entries.get(key);
    if (entry === undefined) {
      entry = { value: compute(key) };
      entries.set(key, entry);
    }
    return entry.value;
  };
}
