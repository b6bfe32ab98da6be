import assert from "node:assert/strict";
import { test } from "node:test";
import { countDrops, readFixture } from "./fixtures/support.ts";
import { parseCandle, parseTrade } from "./parse-tape.ts";
import { isCandle, isTrade, isTradeMessage } from "./wire.ts";

const HOUR_MS = 3_600_000;

function parseTrades(name: string) {
  const { trades } = readFixture(name) as { trades: unknown[] };
  const { drop, dropped } = countDrops();
  return { trades: trades.filter(isTrade).map((row) => parseTrade(row, drop)), dropped };
}

function parseCandles(name: string) {
  const { candlesticks } = readFixture(name) as { candlesticks: unknown[] };
  const { drop, dropped } = countDrops();
  return { points: candlesticks.filter(isCandle).map((row) => parseCandle(row, HOUR_MS, drop)), dropped };
}

test("trades-page: microseconds are cut to milliseconds and the side is what the taker bought", () => {
  const { trades } = parseTrades("trades-page");
  assert.deepEqual(trades, [
    {
      tradeId: "7f0c3f62-0d3e-4b57-a1b0-0b3c6d4f9a01",
      executedAt: Date.UTC(2026, 10, 21, 1, 2, 3, 456),
      yesPrice: 0.43,
      size: 12,
      takerSide: "yes",
    },
    { tradeId: "t2", executedAt: Date.UTC(2026, 10, 21, 1, 2, 1), yesPrice: 0.43, size: 0.5, takerSide: "no" },
  ]);
});

test("trades-deprecated-side: the old side is read where the new one is missing, and null where both are", () => {
  assert.deepEqual(
    parseTrades("trades-deprecated-side").trades.map((trade) => trade?.takerSide),
    ["no", null],
  );
});

test("trades-block-and-garbage: block trades and unusable rows are left out, each by its reason", () => {
  const { trades, dropped } = parseTrades("trades-block-and-garbage");
  assert.equal(trades.filter((trade) => trade !== null).length, 1);
  assert.deepEqual(dropped, { block_trade: 1, price_out_of_range: 1, bad_trade: 2 });
});

test("stream-trade: the stream's trade has its time in milliseconds", () => {
  const { msg } = readFixture("stream-trade") as { msg: unknown };
  assert.ok(isTradeMessage(msg));
  const trade = parseTrade(msg, countDrops().drop);
  assert.deepEqual(trade, { tradeId: "t9", executedAt: 1_795_229_999_123, yesPrice: 0.43, size: 12, takerSide: "no" });
});

const expected = [
  {
    startAt: 1_795_230_000_000 - HOUR_MS,
    endAt: 1_795_230_000_000,
    yesPrice: 0.435,
    bid: 0.42,
    ask: 0.45,
    volumeUsd: 89.25,
  },
  // Nobody traded and nobody quoted: the last trade before the period is what is known.
  {
    startAt: 1_795_233_600_000 - HOUR_MS,
    endAt: 1_795_233_600_000,
    yesPrice: 0.43,
    bid: null,
    ask: null,
    volumeUsd: 0,
  },
];

test("candlesticks-live: suffixed names, absent prices; a crossed candle shows neither side and is counted", () => {
  const { points, dropped } = parseCandles("candlesticks-live");
  assert.deepEqual(points.slice(0, 2), expected);
  assert.deepEqual(points[2], {
    startAt: 1_795_237_200_000 - HOUR_MS,
    endAt: 1_795_237_200_000,
    yesPrice: null,
    bid: null,
    ask: null,
    volumeUsd: null,
  });
  assert.equal(points.length, 3);
  assert.deepEqual(dropped, { crossed_book: 1 });
});

test("prices of a candle that are none are left out and counted, one by one", () => {
  const { drop, dropped } = countDrops();
  const row = {
    end_period_ts: 1_795_230_000,
    yes_bid: { close_dollars: "1.7200" },
    yes_ask: { close_dollars: "NaN" },
    price: { close_dollars: "-0.0100", previous_dollars: "0.4000", mean_dollars: null },
  };
  assert.ok(isCandle(row));
  const { bid, ask, yesPrice } = parseCandle(row, HOUR_MS, drop);
  assert.deepEqual([bid, ask, yesPrice, dropped], [null, null, 0.4, { price_out_of_range: 3 }]);
});

test("candlesticks-historical: the unsuffixed names of the historical tier mean the same", () => {
  assert.deepEqual(parseCandles("candlesticks-historical").points, expected);
});
