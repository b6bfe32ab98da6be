import assert from "node:assert/strict";
import { test } from "node:test";
import { QMC_LATTICE_DIMENSIONS, QMC_LATTICE_POINTS, qmcLatticeRanks } from "./qmc-lattice.ts";

test("in every dimension, each rank belongs to exactly one point", () => {
  for (let dimension = 0; dimension < QMC_LATTICE_DIMENSIONS; dimension++)
    assert.equal(new Set(qmcLatticeRanks(dimension)).size, QMC_LATTICE_POINTS);
});

test("law: for any two dimensions, each quarter of the unit square has almost a quarter of the points", () => {
  const isLow = Array.from({ length: QMC_LATTICE_DIMENSIONS }, (_, dimension) =>
    qmcLatticeRanks(dimension).map((rank) => (rank < QMC_LATTICE_POINTS / 2 ? 1 : 0)),
  );
  const errors = isLow.flatMap((x, a) =>
    isLow.slice(0, a).map((y) => {
      const share = x.reduce((sum, bit, point) => sum + bit * (y[point] ?? 0), 0) / QMC_LATTICE_POINTS;
      return Math.abs(share - 0.25);
    }),
  );
  assert.ok(Math.max(...errors) < 0.022);
  // Random points have a mean error of 0.0054.
  assert.ok(errors.reduce((sum, error) => sum + error, 0) / errors.length < 0.001);
});

test("throws a RangeError for a dimension outside [0, 64)", () => {
  for (const dimension of [-1, 0.5, QMC_LATTICE_DIMENSIONS, Number.NaN])
    assert.throws(() => qmcLatticeRanks(dimension), RangeError);
});
