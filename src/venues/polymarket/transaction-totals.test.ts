import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryMarketStore } from "../../../test/support/memory-stores.ts";
import { countDrops } from "../../../test/support/venues/count-drops.ts";
import type { Trade } from "../../domain/trade.ts";
import { parseStreamFill, parseTrades, TransactionTotals } from "./parse-trades.ts";
import { createPolymarketDriftDetectors } from "./wire.ts";

const TOKENS = { tokenYes: "71", tokenNo: "52" };
const ports = { countDrop: countDrops().countDrop, driftDetectors: createPolymarketDriftDetectors(() => {}) };

/** A sale of 2,345.5 NO over three levels, as the stream reports it, and a second trade. */
const FILLS = [
  ["52", "0.712", "1500.25", "0xf1", "SELL"],
  ["52", "0.71", "800", "0xf1", "SELL"],
  ["52", "0.695", "45.25", "0xf1", "SELL"],
  ["71", "0.301", "20", "0xf2", "BUY"],
] as const;
const NOTIONAL = 1500.25 * 0.288 + 800 * 0.29 + 45.25 * 0.305 + 20 * 0.301;

/** The same trades as the REST endpoint reports them: one row per transaction, at its average price. */
const TAPE = [
  { side: "SELL", token_id: "52", size: 2345.5, price: 0.7109898742, timestamp: 1795229999, transaction_hash: "0xf1" },
  { side: "BUY", token_id: "71", size: 20, price: 0.301, timestamp: 1795229999, transaction_hash: "0xf2" },
];

const tradesOfStream = (fills: readonly (typeof FILLS)[number][]) => {
  const totals = new TransactionTotals();
  const trades: Trade[] = [];
  for (const [asset_id, price, size, transaction_hash, side] of fills) {
    const timestamp = "1795229999120";
    const message = { event_type: "last_trade_price", asset_id, price, size, side, timestamp, transaction_hash };
    const fill = parseStreamFill(message, TOKENS, ports.countDrop);
    assert.ok(fill !== null);
    const trade = totals.add(fill, 0);
    if (trade !== null) trades.push(trade);
  }
  return trades;
};
const tradesOfTape = () => parseTrades(TAPE, TOKENS, ports);

const repeated = [...FILLS, ...FILLS];
const firstFills = [FILLS[0], FILLS[3]] as const;
const cases: readonly (readonly [string, readonly (readonly Trade[])[]])[] = [
  ["the stream first", [tradesOfStream(FILLS), tradesOfTape()]],
  ["the tape first", [tradesOfTape(), tradesOfStream(FILLS)]],
  ["only the stream", [tradesOfStream(FILLS)]],
  ["only the tape", [tradesOfTape()]],
  ["the tape after a stream that lost messages", [tradesOfStream(firstFills), tradesOfTape()]],
  ["the tape before a stream that lost messages", [tradesOfTape(), tradesOfStream(firstFills)]],
  ["a stream that repeats every message, then the tape", [tradesOfStream(repeated), tradesOfTape()]],
];
for (const [name, deliveries] of cases) {
  test(`each match is stored once with its whole volume: ${name}`, async () => {
    const store = new MemoryMarketStore();
    for (const trades of deliveries) await store.insertTrades(trades.map((trade) => ({ marketKey: 1, trade })));
    const stored = [...store.trades.values()].map(({ trade }) => trade);
    assert.deepEqual(
      stored.map(({ tradeId, size, takerSide }) => [tradeId, size, takerSide]),
      [
        ["0xf1:yes", 2345.5, "yes"],
        ["0xf2:yes", 20, "yes"],
      ],
    );
    const notional = stored.reduce((sum, { size, yesPrice }) => sum + size * yesPrice, 0);
    assert.ok(Math.abs(notional - NOTIONAL) < 0.002, `${notional}`);
  });
}

test("deletes transactions after a minute and stores at most 64", () => {
  const totals = new TransactionTotals();
  const fill = { tradeId: "a", executedAt: 0, yesPrice: 0.4, size: 10, takerSide: "yes" } as const;
  const sizeAfter = (fields: object, now: number) => totals.add({ ...fill, ...fields }, now)?.size ?? null;
  assert.deepEqual([sizeAfter({}, 0), sizeAfter({}, 60_000), sizeAfter({ size: 5 }, 60_000)], [10, null, 15]);
  assert.equal(sizeAfter({ size: 2 }, 60_001), 2);
  for (let index = 0; index < 63; index++) sizeAfter({ tradeId: `b${index}` }, 60_001);
  assert.equal(sizeAfter({ size: 3 }, 60_001), 5);
  sizeAfter({ tradeId: "c" }, 60_001);
  assert.equal(sizeAfter({ size: 4 }, 60_001), 4);
});
