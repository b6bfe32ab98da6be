import assert from "node:assert/strict";
import { test } from "node:test";
import { GenerationCache } from "./cache-by-object.ts";

test("a value is kept until two generations of other values are set without a read of it", () => {
  const cache = new GenerationCache<object, { readonly id: number }>(3);
  const keys = Array.from({ length: 9 }, () => ({}));
  const setRange = (from: number, to: number) => {
    for (const key of keys.slice(from, to)) cache.set(key, { id: keys.indexOf(key) });
  };
  const idAt = (index: number) => cache.get(keys[index] ?? {})?.id;
  setRange(0, 3);
  assert.equal(idAt(0), 0, "moved to the newer generation by this read");
  setRange(3, 5);
  assert.deepEqual([idAt(0), idAt(1), idAt(4)], [0, undefined, 4]);
  setRange(5, 9);
  assert.deepEqual([idAt(3), idAt(8)], [undefined, 8]);
  assert.equal(cache.get({}), undefined);
});

test("a value that is set again replaces the value of both generations", () => {
  const cache = new GenerationCache<object, { readonly id: number }>(2);
  const key = {};
  cache.set(key, { id: 1 });
  cache.set({}, { id: 2 });
  cache.set(key, { id: 3 });
  assert.equal(cache.get(key)?.id, 3);
});
