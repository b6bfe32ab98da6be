import assert from "node:assert/strict";
import { test } from "node:test";
import { contradictionOf, DEPENDENCES } from "./model.ts";

test("known values of the contradiction: 0 where the probabilities are consistent", () => {
  const values = DEPENDENCES.map((dependence) => contradictionOf(dependence, 0.75, 0.5));
  assert.deepEqual(values, [0.25, 0.25, 0.25, 0, 0.25, 0, 0]);
  assert.equal(contradictionOf("implies", 0.5, 0.75), 0.25);
  assert.equal(contradictionOf("exclusive", 0.5, 0.25), 0);
});
