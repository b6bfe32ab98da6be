import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import Fastify, { type FastifyInstance } from "fastify";
import { io, type Socket } from "socket.io-client";
import { HOUR_MS } from "../../../src/lib/durations.ts";
import { ManualFeed } from "../../../test/support/venues/manual-feed.ts";
import { serveExchanges } from "../../serve.ts";
import { createWorld } from "../../world/index.ts";
import type { ListedMarket } from "../../world/types.ts";
import { limitlessAddress, limitlessEventSlug, limitlessExchange, limitlessSlug, publishedBook } from "./index.ts";

const GENESIS = Date.UTC(2026, 10, 21, 4);
const NOW = GENESIS + HOUR_MS;
const world = createWorld({ seed: 1, genesis: GENESIS, speed: 60, marketCount: 400 });
const feed = new ManualFeed();
const context = { world, feed, now: () => NOW, enforceLimits: false };

const markets = world.markets("limitless", NOW);
function findMarket(matches: (market: ListedMarket) => boolean): ListedMarket {
  const market = markets.find(matches);
  assert.ok(market !== undefined);
  return market;
}
const ammMarket = findMarket((market) => market.mechanism === "amm" && world.lifecycle(market, NOW).phase === "active");
const childMarket = findMarket(
  (market) => market.event.markets.length > 1 && world.lifecycle(market, NOW).phase === "active",
);
const futureRound = findMarket((market) => market.event.isRound && market.closeAt - 900_000 > NOW);
const singleMarket = findMarket(
  (market) =>
    market.event.markets.length === 1 &&
    market.mechanism === "clob" &&
    !market.event.isRound &&
    world.lifecycle(market, NOW).phase === "active",
);

let app: FastifyInstance;
before(() => {
  app = Fastify();
  limitlessExchange(context)[0]?.install(app);
});
after(() => app.close());

async function get(path: string): Promise<{ status: number; json: Record<string, unknown> }> {
  const response = await app.inject({ url: path });
  return { status: response.statusCode, json: response.json() };
}

describe("REST", () => {
  test("400: rejects unknown sort orders and invalid page numbers", async () => {
    for (const query of ["sortBy=best", "page=0", "page=two", "limit=0"]) {
      assert.equal((await get(`/markets/active?${query}`)).status, 400, query);
    }
  });

  test("returns 404 for an unknown slug and 400 for the order book of an AMM or a group", async () => {
    assert.equal((await get("/markets/nothing-here-1")).status, 404);
    assert.equal((await get(`/markets/${limitlessSlug(ammMarket)}/orderbook`)).status, 400);
    assert.equal((await get(`/markets/${limitlessEventSlug(childMarket.event)}/orderbook`)).status, 400);
  });

  test("returns an AMM by slug and by contract address in any case, and returns its trades as feed events", async () => {
    const address = limitlessAddress(ammMarket);
    for (const key of [limitlessSlug(ammMarket), address, `0x${address.slice(2).toUpperCase()}`]) {
      assert.equal((await get(`/markets/${key}`)).json.address, address);
    }
    const { json } = await get(`/markets/${address}/get-feed-events?limit=5`);
    const trades = world
      .trades(ammMarket, ammMarket.openAt, NOW + 1)
      .slice(-5)
      .reverse();
    assert.deepEqual(
      (json as unknown as { createdAt: string }[]).map((event) => Date.parse(event.createdAt)),
      trades.map((trade) => trade.at),
    );
  });

  test("a 15-minute round has a placeholder as open price before it starts", async () => {
    const { json } = await get(`/markets/${limitlessSlug(futureRound)}`);
    assert.equal((json.metadata as { openPrice: string }).openPrice, "---");
  });
});

describe("prices and history", () => {
  test("an untraded market returns its quotes, or placeholder quotes and an empty book if it has no quotes", async () => {
    const readUntraded = async (isQuoted: boolean) => {
      const openingMarket = markets.find(
        (market) =>
          market.mechanism === "clob" &&
          world.book(market, market.openAt + 1).lastPrice === null &&
          publishedBook(context, market, market.openAt + 1).bids.length > 0 === isQuoted,
      );
      assert.ok(openingMarket !== undefined);
      const app = Fastify();
      limitlessExchange({ ...context, now: () => openingMarket.openAt + 1 })[0]?.install(app);
      const slug = limitlessSlug(openingMarket);
      const row = (await app.inject({ url: `/markets/${slug}` })).json();
      const book = (await app.inject({ url: `/markets/${slug}/orderbook` })).json();
      await app.close();
      return { row, book, openingMarket };
    };
    const unquoted = await readUntraded(false);
    assert.deepEqual([unquoted.row.volume, unquoted.row.prices], ["0", [0.5, 0.5]]);
    assert.deepEqual(unquoted.row.tradePrices, {
      buy: { market: [0.999, 0.999], limit: [0.001, 0.001] },
      sell: { market: [0.001, 0.001], limit: [0.999, 0.999] },
    });
    assert.deepEqual([unquoted.book.bids, unquoted.book.asks, unquoted.book.lastTradePrice], [[], [], null]);

    const quoted = await readUntraded(true);
    const { bids, asks } = world.book(quoted.openingMarket, quoted.openingMarket.openAt + 1);
    const [bid, ask] = [bids[0]?.price, asks[0]?.price];
    assert.equal(quoted.row.volume, "0");
    assert.deepEqual([quoted.row.tradePrices.sell.market[0], quoted.row.tradePrices.buy.market[0]], [bid, ask]);
    assert.deepEqual([quoted.book.bids[0].price, quoted.book.asks[0].price], [bid, ask]);
  });

  test("returns the price history newest first, in different formats for groups, child markets, single markets and AMMs", async () => {
    const readHistory = async (slug: string) =>
      (await get(`/markets/${slug}/historical-price?interval=1h`)).json as unknown;
    const groupHistory = (await readHistory(limitlessEventSlug(childMarket.event))) as {
      title: string;
      prices: { timestamp: string }[];
    }[];
    assert.deepEqual(
      groupHistory.map((series) => series.title),
      childMarket.event.markets.map((market) => market.label),
    );
    assert.match(groupHistory[0]?.prices[0]?.timestamp ?? "", /^\d{4}-.*Z$/);
    const childHistory = (await readHistory(limitlessSlug(childMarket))) as {
      title: string;
      prices: { timestamp: string }[];
    }[];
    assert.deepEqual(
      childHistory.map((series) => series.title),
      ["YES Token", "NO Token"],
    );
    const singleHistory = (await readHistory(limitlessSlug(singleMarket))) as { prices: { timestamp: number }[] };
    const times = singleHistory.prices.map((point) => point.timestamp);
    assert.deepEqual(
      times,
      times.toSorted((a, b) => b - a),
    );
    const ammHistory = (await readHistory(limitlessSlug(ammMarket))) as { data: { timestamp: number }[] };
    assert.ok((ammHistory.data[0]?.timestamp ?? 0) < 1e11);
  });

  test("`interval` is the length of the history, which ends at `to` and has points at a fixed distance", async () => {
    const oldMarket = findMarket(
      (market) =>
        market.event.markets.length === 1 &&
        market.mechanism === "clob" &&
        market.openAt < NOW - 8 * 24 * HOUR_MS &&
        world.lifecycle(market, NOW).phase === "active",
    );
    const readTimes = async (query: string) => {
      const { json } = await get(`/markets/${limitlessSlug(oldMarket)}/historical-price?${query}`);
      return (json as { prices: { timestamp: number }[] }).prices.map((point) => point.timestamp);
    };
    for (const [interval, lengthMinutes, stepMinutes] of [
      ["1h", 60, 1],
      ["1d", 1_440, 15],
      ["1w", 10_080, 30],
    ] as const) {
      const times = await readTimes(`interval=${interval}`);
      assert.equal(times.length, lengthMinutes / stepMinutes, interval);
      assert.equal(times[0], Math.floor(NOW / (stepMinutes * 60_000)) * stepMinutes * 60_000);
      assert.equal((times[0] ?? 0) - (times[1] ?? 0), stepMinutes * 60_000);
    }
    const to = NOW - 2 * 24 * HOUR_MS;
    const times = await readTimes(`interval=1d&to=${new Date(to).toISOString()}`);
    assert.deepEqual([times.length, times[0]], [96, to]);
    assert.equal((await readTimes(`interval=1d&from=${new Date(NOW - HOUR_MS).toISOString()}`)).length, 4);
  });
});

describe("Socket.IO", () => {
  let servedExchanges: Awaited<ReturnType<typeof serveExchanges>>;
  let socket: Socket;
  const frames: [string, Record<string, unknown>][] = [];
  let resolveNextFrame: () => void = () => {};

  before(async () => {
    servedExchanges = await serveExchanges(limitlessExchange(context), { host: "127.0.0.1", firstPort: 0 });
    socket = io(`${servedExchanges.urls.limitless?.ws}/markets`, { forceNew: true });
    socket.onAny((event: string, payload: Record<string, unknown>) => {
      frames.push([event, payload]);
      resolveNextFrame();
    });
  });
  after(async () => {
    socket.disconnect();
    await servedExchanges.close();
  });

  async function nextFrame(): Promise<[string, Record<string, unknown>]> {
    for (;;) {
      const frame = frames.shift();
      if (frame !== undefined) return frame;
      await new Promise<void>((resolve) => {
        resolveNextFrame = resolve;
      });
    }
  }

  test("confirms the valid markets of a subscription and sends one snapshot per order-book market", async () => {
    socket.emit("subscribe_market_prices", {
      marketSlugs: [limitlessSlug(singleMarket), limitlessSlug(ammMarket), "nothing"],
      marketAddresses: [limitlessAddress(ammMarket)],
    });
    const [name, payload] = await nextFrame();
    assert.equal(name, "system");
    assert.deepEqual(payload.markets, [limitlessSlug(singleMarket), limitlessAddress(ammMarket)]);
    const [snapshot, frame] = await nextFrame();
    assert.deepEqual([snapshot, frame.marketSlug], ["orderbookUpdate", limitlessSlug(singleMarket)]);
  });

  test("combines simultaneous changes of a market into one full book", async () => {
    const at = world.nextChangeAt(singleMarket, NOW);
    feed.publish({ kind: "book", market: singleMarket, at: NOW });
    feed.publish({ kind: "book", market: singleMarket, at });
    feed.publish({ kind: "book", market: ammMarket, at });
    const [, frame] = await nextFrame();
    assert.equal(frame.timestamp, new Date(at).toISOString());
    const [name, price] = await nextFrame();
    assert.deepEqual([name, price.marketAddress], ["newPriceData", limitlessAddress(ammMarket)]);
  });

  test("sends a resolution three times to a socket that is subscribed to the market and to the lifecycle channel", async () => {
    socket.emit("subscribe_market_lifecycle", {});
    assert.equal((await nextFrame())[0], "system");
    feed.publish({
      kind: "lifecycle",
      market: singleMarket,
      from: "determined",
      to: "finalized",
      at: singleMarket.finalizeAt,
    });
    const frame = await nextFrame();
    assert.equal(frame[0], "marketResolved");
    assert.deepEqual([await nextFrame(), await nextFrame()], [frame, frame]);
  });

  test("announces a ping timeout of 60 seconds", async () => {
    const url = new URL("/socket.io/?EIO=4&transport=polling", servedExchanges.urls.limitless?.ws);
    url.protocol = "http:";
    const openPacket = await (await fetch(url)).text();
    assert.equal(JSON.parse(openPacket.slice(1)).pingTimeout, 60_000);
  });

  test("rejects a malformed subscription", async () => {
    socket.emit("subscribe_market_prices", { marketSlugs: "all" });
    assert.equal((await nextFrame())[0], "exception");
  });
});
