import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  type ActiveMarketsResponse,
  HttpClient,
  MarketFetcher,
  MarketPageFetcher,
  type OrderbookUpdate,
  RateLimitError,
  ValidationError,
  WebSocketClient,
} from "@limitless-exchange/sdk";
import { limitlessEventSlug, limitlessSlug, limitlessTokens } from "../../sandbox/protocol/limitless/index.ts";
import type { ListedMarket } from "../../sandbox/world/types.ts";
import { type LimitlessSandbox, startLimitlessSandbox, worldMarkets } from "./limitless-support.ts";

/** Tests the sandbox with Limitless' client library. The world changes only when the test sets its time. */
let sandbox: LimitlessSandbox;
let http: HttpClient;
let fetcher: MarketFetcher;

before(async () => {
  sandbox = await startLimitlessSandbox();
  http = new HttpClient({ baseURL: sandbox.restUrl, keepAlive: false });
  fetcher = new MarketFetcher(http);
});
after(() => sandbox.close());

async function listAllMarkets(): Promise<ActiveMarketsResponse["data"]> {
  const rows: ActiveMarketsResponse["data"] = [];
  for (let page = 1; ; page++) {
    const response = await fetcher.getActiveMarkets({ page, limit: 25, sortBy: "newest" });
    rows.push(...response.data);
    if (page * 25 >= response.totalMarketsCount) return rows;
  }
}

function findActiveClobMarket(): ListedMarket {
  const market = worldMarkets(sandbox).find(
    (candidate) =>
      candidate.mechanism === "clob" &&
      sandbox.world.lifecycle(candidate, sandbox.now()).phase === "active" &&
      sandbox.world.trades(candidate, sandbox.now() - 3_600_000, sandbox.now() + 1).length > 2,
  );
  assert.ok(market !== undefined);
  return market;
}

test("@limitless-exchange/sdk lists every open market, including the markets of groups, with the world's prices and volumes", async () => {
  const rows = await listAllMarkets();
  const bySlug = new Map(rows.flatMap((row) => row.markets ?? [row]).map((row) => [row.slug, row]));
  const openMarkets = worldMarkets(sandbox).filter(
    (market) => sandbox.world.lifecycle(market, sandbox.now()).phase === "active",
  );
  for (const market of openMarkets) {
    const row = bySlug.get(limitlessSlug(market));
    assert.ok(row !== undefined, market.question);
    const { volumeUsd } = sandbox.world.activity(market, sandbox.now());
    assert.equal(Number(row.volumeFormatted), volumeUsd);
    assert.equal(row.volume, String(Math.round(volumeUsd * 1e6)));
    if (market.mechanism === "amm") continue;
    const { bids, asks } = sandbox.publishedBook(market);
    const isEmpty = bids.length === 0 && asks.length === 0;
    assert.equal(row.tradePrices?.sell.market[0], bids[0]?.price ?? (isEmpty ? 0.001 : 0));
    assert.equal(row.tradePrices?.buy.market[0], asks[0]?.price ?? (isEmpty ? 0.999 : 1));
  }
  const groups = rows.filter((row) => row.marketType === "group");
  assert.ok(groups.length > 0 && groups.every((group) => (group.markets?.length ?? 0) > 1));
  assert.equal(new Set(rows.map((row) => row.slug)).size, rows.length);
});

test("@limitless-exchange/sdk gets no rows in a page of 50, and throws a ValidationError if it requests a page of 200", async () => {
  assert.deepEqual((await fetcher.getActiveMarkets({ limit: 50 })).data, []);
  await assert.rejects(fetcher.getActiveMarkets({ limit: 200 }), (error) => error instanceof ValidationError);
});

test("@limitless-exchange/sdk reads a market with its tokens and deadline, and reads a group", async () => {
  const market = findActiveClobMarket();
  const row = await fetcher.getMarket(limitlessSlug(market));
  assert.deepEqual(row.tokens, limitlessTokens(market));
  assert.equal(Number(row.expirationTimestamp), market.closeAt);
  assert.equal(fetcher.getVenue(limitlessSlug(market))?.exchange, row.venue?.exchange);
  const group = worldMarkets(sandbox).find((candidate) => candidate.event.markets.length > 1)?.event;
  assert.ok(group !== undefined);
  const groupRow = await fetcher.getMarket(limitlessEventSlug(group));
  assert.equal(groupRow.markets?.length, group.markets.length);
  assert.equal(groupRow.negRiskMarketId !== undefined, group.mutuallyExclusive);
});

test("@limitless-exchange/sdk reads a settled market that is no longer listed", async () => {
  const settled = worldMarkets(sandbox).find((market) => {
    const { phase, outcome } = sandbox.world.lifecycle(market, sandbox.now());
    return phase === "finalized" && outcome?.kind === "no" && market.event.markets.length === 1;
  });
  assert.ok(settled !== undefined);
  const row = await fetcher.getMarket(limitlessSlug(settled));
  assert.equal(row.status, "RESOLVED");
  assert.equal(row.winningOutcomeIndex, 1);
  assert.ok(!(await listAllMarkets()).some((listed) => listed.slug === row.slug));
});

test("@limitless-exchange/sdk reads the book with sizes in the collateral's smallest units, and reads the trades", async () => {
  const market = findActiveClobMarket();
  const slug = limitlessSlug(market);
  const orderBook = await fetcher.getOrderBook(slug);
  const book = sandbox.world.book(market, sandbox.now());
  assert.deepEqual(
    orderBook.bids.map(({ price, size }) => [price, size / 1e6]),
    book.bids.map(({ price, size }) => [price, size]),
  );
  assert.deepEqual(
    orderBook.asks.map(({ price, size }) => [price, size / 1e6]),
    book.asks.map(({ price, size }) => [price, size]),
  );
  assert.equal(orderBook.lastTradePrice, book.lastPrice);
  assert.equal(orderBook.tokenId, limitlessTokens(market).yes);

  const response = await http.get<{ events: { createdAt: string; matchedSize: string }[]; totalRows: number }>(
    `/markets/${slug}/events?limit=3`,
  );
  const trades = sandbox.world.trades(market, market.openAt, sandbox.now() + 1);
  assert.equal(response.totalRows, trades.length);
  assert.deepEqual(
    response.events.map((event) => [Date.parse(event.createdAt), Number(event.matchedSize) / 1e6]),
    trades
      .slice(-3)
      .reverse()
      .map((trade) => [trade.at, trade.size]),
  );
});

test("@limitless-exchange/sdk reads the market pages of the navigation and follows a redirect", async () => {
  const pages = new MarketPageFetcher(http);
  const page = await pages.getMarketPageByPath("/");
  assert.equal(page.fullPath, "/markets");
  const response = await pages.getMarkets(page.id, { limit: 5, sort: "deadline" });
  assert.ok("pagination" in response && response.pagination.total > 5);
  const deadlines = response.data.map((row) => Number(row.expirationTimestamp));
  assert.deepEqual(
    deadlines,
    deadlines.toSorted((a, b) => a - b),
  );
  assert.ok((await pages.getNavigation()).length > 1);
  assert.ok((await pages.getPropertyKeys()).length > 0);
});

test("@limitless-exchange/sdk receives a snapshot of the book and each change over Socket.IO", async () => {
  const market = findActiveClobMarket();
  const slug = limitlessSlug(market);
  const socket = new WebSocketClient({ url: sandbox.wsUrl, autoReconnect: false });
  const frames: OrderbookUpdate[] = [];
  let wake: () => void = () => {};
  socket.on("orderbookUpdate", (frame) => {
    frames.push(frame as OrderbookUpdate);
    wake();
  });
  const receiveFrame = async (): Promise<OrderbookUpdate> => {
    for (;;) {
      const frame = frames.shift();
      if (frame !== undefined) return frame;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  const assertBook = (frame: OrderbookUpdate, at: number) => {
    const { bids, asks } = sandbox.world.book(market, at);
    assert.equal(frame.marketSlug, slug);
    assert.equal(Date.parse(String(frame.timestamp)), at);
    const toContracts = (levels: { price: number; size: number }[]) =>
      levels.map(({ price, size }) => ({ price, size: size / 1e6 }));
    assert.deepEqual(toContracts(frame.orderbook.bids), bids);
    assert.deepEqual(toContracts(frame.orderbook.asks), asks);
  };
  await socket.connect();
  await socket.subscribe("subscribe_market_prices", { marketSlugs: [slug] });
  const startedAt = sandbox.now();
  assertBook(await receiveFrame(), startedAt);
  const at = sandbox.world.nextChangeAt(market, startedAt);
  sandbox.setNow(at);
  sandbox.publish({ kind: "book", market, at });
  assertBook(await receiveFrame(), at);
  sandbox.setNow(startedAt);
  await socket.disconnect();
});

test("429: a client above the rate limit gets `retry-after`, and a different client is served", async () => {
  const sandbox = await startLimitlessSandbox({ enforceLimits: true });
  const createFetcher = (agent: string) =>
    new MarketFetcher(new HttpClient({ baseURL: sandbox.restUrl, additionalHeaders: { "user-agent": agent } }));
  const limitedFetcher = createFetcher("limited/1.0");
  try {
    for (let request = 0; request < 20; request++) await limitedFetcher.getActiveMarkets({ limit: 1 });
    await assert.rejects(limitedFetcher.getActiveMarkets({ limit: 1 }), (error) => error instanceof RateLimitError);
    const response = await fetch(`${sandbox.restUrl}/navigation`, { headers: { "user-agent": "limited/1.0" } });
    assert.deepEqual([response.status, response.headers.get("retry-after")], [429, "1"]);
    assert.equal((await createFetcher("other/1.0").getActiveMarkets({ limit: 1 })).data.length, 1);
    sandbox.setNow(sandbox.now() + 1_000);
    await limitedFetcher.getActiveMarkets({ limit: 1 });
  } finally {
    await sandbox.close();
  }
});
