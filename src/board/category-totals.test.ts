import assert from "node:assert/strict";
import { test } from "node:test";
import { CategoryTotals } from "./category-totals.ts";

const sports = (volume24hUsd: number | null, venue = "alpha") => ({ venue, category: "Sports" as const, volume24hUsd });

test("sums are exact after any number of changes, and removed rows do not count", () => {
  const totals = new CategoryTotals();
  for (let change = 0; change < 1_000; change++)
    for (const row of [0, 1, 2]) totals.set(row, sports(0.1 * ((change * 7 + row) % 11)));
  totals.set(0, sports(0.1));
  totals.set(1, sports(0.2));
  totals.set(2, null);
  totals.set(9, null);
  assert.deepEqual(totals.summarise(["alpha"]), [{ category: "Sports", marketCount: 2, volume24hUsd: 0.3 }]);
});

test("adds up the requested venues only, and the volume is null if no market's volume is known", () => {
  const totals = new CategoryTotals();
  totals.set(0, sports(5));
  totals.set(1, sports(null, "beta"));
  totals.set(2, { venue: "gamma", category: "Crypto", volume24hUsd: 0 });
  assert.deepEqual(totals.summarise(["alpha", "beta"]), [{ category: "Sports", marketCount: 2, volume24hUsd: 5 }]);
  assert.deepEqual(totals.summarise(["beta", "gamma", "unknown"]), [
    { category: "Crypto", marketCount: 1, volume24hUsd: 0 },
    { category: "Sports", marketCount: 1, volume24hUsd: null },
  ]);
});

test("a volume above the maximum counts as unknown and does not change the sum", () => {
  const totals = new CategoryTotals();
  totals.set(0, sports(1.25));
  for (const volume of [1e308, Number.POSITIVE_INFINITY, 1.1e11]) totals.set(1, sports(volume));
  assert.deepEqual(totals.summarise(["alpha"]), [{ category: "Sports", marketCount: 2, volume24hUsd: 1.25 }]);
});
