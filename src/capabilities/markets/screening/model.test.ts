import assert from "node:assert/strict";
import { test } from "node:test";
import { isVolumeSpike, priceTrendOf, screenActionOf } from "./model.ts";

test("a trend needs a move of two cents in 24 hours, and a known price of the day before", () => {
  assert.deepEqual([0.02, -0.02, 0.019, -0.019, 0, null].map(priceTrendOf), [
    ...["rising", "falling", "stable", "stable", "stable"],
    null,
  ]);
});

test("a volume spike needs 100 USD and three times the mean hour, and is null if a volume is unknown", () => {
  assert.equal(isVolumeSpike(3_000, 24_000), true);
  assert.equal(isVolumeSpike(2_999, 24_000), false);
  assert.equal(isVolumeSpike(100, 0), true);
  assert.equal(isVolumeSpike(99.99, 0), false);
  assert.equal(isVolumeSpike(null, 24_000), null);
  assert.equal(isVolumeSpike(3_000, null), null);
});

test("the action depends on the score alone", () => {
  assert.deepEqual([0, 0.3999, 0.4, 0.5999, 0.6, 1].map(screenActionOf), [
    ...["skip", "skip", "watch", "watch", "analyze", "analyze"],
  ]);
});
