import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { countDrops } from "../../../test/support/venues/count-drops.ts";
import { fixtureReader } from "../../../test/support/venues/fixtures.ts";
import { HOUR_MS } from "../../lib/durations.ts";
import { binPrices, parsePricePoints, priceChanges } from "./parse-history.ts";
import { createManifoldDriftDetectors } from "./wire.ts";

const fixture = fixtureReader(import.meta.url);
const NOW = 1_795_230_000_000;

test("sorts bet points oldest first and counts a price outside (0, 1)", () => {
  const { drops, countDrop } = countDrops();
  const rows = fixture("history/bet-points") as unknown[];
  const points = parsePricePoints(rows, null, { countDrop, driftDetectors: createManifoldDriftDetectors(() => {}) });
  assert.deepEqual(
    points.map(({ at, before, price }) => [NOW - at, before, price]),
    [
      [9_000_000, 0.4, 0.42],
      [5_400_000, 0.42, 0.44],
      [600_000, 0.44, 0.47],
    ],
  );
  assert.deepEqual(drops, { price_out_of_range: 1 });
});

test("price changes exclude points with an equal probability before and after", () => {
  const points = [
    { at: 1, before: 0.4, price: 0.42 },
    { at: 2, before: 0.4, price: 0.4 },
    { at: 3, before: null, price: 0.41 },
  ];
  assert.deepEqual(
    priceChanges(points).map(({ at }) => at),
    [1, 3],
  );
});

test("aligns intervals, uses the last price before each end, and starts with the price before the first bet", () => {
  const startAt = Math.ceil(NOW / HOUR_MS) * HOUR_MS;
  const points = [
    { at: startAt + 1.5 * HOUR_MS, before: 0.4, price: 0.42 },
    { at: startAt + 1.7 * HOUR_MS, before: 0.42, price: 0.44 },
    { at: startAt + 3 * HOUR_MS, before: 0.44, price: 0.47 },
  ];
  const bins = binPrices(points, { fromMs: startAt - 1, toMs: startAt + 4.5 * HOUR_MS, intervalMs: HOUR_MS }, 100);
  assert.deepEqual(
    bins.map((bin) => [(bin.startAt - startAt) / HOUR_MS, (bin.endAt - startAt) / HOUR_MS, bin.yesPrice]),
    [
      [0, 1, 0.4],
      [1, 2, 0.44],
      [2, 3, 0.44],
      [3, 4, 0.47],
    ],
  );
});

test("returns no interval before the first known price", () => {
  assert.deepEqual(binPrices([], { fromMs: 0, toMs: 10 * HOUR_MS, intervalMs: HOUR_MS }, 100), []);
  const latePoints = [{ at: 5.5 * HOUR_MS, before: null, price: 0.3 }];
  const bins = binPrices(latePoints, { fromMs: 0, toMs: 8 * HOUR_MS, intervalMs: HOUR_MS }, 100);
  assert.deepEqual(
    bins.map(({ startAt }) => startAt / HOUR_MS),
    [5, 6, 7],
  );
});

test("returns only the latest intervals if the range is very long", () => {
  const points = [{ at: 1, before: null, price: 0.5 }];
  const bins = binPrices(points, { fromMs: 0, toMs: 1e15, intervalMs: 1_000 }, 50);
  assert.equal(bins.length, 50);
  assert.equal(bins.at(-1)?.endAt, 1e15);
});

test("all intervals are inside the range, do not overlap and have the latest known price", () => {
  const pricePoint = fc.record({
    at: fc.integer({ min: 0, max: 1_000 }),
    price: fc.integer({ min: 1, max: 99 }).map((cents) => cents / 100),
  });
  fc.assert(
    fc.property(
      fc.array(pricePoint),
      fc.integer({ min: 0, max: 900 }),
      fc.integer({ min: 1, max: 300 }),
      (points, fromMs, intervalMs) => {
        const sorted = points.map((point) => ({ ...point, before: null })).sort((a, b) => a.at - b.at);
        const bins = binPrices(sorted, { fromMs, toMs: 1_000, intervalMs }, 1_000);
        for (const [index, bin] of bins.entries()) {
          assert.ok(bin.startAt >= fromMs && bin.endAt <= 1_000 && bin.startAt % intervalMs === 0);
          if (index > 0) assert.equal(bin.startAt, bins[index - 1]?.endAt);
          const last = sorted.findLast((point) => point.at < bin.endAt);
          assert.equal(bin.yesPrice, last?.price);
        }
      },
    ),
  );
});
