import assert from "node:assert/strict";
import { test } from "node:test";
import { collapseConstraints } from "./logical-constraints.ts";
import type { LogicalConstraint } from "./model.ts";

test("a variable stands for its most important market; its other markets have the same or the opposite answer", () => {
  const constraints: LogicalConstraint[] = [
    { kind: "opposite", a: 0, b: 1 },
    { kind: "same", a: 1, b: 2 },
  ];
  const { count, primaries, literals } = collapseConstraints([1, 5, 2, 9], constraints);
  assert.deepEqual([count, primaries], [2, [3, 1]]);
  assert.deepEqual(literals, [
    { variable: 1, value: false },
    { variable: 1, value: true },
    { variable: 1, value: true },
    { variable: 0, value: true },
  ]);
});

test("an implication excludes one pair of answers; a constraint inside one variable is redundant or a contradiction", () => {
  const constraints: LogicalConstraint[] = [
    { kind: "implies", a: 0, b: 1 },
    { kind: "opposite", a: 1, b: 2 },
    { kind: "exclusive", a: 1, b: 2 },
    { kind: "implies", a: 1, b: 2 },
  ];
  const { exclusions, droppedConstraints } = collapseConstraints([3, 2, 1], constraints);
  assert.deepEqual(exclusions, [{ a: { variable: 0, value: true }, b: { variable: 1, value: false } }]);
  assert.equal(droppedConstraints, 1, "if 1 implied its opposite, it could not be YES");
});

test("an exhaustive list with both answers of a variable is always satisfied", () => {
  const constraints: LogicalConstraint[] = [
    { kind: "opposite", a: 0, b: 1 },
    { kind: "exhaustive", markets: [0, 1, 2] },
    { kind: "exhaustive", markets: [0, 2, 3] },
  ];
  assert.equal(collapseConstraints([4, 3, 2, 1], constraints).clauses.length, 1);
});

test("each constraint that contradicts an earlier constraint is dropped and counted once", () => {
  const constraints: LogicalConstraint[] = [
    { kind: "same", a: 0, b: 1 },
    { kind: "exclusive", a: 0, b: 1 },
    { kind: "exhaustive", markets: [0, 1] },
  ];
  const { clauses, exclusions, droppedConstraints } = collapseConstraints([2, 1], constraints);
  assert.deepEqual([clauses, exclusions, droppedConstraints], [[], [], 2]);
});
