import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { deadlineTheta, timeUrgency } from "./time-decay.ts";

const probability = fc.double({ min: 0, max: 1, noNaN: true });
const days = fc.double({ min: 0.01, max: 1_000, noNaN: true });

test("known value: 75% two days before the deadline falls to 50% in one day", () => {
  assert.equal(deadlineTheta(0.75, 2), -25);
});

test("far from the deadline, theta approaches 100 (1 - p) ln(1 - p) / T", () => {
  for (const p of [0.1, 0.5, 0.9]) {
    const limit = (100 * (1 - p) * Math.log(1 - p)) / 100_000;
    assert.ok(Math.abs(deadlineTheta(p, 100_000) / limit - 1) < 1e-4);
  }
});

test("on the last day the whole remaining probability decays", () => {
  fc.assert(
    fc.property(probability, fc.double({ min: 0.01, max: 1, noNaN: true }), (p, d) => deadlineTheta(p, d) === -100 * p),
  );
});

test("the daily decays until the deadline add up to the whole probability", () => {
  fc.assert(
    fc.property(probability, fc.integer({ min: 1, max: 200 }), (p, total) => {
      let rest = p;
      for (let left = total; left > 0; left--) rest = Math.max(0, rest + deadlineTheta(rest, left) / 100);
      return Math.abs(rest) < 1e-9;
    }),
  );
});

test("theta is never positive, and its size never decreases as the deadline approaches", () => {
  fc.assert(
    fc.property(probability, days, days, (p, a, b) => {
      const [near, far] = [deadlineTheta(p, Math.min(a, b)), deadlineTheta(p, Math.max(a, b))];
      return near <= far + 1e-9 && far <= 0 && near >= -100;
    }),
  );
});

test("probabilities outside [0, 1] and deadlines in the past are refused", () => {
  for (const p of [-0.1, 1.1, Number.NaN]) assert.throws(() => deadlineTheta(p, 1), RangeError);
  for (const d of [0, -1, Number.NaN, Infinity]) assert.throws(() => deadlineTheta(0.5, d), RangeError);
});

test("urgency changes at 24 hours, 3 days and 14 days", () => {
  const hours = [0, 23.99, 24, 71.99, 72, 336, 336.01, 1e6];
  assert.deepEqual(hours.map(timeUrgency), ["critical", "critical", "high", "high", "medium", "medium", "low", "low"]);
  for (const value of [-1, Number.NaN]) assert.throws(() => timeUrgency(value), RangeError);
});
