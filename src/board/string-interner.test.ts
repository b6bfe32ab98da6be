import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { StringInterner } from "./string-interner.ts";

test("names in use have numbers of their own, and there are never more than names were in use at once", () => {
  const name = fc.constantFrom("a", "b", "c", "d", "constructor");
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), name)), (steps) => {
      const numbers = new StringInterner();
      const users = new Map<string, number>();
      let mostInUse = 0;
      for (const [isTaken, one] of steps) {
        const count = users.get(one) ?? 0;
        if (isTaken) {
          users.set(one, count + 1);
          assert.equal(numbers.take(one), numbers.find(one));
        } else if (count > 0) {
          users.set(one, count - 1);
          numbers.release(one);
        }
        const inUse = [...users].filter(([, left]) => left > 0).map(([used]) => numbers.find(used));
        mostInUse = Math.max(mostInUse, inUse.length);
        assert.equal(new Set(inUse).size, inUse.length);
        for (const number of inUse) assert.ok(number !== null && number < mostInUse);
        for (const [unused, left] of users) if (left === 0) assert.equal(numbers.find(unused), null);
      }
    }),
  );
});
