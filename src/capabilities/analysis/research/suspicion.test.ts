import assert from "node:assert/strict";
import { test } from "node:test";
import { detectsInjection } from "./suspicion.ts";

const moves = (...stated: readonly number[]) =>
  stated.map((value, index) => ({ shown: 0.4 + 0.05 * index, stated: value }));

test("a source is suspected of injection if it moves all trials to the same extreme and the other sources do not agree", () => {
  assert.ok(detectsInjection(moves(0.99, 0.99, 0.98), [-0.3, 0.1]));
  assert.ok(detectsInjection(moves(0.01, 0.01, 0.02), []));
});

test("a source is not suspected if others agree, trials differ, changes are moderate, or few trials read it", () => {
  assert.ok(!detectsInjection(moves(0.99, 0.99, 0.98), [0.3, -0.1]));
  assert.ok(!detectsInjection(moves(0.99, 0.94, 0.98), []));
  assert.ok(!detectsInjection(moves(0.8, 0.8, 0.8), []));
  assert.ok(!detectsInjection(moves(0.99, 0.99, 0.01), []));
  assert.ok(!detectsInjection(moves(0.99, 0.99), []));
  assert.ok(!detectsInjection([], []));
});
