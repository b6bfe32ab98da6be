import assert from "node:assert/strict";
import { test } from "node:test";
import { countDrops } from "../../../test/support/venues/count-drops.ts";
import { fixtureReader } from "../../../test/support/venues/fixtures.ts";
import { HOUR_MS } from "../../lib/durations.ts";
import { parseCandle } from "./parse-history.ts";
import { isCandle } from "./wire.ts";

const readFixture = fixtureReader(import.meta.url);

function parseCandles(name: string) {
  const { candlesticks } = readFixture(name) as { candlesticks: unknown[] };
  const { countDrop, drops } = countDrops();
  return { points: candlesticks.filter(isCandle).map((row) => parseCandle(row, HOUR_MS, countDrop)), drops };
}

const expected = [
  {
    startAt: 1_795_230_000_000 - HOUR_MS,
    endAt: 1_795_230_000_000,
    yesPrice: 0.435,
    bid: 0.42,
    ask: 0.45,
    volumeUsd: 105,
  },
  // If a period has no trades and no quotes, its price is the price of the last trade before it.
  {
    startAt: 1_795_233_600_000 - HOUR_MS,
    endAt: 1_795_233_600_000,
    yesPrice: 0.43,
    bid: null,
    ask: null,
    volumeUsd: 0,
  },
];

test("parses candlesticks of the live tier; a crossed candlestick has no bid or ask and is counted", () => {
  const { points, drops } = parseCandles("history/candlesticks-live");
  assert.deepEqual(points.slice(0, 2), expected);
  assert.deepEqual(points[2], {
    startAt: 1_795_237_200_000 - HOUR_MS,
    endAt: 1_795_237_200_000,
    yesPrice: null,
    bid: null,
    ask: null,
    volumeUsd: 1.5,
  });
  assert.equal(points.length, 3);
  assert.deepEqual(drops, { crossed_book: 1 });
});

test("omits and counts each invalid price of a candlestick", () => {
  const { countDrop, drops } = countDrops();
  const row = {
    end_period_ts: 1_795_230_000,
    yes_bid: { close_dollars: "1.7200" },
    yes_ask: { close_dollars: "NaN" },
    price: { close_dollars: "-0.0100", previous_dollars: "0.4000" },
  };
  assert.ok(isCandle(row));
  const { bid, ask, yesPrice } = parseCandle(row, HOUR_MS, countDrop);
  assert.deepEqual([bid, ask, yesPrice, drops], [null, null, 0.4, { price_out_of_range: 3 }]);
});

test("if a candlestick's spread is above 0.10, its price is that of the last trade and not the mid", () => {
  const { countDrop } = countDrops();
  const priceOf = (price: object) => {
    const quotes = { yes_bid: { close_dollars: "0.0800" }, yes_ask: { close_dollars: "0.7400" } };
    const row = { end_period_ts: 1_795_230_000, ...quotes, price, volume_fp: "0.00" };
    assert.ok(isCandle(row));
    const { bid, ask, yesPrice } = parseCandle(row, HOUR_MS, countDrop);
    assert.deepEqual([bid, ask], [0.08, 0.74]);
    return yesPrice;
  };
  assert.equal(priceOf({ close_dollars: "0.1500", previous_dollars: "0.1200" }), 0.15);
  assert.equal(priceOf({ previous_dollars: "0.1200" }), 0.12);
  assert.equal(priceOf({}), null);
});

test("two candlesticks with equal contracts have equal volumes at different prices", () => {
  const { countDrop } = countDrops();
  const volumes = ["0.0300", "0.9700"].map((close_dollars) => {
    const row = { end_period_ts: 1_795_230_000, price: { close_dollars }, volume_fp: "80.00" };
    assert.ok(isCandle(row));
    return parseCandle(row, HOUR_MS, countDrop).volumeUsd;
  });
  assert.deepEqual(volumes, [40, 40]);
});

test("parses the historical tier's field names without suffixes", () => {
  assert.deepEqual(parseCandles("history/candlesticks-historical").points, expected);
});
