import assert from "node:assert/strict";
import { test } from "node:test";
import { countDrops } from "../../../test/support/venues/count-drops.ts";
import { fixtureReader } from "../../../test/support/venues/fixtures.ts";
import { parseTrade } from "./parse-trades.ts";
import { isBet } from "./wire.ts";

const fixture = fixtureReader(import.meta.url);

function parseTrades(name: string) {
  const { drops, countDrop } = countDrops();
  const trades = (fixture(name) as unknown[]).flatMap((row) => {
    if (!isBet(row)) {
      countDrop("bad_bet");
      return [];
    }
    return parseTrade(row, countDrop) ?? [];
  });
  return { trades, drops };
}

test("calculates the YES price as mana per share, for buys and sells of YES and NO", () => {
  const { trades, drops } = parseTrades("trades/all-kinds");
  const byId = new Map(
    trades.map(({ tradeId, yesPrice, size, takerSide }) => [tradeId, { yesPrice, size, takerSide }]),
  );
  assert.deepEqual(byId.get("betBuyYes1"), { yesPrice: 0.4375, size: 57.142857, takerSide: "yes" });
  assert.deepEqual(byId.get("betBuyNo02"), { yesPrice: 0.4, size: 50, takerSide: "no" });
  assert.deepEqual(byId.get("betSellYes3"), { yesPrice: 0.4, size: 50, takerSide: "no" });
  assert.deepEqual(byId.get("betSellNo04"), { yesPrice: 0.4, size: 20, takerSide: "yes" });
  assert.deepEqual(drops, {});
});

test("redemptions, rebalancing and unfilled limit orders are not trades", () => {
  const ids = parseTrades("trades/all-kinds").trades.map(({ tradeId }) => tradeId);
  for (const id of ["betRedeem5", "betRebal06", "betResting7"]) assert.ok(!ids.includes(id), id);
});

test("a row with zero shares that moves another answer is not a trade, although it has fills", () => {
  assert.ok(!parseTrades("trades/all-kinds").trades.some(({ tradeId }) => tradeId === "betMoved10"));
});

test("a sale to the pool at an unchanged probability is the conversion of a full set and not a trade", () => {
  assert.ok(!parseTrades("trades/all-kinds").trades.some(({ tradeId }) => tradeId === "betFullSet1"));
});

test("fills of a limit order after its placement count only as the takers' trades", () => {
  const { trades } = parseTrades("trades/all-kinds");
  assert.ok(!trades.some(({ tradeId }) => tradeId === "betMaker008"));
  const partlyFilled = trades.find(({ tradeId }) => tradeId === "betPartly09");
  assert.deepEqual([partlyFilled?.yesPrice, partlyFilled?.size], [0.5, 20]);
});

test("drops and counts invalid bets and keeps the valid bet", () => {
  const { trades, drops } = parseTrades("trades/invalid-rows");
  assert.deepEqual(
    trades.map(({ tradeId }) => tradeId),
    ["betGood0001"],
  );
  assert.deepEqual(drops, { bad_bet: 5, price_out_of_range: 2 });
});

test("stores no user ids", () => {
  assert.doesNotMatch(JSON.stringify(parseTrades("trades/all-kinds").trades), /uPrivate99/);
});
