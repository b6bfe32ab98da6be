import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import Fastify, { type FastifyInstance } from "fastify";
import { io, type Socket } from "socket.io-client";
import { ManualFeed } from "../../../test/support/venues/manual-feed.ts";
import { serveExchanges } from "../../serve.ts";
import { createWorld } from "../../world/index.ts";
import type { ListedMarket } from "../../world/types.ts";
import { roundAlias } from "./catalogue.ts";
import { limitlessAddress, limitlessEventSlug, limitlessExchange, limitlessSlug } from "./index.ts";

const GENESIS = Date.UTC(2026, 10, 21, 4);
const NOW = GENESIS + 3_600_000;
const world = createWorld({ seed: 1, genesis: GENESIS, speed: 60, marketCount: 400 });
const feed = new ManualFeed();
const context = { world, feed, now: () => NOW, enforceLimits: false };

const markets = world.markets("limitless", NOW);
function pick(matches: (market: ListedMarket) => boolean): ListedMarket {
  const market = markets.find(matches);
  assert.ok(market !== undefined);
  return market;
}
const amm = pick((market) => market.mechanism === "amm" && world.lifecycle(market, NOW).phase === "active");
const child = pick((market) => market.event.markets.length > 1 && world.lifecycle(market, NOW).phase === "active");
const round = pick((market) => market.event.frequency === "fifteen_min" && market.closeAt - 900_000 > NOW);
const single = pick(
  (market) =>
    market.event.markets.length === 1 &&
    market.mechanism === "clob" &&
    market.event.frequency !== "fifteen_min" &&
    world.lifecycle(market, NOW).phase === "active",
);

describe("REST", () => {
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

  test("400: rejects a page size of 26 instead of clamping it", async () => {
    const { status, json } = await get("/markets/active?limit=26");
    assert.equal(status, 400);
    assert.deepEqual(json, { message: "limit must not be greater than 25", error: "Bad Request", statusCode: 400 });
    assert.equal((await get("/markets/active?limit=25")).status, 200);
  });

  test("allows cross-origin requests and answers the CORS preflight with 204", async () => {
    const preflight = await app.inject({ method: "OPTIONS", url: "/markets/active" });
    assert.equal(preflight.statusCode, 204);
    assert.equal(preflight.headers["access-control-allow-origin"], "*");
  });

  test("400: rejects unknown sort orders, unknown filters and invalid page numbers", async () => {
    for (const query of ["sortBy=best", "tradeType=x", "automationType=x", "page=0", "page=two", "limit=0"]) {
      assert.equal((await get(`/markets/active?${query}`)).status, 400, query);
    }
  });

  test("pagination returns each row exactly once for every sort order", async () => {
    for (const sort of ["lp_rewards", "ending_soon", "newest", "high_value", "liquidity"]) {
      const slugs: unknown[] = [];
      let total = Number.POSITIVE_INFINITY;
      for (let page = 1; (page - 1) * 10 < total; page++) {
        const { json } = await get(`/markets/active?sortBy=${sort}&page=${page}`);
        total = Number(json.totalMarketsCount);
        slugs.push(...(json.data as { slug: string }[]).map((row) => row.slug));
      }
      assert.equal(slugs.length, total, sort);
      assert.equal(new Set(slugs).size, total, sort);
    }
  });

  test("filters the active list by trade type", async () => {
    const { json } = await get("/markets/active?tradeType=amm&limit=25");
    const rows = json.data as { address?: string }[];
    assert.ok(rows.length > 0 && rows.every((row) => row.address?.startsWith("0x")));
  });

  test("404 for an unknown slug, 400 for the order book of an AMM or a group", async () => {
    assert.equal((await get("/markets/nothing-here-1")).status, 404);
    assert.equal((await get(`/markets/${limitlessSlug(amm)}/orderbook`)).status, 400);
    assert.equal((await get(`/markets/${limitlessEventSlug(child.event)}/orderbook`)).status, 400);
  });

  test("finds an AMM by slug and by case-insensitive address, and lists its trades in the feed", async () => {
    const address = limitlessAddress(amm);
    for (const key of [limitlessSlug(amm), address, `0x${address.slice(2).toUpperCase()}`]) {
      assert.equal((await get(`/markets/${key}`)).json.address, address);
    }
    const { json } = await get(`/markets/${address}/get-feed-events?limit=5`);
    const trades = world
      .trades(amm, amm.openAt, NOW + 1)
      .slice(-5)
      .reverse();
    assert.deepEqual(
      (json as unknown as { createdAt: string }[]).map((event) => Date.parse(event.createdAt)),
      trades.map((trade) => trade.at),
    );
  });

  test("price history is newest first and has separate shapes for groups, children, single markets and AMMs", async () => {
    const read = async (slug: string) => (await get(`/markets/${slug}/historical-price?interval=1h`)).json as unknown;
    const groupHistory = (await read(limitlessEventSlug(child.event))) as {
      title: string;
      prices: { timestamp: string }[];
    }[];
    assert.deepEqual(
      groupHistory.map((series) => series.title),
      child.event.markets.map((market) => market.label),
    );
    assert.match(groupHistory[0]?.prices[0]?.timestamp ?? "", /^\d{4}-.*Z$/);
    const childHistory = (await read(limitlessSlug(child))) as { title: string; prices: { timestamp: string }[] }[];
    assert.deepEqual(
      childHistory.map((series) => series.title),
      ["YES Token", "NO Token"],
    );
    const singleHistory = (await read(limitlessSlug(single))) as { prices: { timestamp: number }[] };
    const times = singleHistory.prices.map((point) => point.timestamp);
    assert.deepEqual(
      times,
      times.toSorted((a, b) => b - a),
    );
    const ammHistory = (await read(limitlessSlug(amm))) as { data: { timestamp: number }[] };
    assert.ok((ammHistory.data[0]?.timestamp ?? 0) < 1e11);
  });

  test("a round has a placeholder open price before it starts, and its alias resolves to the open round", async () => {
    const { json } = await get(`/markets/${limitlessSlug(round)}`);
    assert.equal((json.metadata as { openPrice: string }).openPrice, "---");
    const alias = await get(`/markets/${roundAlias(round.event)}`);
    assert.equal(alias.status, 200);
    assert.notEqual(alias.json.slug, roundAlias(round.event));
  });

  test("a resolved market is not in the active list but is still served by slug", async () => {
    const settled = pick((market) =>
      market.event.markets.every((sibling) => world.lifecycle(sibling, NOW).phase === "finalized"),
    );
    const { json } = await get(`/markets/${limitlessSlug(settled)}`);
    assert.equal(json.status, "RESOLVED");
    assert.ok(!JSON.stringify((await get("/markets/active/slugs")).json).includes(limitlessSlug(settled)));
  });
});

describe("Socket.IO", () => {
  let served: Awaited<ReturnType<typeof serveExchanges>>;
  let socket: Socket;
  const frames: [string, Record<string, unknown>][] = [];
  let wake: () => void = () => {};

  before(async () => {
    served = await serveExchanges(limitlessExchange(context), { host: "127.0.0.1", firstPort: 0 });
    socket = io(`${served.urls.limitless?.ws}/markets`, { forceNew: true });
    socket.onAny((event: string, payload: Record<string, unknown>) => {
      frames.push([event, payload]);
      wake();
    });
  });
  after(async () => {
    socket.disconnect();
    await served.close();
  });

  async function next(): Promise<[string, Record<string, unknown>]> {
    for (;;) {
      const frame = frames.shift();
      if (frame !== undefined) return frame;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }

  test("confirms the accepted markets of a subscription and sends one snapshot per order-book market", async () => {
    socket.emit("subscribe_market_prices", {
      marketSlugs: [limitlessSlug(single), limitlessSlug(amm), "nothing"],
      marketAddresses: [limitlessAddress(amm)],
    });
    const [name, payload] = await next();
    assert.equal(name, "system");
    assert.deepEqual(payload.markets, { slugs: [limitlessSlug(single)], addresses: [limitlessAddress(amm)] });
    const [snapshot, frame] = await next();
    assert.deepEqual([snapshot, frame.marketSlug], ["orderbookUpdate", limitlessSlug(single)]);
  });

  test("combines simultaneous changes into one full book with a positive version", async () => {
    const at = world.nextChangeAt(single, NOW);
    feed.publish({ kind: "book", market: single, at: NOW });
    feed.publish({ kind: "book", market: single, at });
    feed.publish({ kind: "book", market: amm, at });
    const [, frame] = await next();
    assert.equal(frame.timestamp, new Date(at).toISOString());
    assert.ok(Number(frame.version) > 0);
    const [name, price] = await next();
    assert.deepEqual([name, price.marketAddress], ["newPriceData", limitlessAddress(amm)]);
  });

  test("sends a resolution twice to a socket subscribed to both the market and the lifecycle", async () => {
    socket.emit("subscribe_market_lifecycle", {});
    assert.equal((await next())[0], "system");
    feed.publish({ kind: "lifecycle", market: single, from: "determined", to: "finalized", at: single.finalizeAt });
    assert.deepEqual(await next(), await next());
  });

  test("rejects a malformed subscription and private channels without an API key", async () => {
    socket.emit("subscribe_market_prices", { marketSlugs: "all" });
    socket.emit("subscribe_positions", {});
    assert.deepEqual([(await next())[0], (await next())[0]], ["exception", "exception"]);
  });
});
