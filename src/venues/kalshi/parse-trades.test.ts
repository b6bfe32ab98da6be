import assert from "node:assert/strict";
import { test } from "node:test";
import { countDrops } from "../../../test/support/venues/count-drops.ts";
import { fixtureReader } from "../../../test/support/venues/fixtures.ts";
import { parseTrade } from "./parse-trades.ts";
import { isTrade, isTradeMessage } from "./wire.ts";

const readFixture = fixtureReader(import.meta.url);

function parseTrades(name: string) {
  const { trades } = readFixture(name) as { trades: unknown[] };
  const { countDrop, drops } = countDrops();
  return { trades: trades.filter(isTrade).map((row) => parseTrade(row, countDrop)), drops };
}

test("truncates times to milliseconds and reports the side that the taker bought", () => {
  const { trades } = parseTrades("trades/page");
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

test("reads `taker_side` if `taker_outcome_side` is missing, and returns a null side if both are missing", () => {
  assert.deepEqual(
    parseTrades("trades/deprecated-side").trades.map((trade) => trade?.takerSide),
    ["no", null],
  );
});

test("drops block trades and invalid rows and counts each by reason", () => {
  const { trades, drops } = parseTrades("trades/block-and-garbage");
  assert.equal(trades.filter((trade) => trade !== null).length, 1);
  assert.deepEqual(drops, { block_trade: 1, price_out_of_range: 1, bad_trade: 2 });
});

test("reads the time of a streamed trade in milliseconds", () => {
  const { msg } = readFixture("stream/trade") as { msg: unknown };
  assert.ok(isTradeMessage(msg));
  const trade = parseTrade(msg, countDrops().countDrop);
  assert.deepEqual(trade, { tradeId: "t9", executedAt: 1_795_229_999_123, yesPrice: 0.43, size: 12, takerSide: "no" });
});
