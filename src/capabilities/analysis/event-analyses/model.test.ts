import assert from "node:assert/strict";
import { test } from "node:test";
import { isSumConsistent } from "./model.ts";

const judge = (isExclusive: boolean, isExhaustive: boolean) =>
  [0.94, 0.96, 1.04, 1.06, null].map((sum) => isSumConsistent(sum, { isExclusive, isExhaustive }));

test("exclusive outcomes sum to at most 1.05, and exclusive and exhaustive outcomes also to at least 0.95", () => {
  assert.deepEqual(judge(true, true), [false, true, true, false, null]);
  assert.deepEqual(judge(true, false), [true, true, true, false, null]);
});

test("outcomes that do not exclude each other can have any sum", () => {
  for (const isExhaustive of [true, false])
    assert.deepEqual(judge(false, isExhaustive), [null, null, null, null, null]);
});
