import assert from "node:assert/strict";
import { test } from "node:test";
import type { Tie } from "./model.ts";
import { collapseTies } from "./ties.ts";

test("the primary of a variable is its most important market, and other markets are the same or opposite", () => {
  const ties: Tie[] = [
    { kind: "opposite", a: 0, b: 1 },
    { kind: "same", a: 1, b: 2 },
  ];
  const { count, primaries, literals } = collapseTies([1, 5, 2, 9], ties);
  assert.deepEqual([count, primaries], [2, [3, 1]]);
  assert.deepEqual(literals, [
    { variable: 1, value: false },
    { variable: 1, value: true },
    { variable: 1, value: true },
    { variable: 0, value: true },
  ]);
});

test("an implication excludes one pair of answers; a tie inside one variable is redundant or a contradiction", () => {
  const ties: Tie[] = [
    { kind: "implies", a: 0, b: 1 },
    { kind: "opposite", a: 1, b: 2 },
    { kind: "exclusive", a: 1, b: 2 },
    { kind: "implies", a: 1, b: 2 },
  ];
  const { exclusions, droppedTies } = collapseTies([3, 2, 1], ties);
  assert.deepEqual(exclusions, [{ a: { variable: 0, value: true }, b: { variable: 1, value: false } }]);
  assert.equal(droppedTies, 1, "if 1 implied its opposite, it could not be YES");
});

test("an exhaustive list with both answers of a variable is always satisfied", () => {
  const ties: Tie[] = [
    { kind: "opposite", a: 0, b: 1 },
    { kind: "exhaustive", markets: [0, 1, 2] },
    { kind: "exhaustive", markets: [0, 2, 3] },
  ];
  assert.equal(collapseTies([4, 3, 2, 1], ties).clauses.length, 1);
});

test("each tie that contradicts an earlier tie is dropped and counted once", () => {
  const ties: Tie[] = [
    { kind: "same", a: 0, b: 1 },
    { kind: "exclusive", a: 0, b: 1 },
    { kind: "exhaustive", markets: [0, 1] },
  ];
  const { clauses, exclusions, droppedTies } = collapseTies([2, 1], ties);
  assert.deepEqual([clauses, exclusions, droppedTies], [[], [], 2]);
});
