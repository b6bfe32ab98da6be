import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { TopK } from "./top-k.ts";

test("selects the same rows as a complete sort, for any scores and limit, with equal scores in the order of the rows", () => {
  const scores = fc.array(fc.constantFrom(-1, 0, 0.25, 0.5, 0.75, 1), { maxLength: 60 });
  fc.assert(
    fc.property(scores, fc.integer({ min: 1, max: 20 }), fc.boolean(), (values, limit, isReversed) => {
      const all = values.map((score, row) => ({ row, score }));
      const top = new TopK(limit);
      for (const { row, score } of isReversed ? all.toReversed() : all)
        if (score >= top.scoreMin) top.offer(row, score);
      const sorted = all.toSorted((a, b) => b.score - a.score || a.row - b.row);
      assert.deepEqual(top.toArray(), sorted.slice(0, limit));
    }),
  );
});
