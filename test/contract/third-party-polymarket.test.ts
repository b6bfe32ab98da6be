import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Chain, ClobClient } from "@polymarket/clob-client";
import { polymarketExchange, polymarketTokenIds } from "../../sandbox/protocol/polymarket/index.ts";
import { serveExchanges } from "../../sandbox/serve.ts";
import { createFeed, createWorld } from "../../sandbox/world/index.ts";
import type { ListedMarket } from "../../sandbox/world/types.ts";

const GENESIS = Date.UTC(2026, 10, 20);
const NOW = GENESIS + 5 * 3_600_000;

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
  const noBook = await client.getOrderBook(no);
  assert.equal(Number(noBook.asks.at(-1)?.price), Math.round((1 - (bids[0]?.price ?? 0)) * 1e6) / 1e6);
  assert.equal(Number(noBook.asks.at(-1)?.size), bids[0]?.size);
});

test("@polymarket/clob-client reads one day of price history, with prices between the world's bid and ask or equal to its last price", async () => {
  const [yes] = polymarketTokenIds(market);
  const response: unknown = await client.getPricesHistory({
    market: yes,
    startTs: NOW / 1_000 - 86_400,
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
