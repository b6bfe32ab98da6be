import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  ceilNoToGrid,
  ceilToGrid,
  floorNoToGrid,
  floorToContractStep,
  floorToGrid,
  isPriceGrid,
  type PriceRange,
  smallestOrder,
  stepAt,
  uniformGrid,
} from "./order-rules.ts";

/** Steps of 0.002 below 0.10 and above 0.90, and of 0.01 between. */
const TAPERED: readonly PriceRange[] = [
  { from: 0, to: 0.1, step: 0.002 },
  { from: 0.1, to: 0.9, step: 0.01 },
  { from: 0.9, to: 1, step: 0.002 },
];
const CENT: readonly PriceRange[] = [{ from: 0, to: 1, step: 0.01 }];
const QUARTER_CENT: readonly PriceRange[] = [{ from: 0, to: 1, step: 0.0025 }];
/** Trading between 0.05 and 0.95 only. */
const NARROW: readonly PriceRange[] = [{ from: 0.05, to: 0.95, step: 0.05 }];

const grids = fc.constantFrom(TAPERED, CENT, QUARTER_CENT, NARROW);
const prices = fc.integer({ min: 0, max: 1_000_000 }).map((micros) => micros / 1_000_000);
const isOnGrid = (ranges: readonly PriceRange[], price: number) =>
  ranges.some(({ from, to, step }) => {
    const steps = (price - from) / step;
    return price >= from && price <= to && Math.abs(steps - Math.round(steps)) < 1e-6;
  });

test("the step at a price is that of its range, and at a border that of the range above it", () => {
  assert.deepEqual(
    [0.05, 0.098, 0.1, 0.5, 0.899, 0.9, 0.95, 1].map((price) => stepAt(TAPERED, price)),
    [0.002, 0.002, 0.01, 0.01, 0.01, 0.002, 0.002, 0.002],
  );
  assert.equal(stepAt(NARROW, 0.02), null);
  assert.equal(stepAt(null, 0.5), null);
});

test("the step at an unknown price is known only if all prices have the same step", () => {
  assert.equal(stepAt(CENT, null), 0.01);
  assert.equal(stepAt(TAPERED, null), null);
});

test("known values: prices are rounded to the step of their range", () => {
  assert.deepEqual(
    [0.325, 0.0999, 0.9999, 0.9017].map((price) => floorToGrid(TAPERED, price)),
    [0.32, 0.098, 0.998, 0.9],
  );
  assert.deepEqual(
    [0.325, 0.0999, 0.0001, 0.8917].map((price) => ceilToGrid(TAPERED, price)),
    [0.33, 0.1, 0.002, 0.9],
  );
  assert.deepEqual(
    [0.02, 0.97].map((price) => floorToGrid(NARROW, price)),
    [null, 0.95],
  );
  assert.deepEqual(
    [0.02, 0.97].map((price) => ceilToGrid(NARROW, price)),
    [0.05, null],
  );
});

test("no order has a price of 0 or 1", () => {
  assert.deepEqual([floorToGrid(CENT, 0.004), floorToGrid(CENT, 1)], [null, 0.99]);
  assert.deepEqual([ceilToGrid(CENT, 0.996), ceilToGrid(CENT, 0)], [null, 0.01]);
});

test("a binary rounding error does not move a price by a step", () => {
  assert.equal(floorToGrid(CENT, 0.1 + 0.2 - 0.01), 0.29);
  assert.equal(floorToGrid(CENT, 0.57 * 100 * 0.01 - 1e-16), 0.57);
  assert.equal(ceilToGrid(CENT, 0.1 + 0.2), 0.3);
});

test("rounding down or up gives the grid price on that side of the price, within a step, and keeps grid prices", () => {
  fc.assert(
    fc.property(grids, prices, (ranges, price) => {
      const [down, up] = [floorToGrid(ranges, price), ceilToGrid(ranges, price)];
      if (down !== null) {
        assert.ok(isOnGrid(ranges, down) && down > 0 && down <= price);
        assert.deepEqual([floorToGrid(ranges, down), ceilToGrid(ranges, down)], [down, down]);
      }
      if (up !== null) assert.ok(isOnGrid(ranges, up) && up < 1 && up >= price);
      if (down !== null && up !== null) assert.ok(up - down <= (stepAt(ranges, down) ?? 0) + 1e-9);
    }),
  );
});

test("a NO price is on the grid if the YES price of the same trade is", () => {
  assert.deepEqual([floorNoToGrid(TAPERED, 0.9275), ceilNoToGrid(TAPERED, 0.9275)], [0.926, 0.928]);
  assert.deepEqual([floorNoToGrid(TAPERED, 0.555), ceilNoToGrid(TAPERED, 0.555)], [0.55, 0.56]);
  fc.assert(
    fc.property(grids, prices, (ranges, price) => {
      const [down, up] = [floorNoToGrid(ranges, price), ceilNoToGrid(ranges, price)];
      if (down !== null) assert.ok(down <= price && isOnGrid(ranges, 1 - down));
      if (up !== null) assert.ok(up >= price && isOnGrid(ranges, 1 - up));
    }),
  );
});

test("a grid has ranges in order, without overlaps, with positive steps", () => {
  for (const ranges of [TAPERED, CENT, NARROW]) assert.ok(isPriceGrid(ranges));
  assert.ok(!isPriceGrid([]));
  assert.ok(!isPriceGrid(TAPERED.toReversed()));
  for (const range of [
    { from: 0.5, to: 0.5, step: 0.01 },
    { from: 0, to: 1.1, step: 0.01 },
    { from: 0, to: 1, step: 0 },
    { from: 0, to: 1, step: 1e-7 },
    { from: 0, to: 1, step: Number.NaN },
  ])
    assert.ok(!isPriceGrid([range]), JSON.stringify(range));
  assert.deepEqual(
    [uniformGrid(0.005), uniformGrid(0), uniformGrid(1), uniformGrid(null)],
    [[{ from: 0, to: 1, step: 0.005 }], ...[null, null, null]],
  );
});

test("contracts are rounded down to the step, and to whole contracts if it is unknown", () => {
  const floor = (contractStep: number | null, contracts: number) =>
    floorToContractStep({ minOrderContracts: null, contractStep }, contracts);
  assert.deepEqual([floor(0.01, 7.129), floor(1, 7.9), floor(null, 7.9), floor(5, 12)], [7.12, 7, 7, 10]);
  // 0.29 / 0.01 is 28.999999999999996, and 3 / (1 / 5) is 14.999999999999998.
  assert.deepEqual([floor(0.01, 0.29), floor(5, 15)], [0.29, 15]);
});

test("the smallest order is the minimum of the venue, rounded up to the step, or one step without a minimum", () => {
  const cases = [
    [50, 1, 50],
    [2.5, 1, 3],
    [5, 0.01, 5],
    [0.07, 0.01, 0.07],
    [null, 0.01, 0.01],
    [null, null, 1],
    [0.5, null, 1],
  ] as const;
  for (const [minOrderContracts, contractStep, expected] of cases)
    assert.equal(smallestOrder({ minOrderContracts, contractStep }), expected);
});
