import assert from "node:assert/strict";
import { test } from "node:test";
import { countDrops } from "../../../test/support/venues/count-drops.ts";
import { fixtureReader } from "../../../test/support/venues/fixtures.ts";
import { parseStreamTrade, parseTrades } from "./parse-trades.ts";
import { detectPolymarketDrift, isTradesPageV2 } from "./wire.ts";

const readFixture = fixtureReader(import.meta.url);
const driftDetectors = detectPolymarketDrift(() => {});

/** The tokens of the market in the fixtures. */
const TOKENS = (() => {
  const [book, mirror] = readFixture("stream/book-both-tokens") as { asset_id: string }[];
  assert.ok(book !== undefined && mirror !== undefined);
  return { tokenYes: book.asset_id, tokenNo: mirror.asset_id };
})();

const parseFixture = (name: string) => {
  const page = readFixture(name);
  const { drops, countDrop } = countDrops();
  const rows = isTradesPageV2(page) ? page.data : page;
  assert.ok(Array.isArray(rows));
  return { trades: parseTrades(rows, TOKENS, { countDrop, driftDetectors }), drops };
};

test("converts NO trades to the YES side; selling one token equals buying the opposite token", () => {
  const { trades, drops } = parseFixture("trades/v2");
  assert.deepEqual(
    trades.map(({ yesPrice, size, takerSide, executedAt }) => [yesPrice, size, takerSide, executedAt]),
    [
      [0.43, 25.5, "yes", 1795229990000],
      [0.43, 25.5, "yes", 1795229990000],
      [0.43, 10, "no", 1795229990000],
      [0.43, 25.5, "no", 1795229990000],
      [0.44, 25.5, "yes", 1795229980000],
    ],
  );
  assert.deepEqual(drops, {});
});

test("assigns different ids to equal rows of one transaction, the same on every read", () => {
  const ids = parseFixture("trades/v2").trades.map((trade) => trade.tradeId);
  assert.equal(new Set(ids).size, 5);
  assert.deepEqual(
    parseFixture("trades/v2").trades.map((trade) => trade.tradeId),
    ids,
  );
});

test("assigns the same id to a v1 row as to the v2 row, without data about the trader", () => {
  const [v1] = parseFixture("trades/v1").trades;
  const [v2] = parseFixture("trades/v2").trades;
  assert.deepEqual(v1, v2);
  assert.deepEqual(Object.keys(v1 ?? {}).sort(), ["executedAt", "size", "takerSide", "tradeId", "yesPrice"]);
});

test("drops and counts invalid rows", () => {
  const { trades, drops } = parseFixture("trades/v2-garbage");
  assert.equal(trades.length, 1);
  assert.deepEqual(drops, { price_out_of_range: 2, bad_trade: 1, foreign_token: 1, bad_row: 4 });
});

test("assigns the same id to a streamed trade as to the REST row, although REST times are whole seconds", () => {
  const { countDrop } = countDrops();
  const message = readFixture("stream/last-trade-no-token");
  const streamed = parseStreamTrade(message, TOKENS, countDrop);
  const row = {
    side: "BUY",
    token_id: TOKENS.tokenNo,
    size: 12.5,
    price: 0.57,
    timestamp: 1795229999,
    transaction_hash: "0xab05",
  };
  const [rest] = parseTrades([row], TOKENS, { countDrop, driftDetectors });
  assert.equal(streamed?.tradeId, rest?.tradeId);
  assert.deepEqual([streamed?.yesPrice, streamed?.takerSide, streamed?.executedAt], [0.43, "no", 1795229999700]);
});
