import assert from "node:assert/strict";
import { test } from "node:test";
import { LATTICE_DIMENSIONS, LATTICE_POINTS, latticeRanks } from "./lattice.ts";

test("every coordinate takes each rank once", () => {
  for (let dimension = 0; dimension < LATTICE_DIMENSIONS; dimension++)
    assert.equal(new Set(latticeRanks(dimension)).size, LATTICE_POINTS);
});

test("law: any two coordinates are almost uniform on quarters of the unit square", () => {
  const isLow = Array.from({ length: LATTICE_DIMENSIONS }, (_, dimension) =>
    latticeRanks(dimension).map((rank) => (rank < LATTICE_POINTS / 2 ? 1 : 0)),
  );
  const errors = isLow.flatMap((x, a) =>
    isLow.slice(0, a).map((y) => {
      const share = x.reduce((sum, bit, point) => sum + bit * (y[point] ?? 0), 0) / LATTICE_POINTS;
      return Math.abs(share - 0.25);
    }),
  );
  assert.ok(Math.max(...errors) < 0.022);
  // Random points have a mean error of 0.0054.
  assert.ok(errors.reduce((sum, error) => sum + error, 0) / errors.length < 0.001);
});

test("refuses a dimension without a generator", () => {
  for (const dimension of [-1, 0.5, LATTICE_DIMENSIONS, Number.NaN])
    assert.throws(() => latticeRanks(dimension), RangeError);
});
