import assert from "node:assert/strict";
import { test } from "node:test";
import type { WebSocket } from "ws";
import { HOUR_MS } from "../../../src/lib/durations.ts";
import { activeMarkets, NOW, world } from "../../../test/support/sandbox/polymarket-server.ts";
import type { ListedMarket, WorldTrade } from "../../world/types.ts";
import { createCatalogue } from "./catalogue.ts";
import { polymarketTokenIds } from "./index.ts";
import { Session } from "./session.ts";

interface Message {
  readonly event_type: string;
  readonly asset_id: string;
  readonly timestamp: string;
  readonly price: string;
  readonly size: string;
  readonly transaction_hash: string;
  readonly bids: readonly { readonly price: string; readonly size: string }[];
  readonly asks: readonly { readonly price: string; readonly size: string }[];
  readonly last_trade_price?: string;
  readonly tick_size?: string;
  readonly price_changes: readonly {
    readonly asset_id: string;
    readonly price: string;
    readonly size: string;
    readonly side: "BUY" | "SELL";
    readonly best_bid: string;
    readonly best_ask: string;
  }[];
}

/** Subscribes both tokens of a market. Returns the session and the messages sent since the last call of `take`. */
function subscribe(market: ListedMarket, at: number) {
  const sent: Message[] = [];
  const socket = { readyState: 1, bufferedAmount: 0, send: (text: string) => sent.push(JSON.parse(text)) };
  const session = new Session({
    socket: socket as unknown as WebSocket,
    world,
    catalogue: createCatalogue(world, () => at),
    now: () => at,
    onSubscribe() {},
    onUnsubscribe() {},
  });
  session.handleMessage(JSON.stringify({ type: "market", assets_ids: polymarketTokenIds(market) }));
  return { session, take: () => sent.splice(0) };
}

/** A market and the time before a trade that changes the best price, found in the world. */
function findSweep(): { market: ListedMarket; trade: WorldTrade; before: number } {
  for (const market of activeMarkets) {
    for (const trade of world.trades(market, NOW, NOW + 3 * HOUR_MS)) {
      const [before, after] = [world.book(market, trade.at - 1), world.book(market, trade.at)];
      const isMoved = before.bids[0]?.price !== after.bids[0]?.price || before.asks[0]?.price !== after.asks[0]?.price;
      if (isMoved && world.lifecycle(market, trade.at).phase === "active")
        return { market, trade, before: trade.at - 1 };
    }
  }
  throw new Error("no trade of the world changes the best price");
}

const { market, trade, before } = findSweep();
const [tokenYes, tokenNo] = polymarketTokenIds(market);

test("a subscription starts with one frame that has the books of both tokens and the same last price", () => {
  const { take } = subscribe(market, before);
  const [frame] = take();
  assert.ok(Array.isArray(frame));
  const books: Message[] = frame;
  assert.deepEqual(
    books.map(({ event_type, asset_id }) => [event_type, asset_id]),
    [
      ["book", tokenYes],
      ["book", tokenNo],
    ],
  );
  assert.equal(new Set(books.map((book) => book.last_trade_price)).size, 1);
  assert.ok(books.every((book) => book.tick_size === String(market.tick)));
});

test("a match sends one frame per changed level, with the same time and the best prices after the match, then both books", () => {
  const { session, take } = subscribe(market, before);
  take();
  session.onTrade({ kind: "trade", market, trade, at: trade.at });
  session.onBook(market, trade.at);
  const messages = take();
  const frames = messages.filter(({ event_type }) => event_type === "price_change");
  const books = messages.filter(({ event_type }) => event_type === "book");
  assert.ok(frames.length > 1, `${frames.length} changed levels`);
  const after = world.book(market, trade.at);
  for (const { timestamp, price_changes } of frames) {
    assert.equal(timestamp, String(trade.at));
    assert.deepEqual(
      price_changes.map(({ asset_id }) => asset_id),
      [tokenYes, tokenNo],
    );
    const [yes, no] = price_changes;
    assert.deepEqual([Number(yes?.best_bid), Number(yes?.best_ask)], [after.bids[0]?.price, after.asks[0]?.price]);
    assert.deepEqual([yes?.size, yes?.side === "BUY"], [no?.size, no?.side === "SELL"]);
    assert.ok(Math.abs(Number(yes?.price) + Number(no?.price) - 1) < 1e-9);
  }
  assert.deepEqual(
    books.map((book) => [book.asset_id, book.timestamp, "last_trade_price" in book, "tick_size" in book]),
    [
      [tokenYes, String(trade.at), false, false],
      [tokenNo, String(trade.at), false, false],
    ],
  );
  const levels = new Map<string, string>();
  const start = world.book(market, before);
  for (const [side, rows] of [
    ["BUY", start.bids],
    ["SELL", start.asks],
  ] as const)
    for (const { price, size } of rows) levels.set(`${side} ${price}`, String(size));
  for (const { price_changes } of frames) {
    const [yes] = price_changes;
    const key = `${yes?.side} ${Number(yes?.price)}`;
    if (yes?.size === "0") levels.delete(key);
    else levels.set(key, yes?.size ?? "");
  }
  const expected = [
    ...(books[0]?.bids ?? []).map(({ price, size }) => [`BUY ${Number(price)}`, size]),
    ...(books[0]?.asks ?? []).map(({ price, size }) => [`SELL ${Number(price)}`, size]),
  ];
  assert.deepEqual([...levels].sort(), expected.sort());
});

test("a trade sends one message per price level, with one transaction", () => {
  const fillsOf = (each: WorldTrade) => {
    const { session, take } = subscribe(market, NOW);
    take();
    session.onTrade({ kind: "trade", market, trade: each, at: each.at });
    return take();
  };
  const trades = world.trades(market, NOW, NOW + 24 * HOUR_MS);
  const messages = trades.map(fillsOf);
  assert.ok(messages.some((fills) => fills.length === 1));
  assert.ok(messages.some((fills) => fills.length === 2));
  for (const [index, fills] of messages.entries()) {
    const size = fills.reduce((sum, fill) => sum + Number(fill.size), 0);
    assert.ok(Math.abs(size - (trades[index]?.size ?? 0)) < 1e-6);
    assert.equal(new Set(fills.map((fill) => fill.transaction_hash)).size, 1);
    assert.equal(new Set(fills.map((fill) => fill.price)).size, fills.length);
  }
});
