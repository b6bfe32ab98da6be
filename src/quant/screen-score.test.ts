import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertNear } from "../../test/support/asserts/assert-near.ts";
import {
  resolutionTimeScore,
  SCREEN_WEIGHTS,
  type ScreenFigures,
  screenScore,
  timeIndependentScreenScore,
} from "./screen-score.ts";

const UNKNOWN: ScreenFigures = { volume24hUsd: null, liquidityUsd: null, spread: null, priceChange24h: null };
const unknownOr = (value: fc.Arbitrary<number>) => fc.option(value, { nil: null });
const usd = fc.double({ min: 0, max: 1e9, noNaN: true });
const figures: fc.Arbitrary<ScreenFigures> = fc.record({
  volume24hUsd: unknownOr(usd),
  liquidityUsd: unknownOr(usd),
  spread: unknownOr(fc.double({ min: 0, max: 1, noNaN: true })),
  priceChange24h: unknownOr(fc.double({ min: -1, max: 1, noNaN: true })),
});
const hours = unknownOr(fc.double({ min: -100, max: 1e5, noNaN: true }));

test("known values: half of the volume scale, 2 cents of spread and a move of 5 cents score 0.4, and 0.1 more at 30 days", () => {
  const timeless = timeIndependentScreenScore({
    volume24hUsd: 999,
    liquidityUsd: null,
    spread: 0.02,
    priceChange24h: -0.05,
  });
  assertNear(timeless, 0.125 + 0.2 + 0.075, 1e-12);
  assertNear(resolutionTimeScore(720), 0.5, 1e-12);
  assertNear(screenScore(timeless, 720), 0.5, 1e-12);
});

test("closed form: the weights sum to 1, and a market without known figures scores 0", () => {
  assertNear(
    Object.values(SCREEN_WEIGHTS).reduce((sum, weight) => sum + weight, 0),
    1,
    1e-12,
  );
  assert.equal(screenScore(timeIndependentScreenScore(UNKNOWN), null), 0);
  const best = timeIndependentScreenScore({ volume24hUsd: 1e6, liquidityUsd: 1e6, spread: 0, priceChange24h: 0.1 });
  assertNear(best, 1 - SCREEN_WEIGHTS.time, 1e-12);
  assertNear(timeIndependentScreenScore({ ...UNKNOWN, priceChange24h: -0.9 }), SCREEN_WEIGHTS.movement, 1e-12);
});

test("the time part is 0 at the resolution, largest an hour before, and smaller the more hours are left", () => {
  assert.equal(resolutionTimeScore(0), 0);
  assert.equal(resolutionTimeScore(-5), 0);
  assert.equal(resolutionTimeScore(Infinity), 0);
  fc.assert(
    fc.property(
      fc.double({ min: 1, max: 1e5, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (far, near) => {
        assert.ok(resolutionTimeScore(far + 1) < resolutionTimeScore(far));
        assert.ok(resolutionTimeScore(near) <= resolutionTimeScore(1));
      },
    ),
  );
});

test("the score stays in [0, 1), and a known figure never gives a lower score than an unknown figure", () => {
  fc.assert(
    fc.property(figures, hours, (known, hoursLeft) => {
      const score = screenScore(timeIndependentScreenScore(known), hoursLeft);
      assert.ok(score >= 0 && score < 1);
      for (const name of Object.keys(UNKNOWN))
        assert.ok(timeIndependentScreenScore({ ...known, [name]: null }) <= timeIndependentScreenScore(known));
    }),
  );
});

test("figures outside their range are refused", () => {
  for (const wrong of [-1, Number.NaN, Infinity]) {
    assert.throws(() => timeIndependentScreenScore({ ...UNKNOWN, volume24hUsd: wrong }), RangeError);
    assert.throws(() => timeIndependentScreenScore({ ...UNKNOWN, liquidityUsd: wrong }), RangeError);
    assert.throws(() => timeIndependentScreenScore({ ...UNKNOWN, spread: wrong }), RangeError);
  }
  for (const wrong of [Number.NaN, Infinity])
    assert.throws(() => timeIndependentScreenScore({ ...UNKNOWN, priceChange24h: wrong }), RangeError);
  assert.throws(() => resolutionTimeScore(Number.NaN), RangeError);
});
