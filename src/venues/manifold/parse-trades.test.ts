import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { binPrices, parsePricePoints, parseTrade } from "./parse-trades.ts";
import { isBet } from "./wire.ts";
import { watchManifold } from "./wire-shapes.ts";

const NOW = 1_795_230_000_000;
const HOUR_MS = 3_600_000;

function rows(name: string): unknown[] {
  const value: unknown = JSON.parse(readFileSync(new URL(`fixtures/${name}.json`, import.meta.url), "utf8"));
  assert.ok(Array.isArray(value));
  return value;
}

function tape(name: string) {
  const drops: string[] = [];
  const drop = (reason: string) => {
    drops.push(reason);
  };
  const trades = rows(name).flatMap((row) => {
    if (!isBet(row)) {
      drop("bad_bet");
      return [];
    }
    return parseTrade(row, drop) ?? [];
  });
  return { trades, drops };
}

test("trades/all-kinds: a price is mana by shares, told from the YES side, whichever side was bought or sold", () => {
  const { trades, drops } = tape("trades/all-kinds");
  const byId = new Map(
    trades.map(({ tradeId, yesPrice, size, takerSide }) => [tradeId, { yesPrice, size, takerSide }]),
  );
  assert.deepEqual(byId.get("betBuyYes1"), { yesPrice: 0.4375, size: 57.142857, takerSide: "yes" });
  assert.deepEqual(byId.get("betBuyNo02"), { yesPrice: 0.4, size: 50, takerSide: "no" });
  assert.deepEqual(byId.get("betSellYes3"), { yesPrice: 0.4, size: 50, takerSide: "no" });
  assert.deepEqual(byId.get("betSellNo04"), { yesPrice: 0.4, size: 20, takerSide: "yes" });
  assert.deepEqual(drops, []);
});

test("redemptions, rebalancing and resting orders are no trades", () => {
  const ids = tape("trades/all-kinds").trades.map(({ tradeId }) => tradeId);
  for (const id of ["betRedeem5", "betRebal06", "betResting7"]) assert.ok(!ids.includes(id), id);
});

test("what a resting order gave to later takers is told by their bets, not a second time by the order", () => {
  const { trades } = tape("trades/all-kinds");
  assert.ok(!trades.some(({ tradeId }) => tradeId === "betMaker008"));
  const partly = trades.find(({ tradeId }) => tradeId === "betPartly09");
  assert.deepEqual([partly?.yesPrice, partly?.size], [0.5, 20]);
});

test("trades/invalid-rows: bad bets are dropped and counted, and the good one stays", () => {
  const { trades, drops } = tape("trades/invalid-rows");
  assert.deepEqual(
    trades.map(({ tradeId }) => tradeId),
    ["betGood0001"],
  );
  assert.deepEqual(drops.sort(), [...Array(5).fill("bad_bet"), "price_out_of_range", "price_out_of_range"]);
});

test("nobody's id comes through", () => {
  assert.doesNotMatch(JSON.stringify(tape("trades/all-kinds").trades), /uPrivate99/);
});

test("history/bet-points: points in any order become prices oldest first, a price outside (0, 1) is counted", () => {
  const drops: string[] = [];
  const points = parsePricePoints(rows("history/bet-points"), null, {
    drop: (reason) => drops.push(reason),
    watch: watchManifold(() => {}),
  });
  assert.deepEqual(
    points.map(({ at, before, price }) => [NOW - at, before, price]),
    [
      [9_000_000, 0.4, 0.42],
      [5_400_000, 0.42, 0.44],
      [600_000, 0.44, 0.47],
    ],
  );
  assert.deepEqual(drops, ["price_out_of_range"]);
});

test("bins lie on the grid, hold the last price before their end, and begin with what the price was before the first bet", () => {
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

test("without any known price there are no bins", () => {
  assert.deepEqual(binPrices([], { fromMs: 0, toMs: 10 * HOUR_MS, intervalMs: HOUR_MS }, 100), []);
  const late = [{ at: 5.5 * HOUR_MS, before: null, price: 0.3 }];
  const bins = binPrices(late, { fromMs: 0, toMs: 8 * HOUR_MS, intervalMs: HOUR_MS }, 100);
  assert.deepEqual(
    bins.map(({ startAt }) => startAt / HOUR_MS),
    [5, 6, 7],
  );
});

test("a range of a century is cut to the latest bins", () => {
  const points = [{ at: 1, before: null, price: 0.5 }];
  const bins = binPrices(points, { fromMs: 0, toMs: 1e15, intervalMs: 1_000 }, 50);
  assert.equal(bins.length, 50);
  assert.equal(bins.at(-1)?.endAt, 1e15);
});

test("bins are inside the range, without overlap, and only have prices that were seen", () => {
  const point = fc.record({
    at: fc.integer({ min: 0, max: 1_000 }),
    price: fc.integer({ min: 1, max: 99 }).map((cents) => cents / 100),
  });
  fc.assert(
    fc.property(
      fc.array(point),
      fc.integer({ min: 0, max: 900 }),
      fc.integer({ min: 1, max: 300 }),
      (points, fromMs, intervalMs) => {
        const sorted = points.map((one) => ({ ...one, before: null })).sort((a, b) => a.at - b.at);
        const bins = binPrices(sorted, { fromMs, toMs: 1_000, intervalMs }, 1_000);
        for (const [at, bin] of bins.entries()) {
          assert.ok(bin.startAt >= fromMs && bin.endAt <= 1_000 && bin.startAt % intervalMs === 0);
          if (at > 0) assert.equal(bin.startAt, bins[at - 1]?.endAt);
          const last = sorted.findLast((one) => one.at < bin.endAt);
          assert.equal(bin.yesPrice, last?.price);
        }
      },
    ),
  );
});
