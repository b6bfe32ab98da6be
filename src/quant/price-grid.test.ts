import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { priceLogOdds } from "./log-odds.ts";
import { logOddsMoves } from "./price-grid.ts";

const GRID = { start: 0, step: 10, count: 6 };
const movesOf = (points: readonly (readonly [number, number])[], grid = GRID) =>
  logOddsMoves({ times: points.map(([time]) => time), prices: points.map(([, price]) => price) }, grid);

test("log-odds: 0.5 is 0, 0.75 is ln 3, and complements have opposite signs", () => {
  assert.equal(priceLogOdds(0.5), 0);
  assert.ok(Math.abs(priceLogOdds(0.75) - Math.log(3)) < 1e-15);
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 1, noNaN: true }),
      (p) => Math.abs(priceLogOdds(p) + priceLogOdds(1 - p)) < 1e-9,
    ),
  );
});

test("log-odds: prices are limited to [0.005, 0.995], and prices outside [0, 1] are refused", () => {
  assert.equal(priceLogOdds(0), Math.log(0.005 / 0.995));
  assert.equal(priceLogOdds(0), priceLogOdds(0.005));
  assert.equal(priceLogOdds(1), priceLogOdds(0.995));
  for (const p of [-0.1, 1.1, Number.NaN]) assert.throws(() => priceLogOdds(p), RangeError);
});

test("the price at an instant is the last price at or before it", () => {
  const { values, first } = movesOf([
    [0, 0.5],
    [9, 0.6],
    [10, 0.75],
    [31, 0.5],
  ]);
  assert.equal(first, 0);
  assert.deepEqual([...values], [priceLogOdds(0.75), 0, 0, -priceLogOdds(0.75), 0]);
});

test("moves before the first price are unknown, and a series without prices has no known move", () => {
  assert.equal(movesOf([[15, 0.5]]).first, 2);
  assert.equal(movesOf([[50, 0.5]]).first, 5);
  assert.equal(movesOf([]).first, 5);
  assert.equal(movesOf([[-100, 0.5]]).first, 0);
});

const randomPoints = fc
  .array(fc.tuple(fc.integer({ min: -20, max: 70 }), fc.double({ min: 0.01, max: 0.99, noNaN: true })), {
    maxLength: 30,
  })
  .map((points) => points.sort((a, b) => a[0] - b[0]));

test("the known moves add up to the move from the first known instant to the last", () => {
  fc.assert(
    fc.property(randomPoints, (points) => {
      const { values, first } = movesOf(points);
      const priceAt = (time: number) => points.filter(([at]) => at <= time).at(-1)?.[1];
      if (first === values.length) return priceAt(40) === undefined;
      const total = values.reduce((sum, value) => sum + value, 0);
      return Math.abs(total - (priceLogOdds(priceAt(50) ?? 0) - priceLogOdds(priceAt(10 * first) ?? 0))) < 1e-9;
    }),
  );
});

test("a later price never changes an earlier move", () => {
  fc.assert(
    fc.property(randomPoints, (points) => {
      const earlier = movesOf(points.filter(([time]) => time <= 30)).values.slice(0, 3);
      assert.deepEqual(movesOf(points).values.slice(0, 3), earlier);
    }),
  );
});

test("a grid of two instants has one move", () => {
  assert.deepEqual([...movesOf([[0, 0.5]], { start: 0, step: 10, count: 2 }).values], [0]);
});

test("invalid times, prices and grids throw a RangeError", () => {
  assert.throws(() => logOddsMoves({ times: [1, 2], prices: [0.5] }, GRID), RangeError);
  assert.throws(
    () =>
      movesOf([
        [5, 0.5],
        [3, 0.5],
      ]),
    RangeError,
  );
  assert.throws(() => movesOf([[5, 1.5]]), RangeError);
  assert.throws(() => movesOf([[5, Number.NaN]]), RangeError);
  assert.throws(() => movesOf([], { ...GRID, count: 1 }), RangeError);
  assert.throws(() => movesOf([], { ...GRID, step: 0 }), RangeError);
  assert.throws(() => logOddsMoves({ times: [1], prices: [] }, GRID), RangeError);
});
