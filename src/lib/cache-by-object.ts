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

/**
 * Keeps values by object, for as long as the object exists, in two generations. When the newer generation has `entriesMax`
 * entries, the older one is discarded. Reading a value moves it to the newer generation.
 */
export class GenerationCache<Key extends object, Value extends object> {
  readonly #entriesMax: number;
  #newer = new WeakMap<Key, Value>();
  #older = new WeakMap<Key, Value>();
  #newerCount = 0;

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax;
  }

  get(key: Key): Value | undefined {
    const newer = this.#newer.get(key);
    if (newer !== undefined) return newer;
    const older = this.#older.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  set(key: Key, value: Value): void {
    if (!this.#newer.has(key)) this.#newerCount += 1;
    this.#newer.set(key, value);
    if (this.#newerCount < this.#entriesMax) return;
    this.#older = this.#newer;
    this.#newer = new WeakMap();
    this.#newerCount = 0;
  }
}
