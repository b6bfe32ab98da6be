import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { sampleCandle, samplePoint } from "../../test/support/storage-samples.ts";
import type { HistoryPoint } from "../domain/trade.ts";
import { HOUR_MS } from "../lib/durations.ts";
import { binHistory, createHistoryGrid, PERIOD_MS } from "./history-grid.ts";
import { FIVE_MINUTES_MS, type HistoryPeriod } from "./model.ts";

const NOW = Date.UTC(2026, 10, 21, 3, 57, 11);
const periodArbitrary = fc.constantFrom<HistoryPeriod>("48h", "7d", "30d");

test("the grid has the smallest interval that needs at most `maxPoints` bins, such as 4 h for 7 days and 48 points", () => {
  assert.deepEqual(createHistoryGrid("7d", 48, NOW), {
    fromMs: Date.UTC(2026, 10, 14, 4),
    intervalMs: 4 * HOUR_MS,
    count: 42,
  });
  assert.equal(createHistoryGrid("48h", 200, NOW).intervalMs, 15 * 60_000);
  assert.equal(createHistoryGrid("48h", 48, NOW).intervalMs, HOUR_MS);
  assert.equal(createHistoryGrid("30d", 200, NOW).intervalMs, 4 * HOUR_MS);
  assert.equal(createHistoryGrid("30d", 10, NOW).intervalMs, 72 * HOUR_MS);
  assert.throws(() => createHistoryGrid("30d", 9, NOW), RangeError);
});

test("the grid covers the period up to now with at most maxPoints bins, aligned to multiples of the interval", () => {
  fc.assert(
    fc.property(
      periodArbitrary,
      fc.integer({ min: 10, max: 200 }),
      fc.integer({ min: 0, max: 4e12 }),
      (period, maxPoints, now) => {
        const { fromMs, intervalMs, count } = createHistoryGrid(period, maxPoints, now);
        const toMs = fromMs + count * intervalMs;
        assert.ok(count <= maxPoints && count >= 1);
        assert.equal(count * intervalMs, PERIOD_MS[period]);
        assert.ok(Number.isInteger(fromMs / intervalMs));
        assert.ok(toMs >= now && toMs - intervalMs < now);
      },
    ),
  );
});

const grid = { fromMs: 0, intervalMs: 2 * FIVE_MINUTES_MS, count: 30 };
/** Five-minute samples before, in and after the grid, some without a price or volume. */
const samplesArbitrary = fc.uniqueArray(
  fc.record({
    slot: fc.integer({ min: -20, max: 80 }),
    yesPrice: fc.option(fc.integer({ min: 0, max: 1_000 }).map((milli) => milli / 1_000)),
    volumeUsd: fc.option(fc.integer({ min: 0, max: 100 })),
  }),
  { selector: (sample) => sample.slot, maxLength: 60 },
);
const toPoints = (list: { slot: number; yesPrice: number | null; volumeUsd: number | null }[]) =>
  list.map(({ slot, yesPrice, volumeUsd }) =>
    samplePoint(slot * FIVE_MINUTES_MS, (slot + 1) * FIVE_MINUTES_MS, yesPrice, { volumeUsd }),
  );

test("the volume of a bin is rounded to cents", () => {
  const volumes = toPoints([0.1, 0.2].map((volumeUsd, slot) => ({ slot, yesPrice: 0.5, volumeUsd })));
  assert.equal(binHistory(grid, volumes)[0]?.volumeUsd, 0.3);
});

test("a bin has the last price at or before its end, and bins before the first known price are omitted", () => {
  fc.assert(
    fc.property(samplesArbitrary, (list) => {
      const samples = Object.freeze(toPoints(list)) as HistoryPoint[];
      const bins = new Map(binHistory(grid, samples).map((bin) => [bin.startAt, bin]));
      for (let index = 0; index < grid.count; index++) {
        const startAt = index * grid.intervalMs;
        const endAt = startAt + grid.intervalMs;
        const knownSamples = samples.filter((sample) => sample.yesPrice !== null && sample.endAt <= endAt);
        const [latestSample] = knownSamples.sort((a, b) => b.endAt - a.endAt);
        assert.equal(bins.get(startAt)?.yesPrice, latestSample?.yesPrice ?? undefined);
        assert.equal(bins.get(startAt)?.endAt, latestSample === undefined ? undefined : endAt);
      }
    }),
  );
});

test("the volume of a bin is the sum of its samples, or null if any of them is unknown", () => {
  fc.assert(
    fc.property(samplesArbitrary, (list) => {
      const samples = toPoints(list);
      for (const bin of binHistory(grid, samples)) {
        const containedSamples = samples.filter((sample) => sample.startAt >= bin.startAt && sample.endAt <= bin.endAt);
        const isKnown = containedSamples.length > 0 && containedSamples.every((sample) => sample.volumeUsd !== null);
        const volumeUsd = containedSamples.reduce((sum, sample) => sum + (sample.volumeUsd ?? 0), 0);
        assert.equal(bin.volumeUsd, isKnown ? volumeUsd : null);
      }
    }),
  );
});

test("the result does not depend on the order of the samples", () => {
  fc.assert(
    fc.property(samplesArbitrary, (list) => {
      assert.deepEqual(binHistory(grid, toPoints(list)), binHistory(grid, toPoints(list.toReversed())));
    }),
  );
});

test("bins without samples repeat the previous price, without bid, ask and volume", () => {
  const firstSample = samplePoint(0, HOUR_MS, 0.4, { bid: 0.39, ask: 0.41, volumeUsd: 7 });
  assert.deepEqual(binHistory({ fromMs: 0, intervalMs: HOUR_MS, count: 3 }, [firstSample]), [
    sampleCandle(0, HOUR_MS, 0.4, { bid: 0.39, ask: 0.41, volumeUsd: 7 }),
    sampleCandle(HOUR_MS, 2 * HOUR_MS, 0.4),
    sampleCandle(2 * HOUR_MS, 3 * HOUR_MS, 0.4),
  ]);
});

test("a sample longer than a bin sets the price of the bin in which the sample ends, and gives no bin a volume", () => {
  const bins = binHistory({ fromMs: 0, intervalMs: HOUR_MS, count: 3 }, [
    samplePoint(0, HOUR_MS, 0.5, { volumeUsd: 5 }),
    samplePoint(HOUR_MS, 3 * HOUR_MS, 0.7, { volumeUsd: 9 }),
  ]);
  const prices = bins.map(({ yesPrice }) => yesPrice);
  const volumes = bins.map(({ volumeUsd }) => volumeUsd);
  assert.deepEqual(
    [prices, volumes],
    [
      [0.5, 0.5, 0.7],
      [5, null, null],
    ],
  );
});
