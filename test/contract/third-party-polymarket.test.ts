import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Chain, ClobClient, PriceHistoryInterval, Side } from "@polymarket/clob-client";
import {
  polymarketConditionId,
  polymarketExchange,
  polymarketTokenIds,
} from "../../sandbox/protocol/polymarket/index.ts";
import { serveExchanges } from "../../sandbox/serve.ts";
import { createFeed, createWorld } from "../../sandbox/world/index.ts";
import type { ListedMarket } from "../../sandbox/world/types.ts";

const GENESIS = Date.UTC(2026, 10, 20);
const NOW = GENESIS + 5 * 3_600_000;
const END_CURSOR = "LTE=";
const PAGES_MAX = 50;

/** Tests the sandbox with Polymarket's client library, which needs only the base URL. */
const now = () => NOW;
const world = createWorld({ seed: 11, genesis: GENESIS, speed: 1, marketCount: 200 });
const feed = createFeed(world, { now, intervalMs: 1_000 });
let served: Awaited<ReturnType<typeof serveExchanges>>;
let client: ClobClient;
let market: ListedMarket;

before(async () => {
  const services = polymarketExchange({ world, feed, now, enforceLimits: false });
  served = await serveExchanges(services, { host: "127.0.0.1", firstPort: 0 });
  client = new ClobClient(served.urls.polymarket?.clob ?? "", Chain.POLYGON);
  const [busiest] = world
    .markets("polymarket", NOW)
    .filter((candidate) => world.book(candidate, NOW).bids.length > 1 && world.book(candidate, NOW).asks.length > 1)
    .sort((a, b) => world.activity(b, NOW).volumeUsd - world.activity(a, NOW).volumeUsd);
  assert.ok(busiest !== undefined);
  market = busiest;
});
after(async () => {
  feed.close();
  await served.close();
});

const readAllPages = async (
  read: (cursor?: string) => Promise<{ data: { condition_id: string }[]; next_cursor: string }>,
) => {
  const rows: { condition_id: string }[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX && cursor !== END_CURSOR; page++) {
    const response = await read(cursor);
    rows.push(...response.data);
    cursor = response.next_cursor;
  }
  assert.equal(cursor, END_CURSOR);
  return rows;
};
const listWorldConditionIds = () => world.markets("polymarket", NOW).map(polymarketConditionId).sort();

test("@polymarket/clob-client reads the health check and the server time", async () => {
  assert.equal(await client.getOk(), "OK");
  assert.equal(await client.getServerTime(), Math.floor(NOW / 1000));
});

test("@polymarket/clob-client lists every market of the world once, both in full and in simplified form", async () => {
  for (const read of [client.getMarkets, client.getSimplifiedMarkets]) {
    const rows = await readAllPages((cursor) => read.call(client, cursor));
    assert.deepEqual(rows.map((row) => row.condition_id).sort(), listWorldConditionIds());
  }
});

test("@polymarket/clob-client lists the markets with rewards", async () => {
  const conditionIds = new Set(listWorldConditionIds());
  for (const read of [client.getSamplingMarkets, client.getSamplingSimplifiedMarkets]) {
    const rows = await readAllPages((cursor) => read.call(client, cursor));
    assert.ok(rows.length > 0 && rows.length < conditionIds.size);
    for (const row of rows) assert.ok(conditionIds.has(row.condition_id));
  }
});

test("@polymarket/clob-client reads one market with its two tokens", async () => {
  const row = await client.getMarket(polymarketConditionId(market));
  assert.equal(row.question, market.question);
  assert.equal(row.minimum_tick_size, market.tick);
  assert.deepEqual(
    row.tokens.map((token: { token_id: string }) => token.token_id),
    polymarketTokenIds(market),
  );
});

test("@polymarket/clob-client gets status 404 if the market or the token is unknown", async () => {
  assert.equal((await client.getMarket(`0x${"0".repeat(64)}`)).status, 404);
  assert.equal((await client.getMidpoint(`1${"0".repeat(75)}`)).status, 404);
});

test("@polymarket/clob-client reads the book with the best level last, computes the same hash, and reads the mirrored NO book", async () => {
  const { bids, asks } = world.book(market, NOW);
  const [yes, no] = polymarketTokenIds(market);
  const book = await client.getOrderBook(yes);
  assert.deepEqual(
    book.bids.map(({ price, size }) => [Number(price), Number(size)]),
    bids.map(({ price, size }) => [price, size]).reverse(),
  );
  assert.deepEqual(
    book.asks.map(({ price, size }) => [Number(price), Number(size)]),
    asks.map(({ price, size }) => [price, size]).reverse(),
  );
  assert.equal(await client.getOrderBookHash(book), book.hash);
  const [noBook] = await client.getOrderBooks([{ token_id: no, side: Side.BUY }]);
  assert.equal(Number(noBook?.asks.at(-1)?.price), Math.round((1 - (bids[0]?.price ?? 0)) * 1e6) / 1e6);
  assert.equal(Number(noBook?.asks.at(-1)?.size), bids[0]?.size);
});

test("@polymarket/clob-client reads the mid, the spread and the prices of the world's book, where side `BUY` is the bid", async () => {
  const { bids, asks, lastPrice } = world.book(market, NOW);
  const bid = bids[0]?.price ?? 0;
  const ask = asks[0]?.price ?? 0;
  const [yes, no] = polymarketTokenIds(market);
  const assertClose = (actual: string, expected: number) =>
    assert.ok(Math.abs(Number(actual) - expected) < 1e-6, `${actual} is not ${expected}`);
  assertClose((await client.getMidpoint(yes)).mid, (bid + ask) / 2);
  assertClose((await client.getMidpoints([{ token_id: yes, side: Side.BUY }]))[yes], (bid + ask) / 2);
  assertClose((await client.getSpread(yes)).spread, ask - bid);
  assertClose((await client.getSpreads([{ token_id: no, side: Side.BUY }]))[no], ask - bid);
  assertClose((await client.getPrice(yes, "BUY")).price, bid);
  assertClose((await client.getPrice(yes, "SELL")).price, ask);
  assertClose((await client.getPrices([{ token_id: no, side: Side.BUY }]))[no].BUY, 1 - ask);
  assertClose((await client.getLastTradePrice(yes)).price, lastPrice ?? Number.NaN);
  assertClose(
    (await client.getLastTradesPrices([{ token_id: yes, side: Side.BUY }]))[0].price,
    lastPrice ?? Number.NaN,
  );
});

test("@polymarket/clob-client reads the tick size, the neg-risk flag and the fee", async () => {
  const [yes] = polymarketTokenIds(market);
  assert.equal(Number(await client.getTickSize(yes)), market.tick);
  assert.equal(await client.getNegRisk(yes), market.event.mutuallyExclusive && market.event.markets.length > 1);
  assert.ok([0, 1000].includes(await client.getFeeRateBps(yes)));
});

test("@polymarket/clob-client reads one day of price history, with prices between the world's bid and ask or equal to its last price", async () => {
  const [yes] = polymarketTokenIds(market);
  const response: unknown = await client.getPricesHistory({
    market: yes,
    interval: PriceHistoryInterval.ONE_DAY,
    fidelity: 60,
  });
  const { history } = response as { history: { t: number; p: number }[] };
  const expected = new Map(
    world.priceHistory(market, NOW - 86_400_000, NOW, 3_600_000).map((point) => [point.at / 1000, point]),
  );
  assert.equal(history.length, expected.size);
  assert.ok(history.length > 0);
  for (const { t, p } of history) {
    const point = expected.get(t);
    assert.ok(point !== undefined, String(t));
    const isMid = p >= (point.bid ?? 1) && p <= (point.ask ?? 0);
    assert.ok(isMid || p === point.lastPrice, `${p} at ${t}`);
  }
});

test("@polymarket/clob-client reads the latest trades without a key", async () => {
  const rows = await client.getMarketTradesEvents(polymarketConditionId(market));
  const expected = world.trades(market, market.openAt, NOW + 1).at(-1);
  const [newest] = rows;
  assert.ok(newest !== undefined && expected !== undefined);
  const yesPrice = newest.outcome_index === 0 ? Number(newest.price) : 1 - Number(newest.price);
  assert.ok(Math.abs(yesPrice - expected.yesPrice) < 1e-6);
  assert.equal(Number(newest.timestamp), Math.floor(expected.at / 1000));
});
