import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { HOUR_MS } from "../../../lib/durations.ts";
import { expiryByAge, freshnessOf } from "./freshness.ts";

const ANALYSED_AT = Date.UTC(2026, 10, 21);
const analysis = { analysedAt: ANALYSED_AT, interval: { low: 0.4, high: 0.6 }, marketPrice: 0.5 };
const at = (hours: number, price: number | null = 0.5, parts: Partial<typeof analysis> = {}) =>
  freshnessOf({ ...analysis, ...parts }, price, ANALYSED_AT + hours * HOUR_MS);

test("an analysis is fresh below 24 hours, stale up to 72, then expired", () => {
  assert.deepEqual([at(0), at(23.999), at(24), at(72), at(72.001)], ["fresh", "fresh", "stale", "stale", "expired"]);
  assert.equal(expiryByAge(analysis), ANALYSED_AT + 72 * HOUR_MS);
});

test("an analysis expires if the price leaves its interval, but not if the price is unknown", () => {
  assert.deepEqual([at(1, 0.4), at(1, 0.6), at(1, null)], ["fresh", "fresh", "fresh"]);
  assert.deepEqual([at(1, 0.39), at(1, 0.61), at(30, 0.61)], ["expired", "expired", "expired"]);
});

test("an analysis made at a price outside its interval expires only when the price moves further away", () => {
  const outside = { marketPrice: 0.3 };
  assert.deepEqual([at(1, 0.3, outside), at(1, 0.45, outside), at(1, 0.29, outside)], ["fresh", "fresh", "expired"]);
});

test("freshness never improves with age", () => {
  const order = ["fresh", "stale", "expired"];
  const unit = fc.double({ min: 0, max: 1, noNaN: true });
  const hours = fc.double({ min: 0, max: 200, noNaN: true });
  fc.assert(
    fc.property(unit, hours, hours, (price, first, second) => {
      const [earlier, later] = first < second ? [first, second] : [second, first];
      assert.ok(order.indexOf(at(earlier, price)) <= order.indexOf(at(later, price)));
    }),
  );
});
