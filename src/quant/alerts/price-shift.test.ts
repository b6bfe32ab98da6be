import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { HOUR_MS } from "../../lib/durations.ts";
import { hourlySigma, isLargeMove, shiftSigmas } from "./price-shift.ts";

const closesOf = (prices: readonly number[]) => prices.map((yesPrice, hour) => ({ at: hour * HOUR_MS, yesPrice }));
const isNear = (actual: number | null, expected: number, message?: string) =>
  assert.ok(actual !== null && Math.abs(actual - expected) < 1e-9, message ?? `${actual} is not ${expected}`);

test("known values: a move from 0.5 to 0.75 is ln 3, and the weight of a move halves with each half-life", () => {
  isNear(hourlySigma(closesOf([0.5, 0.75]), 48, 1), Math.log(3));
  // Weights 1/2 and 1: the sum of the weighted squares is (ln 3)^2 / 2 + 0.
  isNear(hourlySigma(closesOf([0.5, 0.75, 0.75]), 1, 1), Math.sqrt(Math.log(3) ** 2 / 2 / 1.5));
  isNear(shiftSigmas(0.5, 0.75, 0.1, 0.04), 10 * Math.log(3));
  isNear(shiftSigmas(0.75, 0.5, 0, 0.04), -25 * Math.log(3));
});

test("for moves of equal size, the standard deviation is that size, for every half-life", () => {
  for (const halfLife of [1, 48, 1_000]) {
    const prices = Array.from({ length: 100 }, (_, hour) => (hour % 2 === 0 ? 0.5 : 0.55));
    isNear(hourlySigma(closesOf(prices), halfLife, 24), Math.log(0.55 / 0.45), `half-life ${halfLife}`);
  }
});

test("an hour without a close counts as an hour without a change", () => {
  const price = fc.integer({ min: 1, max: 99 }).map((cents) => cents / 100);
  fc.assert(
    fc.property(fc.array(fc.tuple(price, fc.boolean()), { minLength: 3, maxLength: 60 }), (hours) => {
      const [first] = hours;
      if (first === undefined) return;
      let last = first[0];
      const all = hours.map(([next, isChanged]) => {
        last = isChanged ? next : last;
        return last;
      });
      const full = closesOf(all);
      const sparse = full.filter((_, hour) => hour === 0 || hour === full.length - 1 || hours[hour]?.[1] === true);
      isNear(hourlySigma(sparse, 10, 0), hourlySigma(full, 10, 0) ?? -1);
    }),
  );
});

test("YES and NO prices have the same standard deviation, and a shift and its reverse have opposite signs", () => {
  const prices = fc.array(
    fc.integer({ min: 1, max: 99 }).map((cents) => cents / 100),
    { minLength: 2, maxLength: 50 },
  );
  fc.assert(
    fc.property(prices, (list) => {
      const yes = hourlySigma(closesOf(list), 48, 0) ?? -1;
      isNear(hourlySigma(closesOf(list.map((price) => 1 - price)), 48, 0), yes);
      const [first = 0.5, last = 0.5] = [list[0], list.at(-1)];
      isNear(shiftSigmas(first, last, yes, 0.04), -shiftSigmas(last, first, yes, 0.04));
    }),
  );
});

test("the standard deviation is null if there are fewer hours than the minimum", () => {
  assert.equal(hourlySigma(closesOf([0.5, 0.6, 0.5]), 48, 3), null);
  assert.ok(hourlySigma(closesOf([0.5, 0.6, 0.5]), 48, 2) !== null);
  assert.equal(hourlySigma(closesOf([0.5]), 48, 0), null);
  assert.equal(hourlySigma([], 48, 0), null);
});

test("within an hour of an alert, a move is large only if it is as large as the move in the alert", () => {
  const earlier = { at: 0, oldPrice: 0.4, newPrice: 0.5 };
  assert.ok(isLargeMove(0.5, 0.55, 0, null, 0.05), "0.55 - 0.5 is 0.05");
  assert.ok(!isLargeMove(0.5, 0.549, 0, null, 0.05));
  assert.ok(!isLargeMove(0.4, 0.59, HOUR_MS - 1, earlier, 0.05));
  assert.ok(isLargeMove(0.4, 0.6, HOUR_MS - 1, earlier, 0.05), "as much again");
  assert.ok(isLargeMove(0.5, 0.4, HOUR_MS - 1, earlier, 0.05), "as much back");
  assert.ok(isLargeMove(0.5, 0.56, HOUR_MS, earlier, 0.05));
});

test("refuses prices outside [0, 1], times that do not increase and parameters outside their range", () => {
  assert.throws(() => hourlySigma(closesOf([0.5, Number.NaN]), 48, 1), RangeError);
  assert.throws(() => hourlySigma([...closesOf([0.5]), ...closesOf([0.6])], 48, 1), RangeError);
  assert.throws(() => hourlySigma(closesOf([0.5, 0.6]), 0, 1), RangeError);
  assert.throws(() => shiftSigmas(0.5, 1.1, 0.1, 0.04), RangeError);
  assert.throws(() => shiftSigmas(0.5, 0.6, -1, 0.04), RangeError);
  assert.throws(() => shiftSigmas(0.5, 0.6, 0, 0), RangeError);
  assert.throws(() => isLargeMove(0.5, Number.NaN, 0, null, 0.05), RangeError);
});
