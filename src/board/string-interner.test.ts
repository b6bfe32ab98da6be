import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { StringInterner } from "./string-interner.ts";

test("assigns referenced strings distinct numbers and reuses the numbers of released strings", () => {
  const text = fc.constantFrom("a", "b", "c", "d", "constructor");
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), text)), (steps) => {
      const interner = new StringInterner();
      const references = new Map<string, number>();
      let inUseMax = 0;
      for (const [isAcquire, string] of steps) {
        const count = references.get(string) ?? 0;
        if (isAcquire) {
          references.set(string, count + 1);
          assert.equal(interner.acquire(string), interner.find(string));
        } else if (count > 0) {
          references.set(string, count - 1);
          interner.release(string);
        }
        const inUse = [...references].filter(([, left]) => left > 0).map(([used]) => interner.find(used));
        inUseMax = Math.max(inUseMax, inUse.length);
        assert.equal(new Set(inUse).size, inUse.length);
        for (const number of inUse) assert.ok(number !== null && number < inUseMax);
        for (const [unused, left] of references) if (left === 0) assert.equal(interner.find(unused), null);
      }
    }),
  );
});
