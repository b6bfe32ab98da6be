import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { StringInterner } from "./string-interner.ts";

test("assigns referenced strings distinct numbers and reuses the numbers of released strings", () => {
  const textArbitrary = fc.constantFrom("a", "b", "c", "d", "constructor");
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), textArbitrary)), (steps) => {
      const interner = new StringInterner();
      const numberOf = (text: string) => new Map(interner.all()).get(text);
      const references = new Map<string, number>();
      let usedNumbersMax = 0;
      for (const [isAcquire, string] of steps) {
        const count = references.get(string) ?? 0;
        if (isAcquire) {
          references.set(string, count + 1);
          assert.equal(interner.acquire(string), numberOf(string));
        } else if (count > 0) {
          references.set(string, count - 1);
          interner.release(string);
        }
        const usedNumbers = [...references].filter(([, left]) => left > 0).map(([used]) => numberOf(used));
        usedNumbersMax = Math.max(usedNumbersMax, usedNumbers.length);
        assert.equal(new Set(usedNumbers).size, usedNumbers.length);
        for (const number of usedNumbers) assert.ok(number !== undefined && number < usedNumbersMax);
        for (const [unused, left] of references) if (left === 0) assert.equal(numberOf(unused), undefined);
      }
    }),
  );
});
