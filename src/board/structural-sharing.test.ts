import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isStructurallyEqual, shareStructure } from "./structural-sharing.ts";

test("`isStructurallyEqual` compares deeply and ignores the order of keys", () => {
  const value = fc.jsonValue({ maxDepth: 3 });
  const reverseKeys = (json: unknown): unknown => {
    if (Array.isArray(json)) return json.map(reverseKeys);
    if (typeof json !== "object" || json === null) return json;
    return Object.fromEntries(
      Object.entries(json)
        .reverse()
        .map(([key, part]) => [key, reverseKeys(part)]),
    );
  };
  fc.assert(
    fc.property(value, value, (a, b) => {
      assert.equal(isStructurallyEqual(a, structuredClone(a)), true);
      assert.equal(isStructurallyEqual(a, reverseKeys(a)), true);
      let isEqual = true;
      try {
        assert.deepStrictEqual(a, b);
      } catch {
        isEqual = false;
      }
      assert.equal(isStructurallyEqual(a, b), isEqual);
    }),
  );
  assert.equal(isStructurallyEqual({ a: 1 }, { a: 1, b: null }), false);
  assert.equal(isStructurallyEqual({ a: undefined }, { b: 1 }), false);
  assert.equal(isStructurallyEqual([1, 2], { 0: 1, 1: 2 }), false);
});

test("`shareStructure` reuses equal parts of the other object and changes neither argument", () => {
  const createListing = () => ({ venue: "alpha", fee: { kind: "none" }, keys: { yes: "1" }, closeAt: 5, url: null });
  const otherListing = Object.freeze({ ...createListing(), keys: { yes: "2" } });
  const sourceListing = createListing();
  const sharedListing = shareStructure(sourceListing, otherListing);
  assert.deepEqual(sharedListing, sourceListing);
  assert.deepEqual(sourceListing, createListing());
  assert.equal(sharedListing.fee, otherListing.fee);
  assert.equal(sharedListing.keys, sourceListing.keys);
});
