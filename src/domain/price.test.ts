import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { complement, fromMicros, midPrice, parseDecimal, parseTradablePrice, toMicros } from "./price.ts";

const gridPrice = fc.integer({ min: 0, max: 1_000_000 }).map(fromMicros);

test("converts a price to micros and back without loss", () => {
  fc.assert(fc.property(fc.integer({ min: 0, max: 1_000_000 }), (micros) => toMicros(fromMicros(micros)) === micros));
});

test("the complement is the double nearest to the exact decimal, without floating-point error", () => {
  assert.equal(complement(0.55), 0.45);
  assert.equal(complement(0.999999), 0.000001);
  assert.equal(complement(0), 1);
});

test("the complement of the complement is the price itself", () => {
  fc.assert(fc.property(gridPrice, (price) => complement(complement(price)) === price));
});

test("a price and its complement add up to exactly 1,000,000 micros", () => {
  fc.assert(fc.property(gridPrice, (price) => toMicros(price) + toMicros(complement(price)) === 1_000_000));
});

test("the mid price lies between both prices and does not depend on their order", () => {
  fc.assert(
    fc.property(gridPrice, gridPrice, (one, other) => {
      const mid = midPrice(one, other);
      assert.ok(mid >= Math.min(one, other) && mid <= Math.max(one, other));
      assert.equal(mid, midPrice(other, one));
      assert.equal(toMicros(mid), Math.round((toMicros(one) + toMicros(other)) / 2));
    }),
  );
});

test("the mid price rounds half a micro up", () => {
  assert.equal(midPrice(0.000001, 0.000002), 0.000002);
  assert.equal(midPrice(0.55, 0.56), 0.555);
});

test("parses decimals from strings and numbers", () => {
  const cases: readonly [unknown, number][] = [
    ["0.55", 0.55],
    [".5", 0.5],
    ["5.", 5],
    ["+3", 3],
    ["-0.25", -0.25],
    [47, 47],
    [0, 0],
  ];
  for (const [text, value] of cases) assert.equal(parseDecimal(text), value);
});

test("`parseDecimal` returns null for any value that is not a plain decimal", () => {
  const malformed = [
    "",
    " ",
    "1e3",
    "1E3",
    "0x10",
    "1,5",
    " 0.5",
    "0.5 ",
    "NaN",
    "Infinity",
    ".",
    "-",
    "1.2.3",
    "0.5$",
  ];
  const otherTypes = [null, undefined, true, [], {}, ["0.5"], Number.NaN, Number.POSITIVE_INFINITY, 10n];
  for (const value of [...malformed, ...otherTypes]) assert.equal(parseDecimal(value), null, String(value));
  assert.equal(parseDecimal("9".repeat(400)), null);
});

test("`parseDecimal` returns a finite number or null for any value", () => {
  fc.assert(
    fc.property(fc.anything(), (value) => {
      const parsed = parseDecimal(value);
      assert.ok(parsed === null || Number.isFinite(parsed));
    }),
  );
});

test("`parseTradablePrice` returns null for prices outside (0, 1) and malformed values", () => {
  for (const value of [0, 1, 1.7, 47, -0.2, "0", "1", "1.00", "0.0000004", "1e3", "", null, Number.NaN, {}]) {
    assert.equal(parseTradablePrice(value), null, String(value));
  }
  assert.equal(parseTradablePrice("0.5500"), 0.55);
  assert.equal(parseTradablePrice(0.999999), 0.999999);
  assert.equal(parseTradablePrice("0.000001"), 0.000001);
});

test("`parseTradablePrice` maps every number to a price inside (0, 1) on the micro grid, or to null", () => {
  fc.assert(
    fc.property(fc.oneof(fc.double(), fc.double({ min: 0, max: 1 })), (value) => {
      const price = parseTradablePrice(value);
      if (price === null) return;
      assert.ok(price > 0 && price < 1);
      assert.equal(fromMicros(toMicros(price)), price);
      assert.ok(Math.abs(price - value) <= 0.5e-6 + 1e-12);
    }),
  );
});
