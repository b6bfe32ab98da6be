import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { toCents } from "./usd.ts";

test("an amount has at most two decimals, and the error is at most half a cent", () => {
  assert.equal(toCents(1234.5600000001), 1234.56);
  assert.equal(toCents(0.1 + 0.2), 0.3);
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e10, noNaN: true }), (usd) => {
      const rounded = toCents(usd);
      return Number(rounded.toFixed(2)) === rounded && Math.abs(rounded - usd) <= 0.005 + 1e-5;
    }),
  );
});

test("rounding keeps every finite amount finite, and changes it by at most 0.0051 USD or a relative 1e-12", () => {
  assert.equal(toCents(Number.MAX_VALUE), Number.MAX_VALUE);
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (usd) => {
      const rounded = toCents(usd);
      return Number.isFinite(rounded) && Math.abs(rounded - usd) <= Math.max(0.0051, Math.abs(usd) * 1e-12);
    }),
  );
});
