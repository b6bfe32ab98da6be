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
  return { clock, drops, messages, tracker, readTrade };
}

/** Returns id, price, size and last price of each trade. */
const tradesOf = (messages: readonly StreamMessage[]) =>
  messages.flatMap((message) => {
    if (message.kind !== "trade") return [];
    const { tradeId, yesPrice, size } = message.trade;
    return [[tradeId, yesPrice, size, message.lastPrice]];
  });

test("adds each fill of a transaction to the same trade, and ignores repeated messages", () => {
  const { messages, readTrade } = setUp();
  const fills = [
    { price: "0.44", size: "75" },
    { price: "0.45", size: "0.1" },
    { price: "0.45", size: "0.2" },
  ];
  for (const fill of [...fills, ...fills]) readTrade(fill);
  readTrade({ asset_id: TOKENS.tokenNo, price: "0.55", size: "4", transaction_hash: "0xab11" });
  assert.deepEqual(tradesOf(messages), [
    ["0xab10:yes", 0.44, 75, 0.44],
    ["0xab10:yes", 0.440013, 75.1, 0.45],
    ["0xab10:yes", 0.44004, 75.3, 0.45],
    ["0xab11:no", 0.45, 4, 0.45],
  ]);
});

test("emits every trade, even if there are more transactions than the tracker stores", () => {
  const { messages, readTrade } = setUp();
  for (let index = 0; index < 200; index++) readTrade({ transaction_hash: `0xac${index}` });
  assert.equal(new Set(tradesOf(messages).map(([tradeId]) => tradeId)).size, 200);
});

test("counts an invalid fill and emits nothing", () => {
  const { drops, messages, readTrade } = setUp();
  for (const fields of [{ price: "1.2" }, { size: "0" }, { size: "0.0000001" }, { asset_id: "33" }, { timestamp: "x" }])
    readTrade(fields);
  assert.deepEqual(messages, []);
  assert.deepEqual(drops, { price_out_of_range: 1, bad_trade: 3, foreign_token: 1 });
});

test("uses the last price of a book only if that price cannot be the price of the NO token", () => {
  const lastPriceOf = (bid: string, ask: string, last_trade_price: string) => {
    const { tracker, messages } = setUp();
    const bids = bid === "" ? [] : [{ price: bid, size: "5" }];
    const book = { event_type: "book", asset_id: TOKENS.tokenYes, bids, asks: [{ price: ask, size: "5" }] };
    tracker.readBook({ ...book, timestamp: "1795229999000", last_trade_price }, 1795229999000);
    return messages.map((message) => (message.kind === "quote" ? message.quote.lastPrice : null));
  };
  assert.deepEqual(lastPriceOf("0.31", "0.38", "0.255"), [0.255]);
  assert.deepEqual(lastPriceOf("0.31", "0.38", "0.745"), [undefined]);
  assert.deepEqual(lastPriceOf("0.31", "0.38", "0.500"), [undefined]);
  assert.deepEqual(lastPriceOf("0.49", "0.5", "0.500"), [undefined]);
  assert.deepEqual(lastPriceOf("0.001", "0.999", "0.152"), [undefined]);
  assert.deepEqual(lastPriceOf("", "0.999", "0.99"), [undefined]);
});
