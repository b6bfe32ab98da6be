import assert from "node:assert/strict";
import { test } from "node:test";
import { countDrops } from "../../../test/support/venues/count-drops.ts";
import { fixtureReader } from "../../../test/support/venues/fixtures.ts";
import { parseStreamFill, parseTrades } from "./parse-trades.ts";
import { createPolymarketDriftDetectors, isTradesPageV2 } from "./wire.ts";

const readFixture = fixtureReader(import.meta.url);
const driftDetectors = createPolymarketDriftDetectors(() => {});

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
      [0.43, 51, "yes", 1795229990000],
      [0.43, 10, "no", 1795229990000],
      [0.43, 25.5, "no", 1795229990000],
      [0.44, 25.5, "yes", 1795229980000],
    ],
  );
  assert.deepEqual(drops, {});
});

const row = (fields: object) => ({
  side: "BUY",
  token_id: TOKENS.tokenYes,
  size: 10,
  price: 0.3,
  timestamp: 1795229999,
  transaction_hash: "0xaa01",
  ...fields,
});
const parseRows = (...rows: readonly object[]) => {
  const { drops, countDrop } = countDrops();
  return { trades: parseTrades(rows, TOKENS, { countDrop, driftDetectors }), drops };
};

test("sums up the rows of one transaction and side, including equal rows, at their average price", () => {
  const { trades } = parseRows(
    row({ size: 100, price: 0.301 }),
    row({ size: 100, price: 0.301 }),
    row({ side: "SELL", size: 7 }),
    row({ size: 44, price: 0.28024985 }),
    row({ transaction_hash: "0xaa02" }),
  );
  assert.deepEqual(
    trades.map(({ tradeId, yesPrice, size }) => [tradeId, yesPrice, size]),
    [
      ["0xaa01:yes", 0.297258, 244],
      ["0xaa01:no", 0.3, 7],
      ["0xaa02:yes", 0.3, 10],
    ],
  );
});

test("reads numbers and times that are sent as text", () => {
  const { trades, drops } = parseRows(row({ size: "11.77", price: "0.848", timestamp: "1795229999" }));
  assert.deepEqual([trades[0]?.size, trades[0]?.yesPrice, trades[0]?.executedAt], [11.77, 0.848, 1795229999000]);
  assert.deepEqual(drops, {});
});

test("assigns an id from the content to rows without a transaction", () => {
  const { trades } = parseRows(row({ transaction_hash: "" }), row({ transaction_hash: "", price: 0.31 }));
  assert.deepEqual(
    trades.map(({ tradeId }) => tradeId),
    ["1795229999:300000:10000000:yes", "1795229999:310000:10000000:yes"],
  );
});

test("assigns the same id and taker to a v1 row as to the v2 row, without data that identifies the trader", () => {
  const [v1] = parseFixture("trades/v1").trades;
  const [v2] = parseFixture("trades/v2").trades;
  assert.deepEqual([v1?.tradeId, v1?.executedAt, v1?.yesPrice], [v2?.tradeId, v2?.executedAt, v2?.yesPrice]);
  assert.deepEqual(Object.keys(v1 ?? {}).sort(), ["executedAt", "size", "taker", "takerSide", "tradeId", "yesPrice"]);
  assert.equal(v1?.taker, v2?.taker);
  assert.doesNotMatch(JSON.stringify([v1, v2]), /0x1"|Jane/);
});

test("equal wallets have equal takers in any letter case, and a row without a usable wallet is a trade without a taker", () => {
  const wallets = ["0xAb", "0xaB", "0xcd", "", 5, null, "0x".padEnd(1_000, "1"), undefined];
  const { trades, drops } = parseRows(
    ...wallets.map((proxy_wallet, index) => row({ proxy_wallet, transaction_hash: `0x${index}` })),
  );
  const [first, equal, other, ...unnamed] = trades.map(({ taker }) => taker);
  assert.ok(first !== undefined && first === equal && other !== undefined && other !== first);
  assert.deepEqual(unnamed, [undefined, undefined, undefined, undefined, undefined]);
  assert.deepEqual(drops, {});
});

test("drops and counts invalid rows", () => {
  const { trades, drops } = parseFixture("trades/v2-garbage");
  assert.equal(trades.length, 1);
  assert.deepEqual(drops, { price_out_of_range: 2, bad_trade: 1, foreign_token: 1, bad_row: 4 });
});

test("assigns the same id to a fill from the stream as to the averaged REST row", () => {
  const { countDrop } = countDrops();
  const fill = parseStreamFill(readFixture("stream/last-trade-no-token"), TOKENS, countDrop);
  const fields = { token_id: TOKENS.tokenNo, size: 40, price: 0.5681967, transaction_hash: "0xab05" };
  const [rest] = parseRows(row(fields)).trades;
  assert.equal(fill?.tradeId, rest?.tradeId);
  assert.deepEqual([fill?.yesPrice, fill?.takerSide, fill?.executedAt], [0.43, "no", 1795229999700]);
});
