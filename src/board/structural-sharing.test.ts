import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isStructurallyEqual, shareStructure } from "./structural-sharing.ts";

test("two values say the same exactly when they are deeply equal, whatever the order of their fields", () => {
  const value = fc.jsonValue({ maxDepth: 3 });
  const reversed = (json: unknown): unknown => {
    if (Array.isArray(json)) return json.map(reversed);
    if (typeof json !== "object" || json === null) return json;
    return Object.fromEntries(
      Object.entries(json)
        .reverse()
        .map(([key, part]) => [key, reversed(part)]),
    );
  };
  fc.assert(
    fc.property(value, value, (a, b) => {
      assert.equal(isStructurallyEqual(a, structuredClone(a)), true);
      assert.equal(isStructurallyEqual(a, reversed(a)), true);
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

test("what is shared says what it said before, holds the other's own parts where equal, and changes neither", () => {
  const facts = () => ({ venue: "alpha", fee: { kind: "none" }, keys: { yes: "1" }, closeAt: 5, url: null });
  const other = Object.freeze({ ...facts(), keys: { yes: "2" } });
  const before = facts();
  const shared = shareStructure(before, other);
  assert.deepEqual(shared, before);
  assert.deepEqual(before, facts());
  assert.equal(shared.fee, other.fee);
  assert.equal(shared.keys, before.keys);
});
