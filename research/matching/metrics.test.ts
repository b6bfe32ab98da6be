import assert from "node:assert/strict";
import { test } from "node:test";
import { type ScoredPair, scoreAtThreshold } from "./metrics.ts";

const pair = (probability: number, isSame: boolean): ScoredPair => ({ probability, isSame });

const PAIRS = [pair(0.9, true), pair(0.8, true), pair(0.8, false), pair(0.4, true), pair(0.1, false)];

test("precision, recall and F1 count the pairs at or above the threshold as matched", () => {
  assert.deepEqual(scoreAtThreshold(PAIRS, 0.8), { n: 5, precision: 2 / 3, recall: 2 / 3, f1: 2 / 3 });
  assert.deepEqual(scoreAtThreshold(PAIRS, 0.85), { n: 5, precision: 1, recall: 1 / 3, f1: 0.5 });
});

test("a metric whose denominator is 0 is null", () => {
  assert.deepEqual(scoreAtThreshold([], 0.5), { n: 0, precision: null, recall: null, f1: null });
  assert.deepEqual(scoreAtThreshold([pair(0.1, true)], 0.5), { n: 1, precision: null, recall: 0, f1: 0 });
  assert.deepEqual(scoreAtThreshold([pair(0.9, false)], 0.5), { n: 1, precision: 0, recall: null, f1: 0 });
  assert.deepEqual(scoreAtThreshold([pair(0.1, false)], 0.5), { n: 1, precision: null, recall: null, f1: null });
});
