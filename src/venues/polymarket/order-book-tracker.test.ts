import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { countDrops } from "../../../test/support/venues/count-drops.ts";
import type { StreamMessage } from "../../ports/venue.ts";
import { OrderBookTracker } from "./order-book-tracker.ts";

const TOKENS = { tokenYes: "71", tokenNo: "52" };

function setUp() {
  const clock = new FakeClock();
  const messages: StreamMessage[] = [];
  const { countDrop, drops } = countDrops();
  const emit = (message: StreamMessage) => void messages.push(message);
  const tracker = new OrderBookTracker("900123", TOKENS, { clock, countDrop, emit });
  const readTrade = (fields: object) => {
    const message = {
      event_type: "last_trade_price",
      asset_id: TOKENS.tokenYes,
      price: "0.44",
      size: "10",
      side: "BUY",
      timestamp: "1795229999700",
      transaction_hash: "0xab10",
      ...fields,
    };
    tracker.readTrade(message, clock.now());
  };
  /** Returns id, price, size and last price of the trades that `settle` emits. */
  const settle = () => {
    messages.length = 0;
    assert.equal(tracker.settle(clock.now()), null);
    return tradesOf(messages);
  };
  return { clock, drops, messages, tracker, readTrade, settle };
}

const tradesOf = (messages: readonly StreamMessage[]) =>
  messages.flatMap((message) => {
    if (message.kind !== "trade") return [];
    const { tradeId, yesPrice, size } = message.trade;
    return [[tradeId, yesPrice, size, message.lastPrice]];
  });

test("sums up the fills of one transaction to one trade, and counts a repeated message once", () => {
  const { tracker, readTrade, settle } = setUp();
  const fills = [
    { price: "0.44", size: "75" },
    { price: "0.45", size: "0.1" },
    { price: "0.45", size: "0.2" },
  ];
  for (const fill of [...fills, ...fills]) readTrade(fill);
  readTrade({ asset_id: TOKENS.tokenNo, price: "0.55", size: "4", transaction_hash: "0xab11" });
  assert.equal(tracker.isUnsettled, true);
  assert.deepEqual(settle(), [
    ["0xab10:yes", 0.44004, 75.3, 0.45],
    ["0xab11:no", 0.45, 4, 0.45],
  ]);
  assert.equal(tracker.isUnsettled, false);
  assert.deepEqual(settle(), []);
});

test("emits the larger trade if another fill of the transaction arrives later", () => {
  const { readTrade, settle } = setUp();
  readTrade({ price: "0.44", size: "75" });
  assert.deepEqual(settle(), [["0xab10:yes", 0.44, 75, 0.44]]);
  readTrade({ price: "0.46", size: "25" });
  assert.deepEqual(settle(), [["0xab10:yes", 0.445, 100, 0.46]]);
});

test("emits every trade, even of more transactions than it remembers", () => {
  const { messages, readTrade, tracker, clock } = setUp();
  for (let index = 0; index < 200; index++) readTrade({ transaction_hash: `0xac${index}` });
  tracker.settle(clock.now());
  assert.equal(new Set(tradesOf(messages).map(([tradeId]) => tradeId)).size, 200);
});

test("counts an invalid fill and emits nothing", () => {
  const { drops, messages, readTrade, settle } = setUp();
  for (const fields of [{ price: "1.2" }, { size: "0" }, { size: "0.0000001" }, { asset_id: "33" }, { timestamp: "x" }])
    readTrade(fields);
  assert.deepEqual([messages, settle()], [[], []]);
  assert.deepEqual(drops, { price_out_of_range: 1, bad_trade: 3, foreign_token: 1 });
});
