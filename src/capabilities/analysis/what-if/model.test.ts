import assert from "node:assert/strict";
import { test } from "node:test";
import { contradictionOf, DEPENDENCES } from "./model.ts";

test("the contradiction is 0 for consistent probabilities, and otherwise the amount by which they violate the dependence", () => {
  const values = DEPENDENCES.map((dependence) => contradictionOf(dependence, 0.75, 0.5));
  assert.deepEqual(values, [0.25, 0.25, 0.25, 0, 0.25, 0, 0]);
  assert.equal(contradictionOf("implies", 0.5, 0.75), 0.25);
  assert.equal(contradictionOf("exclusive", 0.5, 0.25), 0);
});
