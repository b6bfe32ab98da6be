import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
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

/** The venue's own client library reads the sandbox by its base URL alone. */
describe("the venue's own client library", () => {
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
    const traded = world
      .markets("polymarket", NOW)
      .filter((each) => world.book(each, NOW).bids.length > 1 && world.book(each, NOW).asks.length > 1)
      .sort((a, b) => world.activity(b, NOW).volumeUsd - world.activity(a, NOW).volumeUsd);
    const [busiest] = traded;
    assert.ok(busiest !== undefined);
    market = busiest;
  });
  after(async () => {
    feed.close();
    await served.close();
  });

  const readAll = async (
    read: (cursor?: string) => Promise<{ data: { condition_id: string }[]; next_cursor: string }>,
  ) => {
    const rows: { condition_id: string }[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < PAGES_MAX && cursor !== END_CURSOR; page++) {
      const answer = await read(cursor);
      rows.push(...answer.data);
      cursor = answer.next_cursor;
    }
    assert.equal(cursor, END_CURSOR);
    return rows;
  };
  const allConditions = () => world.markets("polymarket", NOW).map(polymarketConditionId).sort();

  test("finds the server well and in time", async () => {
    assert.equal(await client.getOk(), "OK");
    assert.equal(await client.getServerTime(), Math.floor(NOW / 1000));
  });

  test("lists every market of the world once, in full and in short form", async () => {
    for (const read of [client.getMarkets, client.getSimplifiedMarkets]) {
      const rows = await readAll((cursor) => read.call(client, cursor));
      assert.deepEqual(rows.map((row) => row.condition_id).sort(), allConditions());
    }
  });

  test("lists the rewarded ones of them", async () => {
    const known = new Set(allConditions());
    for (const read of [client.getSamplingMarkets, client.getSamplingSimplifiedMarkets]) {
      const rows = await readAll((cursor) => read.call(client, cursor));
      assert.ok(rows.length > 0 && rows.length < known.size);
      for (const row of rows) assert.ok(known.has(row.condition_id));
    }
  });

  test("reads one market with its two tokens", async () => {
    const read = await client.getMarket(polymarketConditionId(market));
    assert.equal(read.question, market.question);
    assert.equal(read.minimum_tick_size, market.tick);
    assert.deepEqual(
      read.tokens.map((token: { token_id: string }) => token.token_id),
      polymarketTokenIds(market),
    );
  });

  test("is told that an unknown market and an unknown book are not there", async () => {
    assert.equal((await client.getMarket(`0x${"0".repeat(64)}`)).status, 404);
    assert.equal((await client.getMidpoint(`1${"0".repeat(75)}`)).status, 404);
  });

  test("reads the book with the best level last, both tokens as mirrors, and agrees on its hash", async () => {
    const truth = world.book(market, NOW);
    const [yes, no] = polymarketTokenIds(market);
    const book = await client.getOrderBook(yes);
    assert.deepEqual(
      book.bids.map(({ price, size }) => [Number(price), Number(size)]),
      truth.bids.map(({ price, size }) => [price, size]).reverse(),
    );
    assert.deepEqual(
      book.asks.map(({ price, size }) => [Number(price), Number(size)]),
      truth.asks.map(({ price, size }) => [price, size]).reverse(),
    );
    const { hash } = book;
    assert.equal(await client.getOrderBookHash(book), hash);
    const [mirror] = await client.getOrderBooks([{ token_id: no, side: Side.BUY }]);
    assert.equal(Number(mirror?.asks.at(-1)?.price), Math.round((1 - (truth.bids[0]?.price ?? 0)) * 1e6) / 1e6);
    assert.equal(Number(mirror?.asks.at(-1)?.size), truth.bids[0]?.size);
  });

  test("reads mid, spread and prices of the world's book: BUY is the bid", async () => {
    const { bids, asks, lastPrice } = world.book(market, NOW);
    const bid = bids[0]?.price ?? 0;
    const ask = asks[0]?.price ?? 0;
    const [yes, no] = polymarketTokenIds(market);
    const near = (shown: string, value: number) =>
      assert.ok(Math.abs(Number(shown) - value) < 1e-6, `${shown} for ${value}`);
    near((await client.getMidpoint(yes)).mid, (bid + ask) / 2);
    near((await client.getMidpoints([{ token_id: yes, side: Side.BUY }]))[yes], (bid + ask) / 2);
    near((await client.getSpread(yes)).spread, ask - bid);
    near((await client.getSpreads([{ token_id: no, side: Side.BUY }]))[no], ask - bid);
    near((await client.getPrice(yes, "BUY")).price, bid);
    near((await client.getPrice(yes, "SELL")).price, ask);
    near((await client.getPrices([{ token_id: no, side: Side.BUY }]))[no].BUY, 1 - ask);
    near((await client.getLastTradePrice(yes)).price, lastPrice ?? Number.NaN);
    near((await client.getLastTradesPrices([{ token_id: yes, side: Side.BUY }]))[0].price, lastPrice ?? Number.NaN);
  });

  test("reads tick size, grouping and fee", async () => {
    const [yes] = polymarketTokenIds(market);
    assert.equal(Number(await client.getTickSize(yes)), market.tick);
    assert.equal(await client.getNegRisk(yes), market.event.mutuallyExclusive && market.event.markets.length > 1);
    assert.ok([0, 1000].includes(await client.getFeeRateBps(yes)));
  });

  test("reads a day of price history in seconds, inside the world's spread", async () => {
    const [yes] = polymarketTokenIds(market);
    const answer: unknown = await client.getPricesHistory({
      market: yes,
      interval: PriceHistoryInterval.ONE_DAY,
      fidelity: 60,
    });
    const { history } = answer as { history: { t: number; p: number }[] };
    const truth = new Map(
      world.past(market, NOW - 86_400_000, NOW, 3_600_000).map((point) => [point.at / 1000, point]),
    );
    assert.equal(history.length, truth.size);
    assert.ok(history.length > 0);
    for (const { t, p } of history) {
      const point = truth.get(t);
      assert.ok(point !== undefined, String(t));
      const isMid = p >= (point.bid ?? 1) && p <= (point.ask ?? 0);
      assert.ok(isMid || p === point.lastPrice, `${p} at ${t}`);
    }
  });

  test("reads the latest matches without a key", async () => {
    const rows = await client.getMarketTradesEvents(polymarketConditionId(market));
    const truth = world.trades(market, market.openAt, NOW + 1).at(-1);
    const [newest] = rows;
    assert.ok(newest !== undefined && truth !== undefined);
    const yesPrice = newest.outcome_index === 0 ? Number(newest.price) : 1 - Number(newest.price);
    assert.ok(Math.abs(yesPrice - truth.yesPrice) < 1e-6);
    assert.equal(Number(newest.timestamp), Math.floor(truth.at / 1000));
  });
});
