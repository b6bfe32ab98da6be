import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import Fastify, { type FastifyInstance } from "fastify";
import { io, type Socket } from "socket.io-client";
import { serveExchanges } from "../../serve.ts";
import { createWorld } from "../../world/index.ts";
import type { FeedEvent, ListedMarket } from "../../world/types.ts";
import { roundAlias } from "./catalogue.ts";
import { limitlessAddress, limitlessEventSlug, limitlessExchange, limitlessSlug } from "./index.ts";

const GENESIS = Date.UTC(2026, 10, 21, 4);
const NOW = GENESIS + 3_600_000;
const world = createWorld({ seed: 1, genesis: GENESIS, speed: 60, marketCount: 400 });
const listeners = new Set<(event: FeedEvent) => void>();
const context = {
  world,
  feed: {
    subscribe(_venue: string, listener: (event: FeedEvent) => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {},
  },
  now: () => NOW,
  enforceLimits: false,
};

const markets = world.markets("limitless", NOW);
function pick(isWanted: (market: ListedMarket) => boolean): ListedMarket {
  const market = markets.find(isWanted);
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

  test("400: a page of 26 rows is an error and not a shorter page", async () => {
    const { status, json } = await get("/markets/active?limit=26");
    assert.equal(status, 400);
    assert.deepEqual(json, { message: "limit must not be greater than 25", error: "Bad Request", statusCode: 400 });
    assert.equal((await get("/markets/active?limit=25")).status, 200);
  });

  test("401: what belongs to an account; of an address nothing is known but that it is none", async () => {
    const account = `0x${"1".repeat(40)}`;
    for (const path of [
      "/portfolio/positions",
      "/auth/verify-auth",
      "/profiles/me",
      "/orders/all/x",
      "/portfolio/history",
    ]) {
      assert.deepEqual(await get(path), { status: 401, json: { message: "Unauthorized", statusCode: 401 } }, path);
    }
    assert.equal((await get(`/markets/${limitlessSlug(single)}/user-orders`)).status, 401);
    assert.deepEqual((await get(`/portfolio/${account}/positions`)).json, { amm: [], clob: [], group: [] });
    assert.deepEqual((await get(`/portfolio/${account}/traded-volume`)).json, { data: "0" });
    assert.equal((await get("/portfolio/me/positions")).status, 400);
  });

  test("a page of any site may read the answers, and is told so before it asks", async () => {
    const asked = await app.inject({ method: "OPTIONS", url: "/markets/active" });
    assert.equal(asked.statusCode, 204);
    assert.equal(asked.headers["access-control-allow-origin"], "*");
  });

  test("400: unknown sort orders, trade types and page numbers that are none", async () => {
    for (const query of ["sortBy=best", "tradeType=x", "automationType=x", "page=0", "page=two", "limit=0"]) {
      assert.equal((await get(`/markets/active?${query}`)).status, 400, query);
    }
  });

  test("pages of every sort order together show each row once", async () => {
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

  test("filters by category, trade type and kind of automation show only what they name, and count it", async () => {
    const { json: count } = await get("/markets/categories/count");
    for (const [id, expected] of Object.entries(count.category as Record<string, number>)) {
      assert.equal((await get(`/markets/active/${id}`)).json.totalMarketsCount, expected);
    }
    const { json } = await get("/markets/active?tradeType=amm&limit=25");
    assert.ok((json.data as { address?: string }[]).every((row) => row.address?.startsWith("0x")));
    assert.ok((json.data as unknown[]).length > 0);
  });

  test("404: an unknown slug; 400: the book of an AMM or a group", async () => {
    assert.equal((await get("/markets/nothing-here-1")).status, 404);
    assert.equal((await get(`/markets/${limitlessSlug(amm)}/orderbook`)).status, 400);
    assert.equal((await get(`/markets/${limitlessEventSlug(child.event)}/orderbook`)).status, 400);
  });

  test("an AMM is found by slug and by address in any case, and its trades are in the feed", async () => {
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

  test("history has a shape of its own for groups, children, single markets and AMMs, newest first", async () => {
    const read = async (slug: string) => (await get(`/markets/${slug}/historical-price?interval=1h`)).json as unknown;
    const group = (await read(limitlessEventSlug(child.event))) as { title: string; prices: { timestamp: string }[] }[];
    assert.deepEqual(
      group.map((series) => series.title),
      child.event.markets.map((market) => market.label),
    );
    assert.match(group[0]?.prices[0]?.timestamp ?? "", /^\d{4}-.*Z$/);
    const tokens = (await read(limitlessSlug(child))) as { title: string; prices: { timestamp: string }[] }[];
    assert.deepEqual(
      tokens.map((series) => series.title),
      ["YES Token", "NO Token"],
    );
    const alone = (await read(limitlessSlug(single))) as { prices: { timestamp: number }[] };
    const times = alone.prices.map((point) => point.timestamp);
    assert.deepEqual(
      times,
      times.toSorted((a, b) => b - a),
    );
    const pool = (await read(limitlessSlug(amm))) as { data: { timestamp: number }[] };
    assert.ok((pool.data[0]?.timestamp ?? 0) < 1e11);
  });

  test("a round that has not begun has a placeholder for its open price, and its alias names the running one", async () => {
    const { json } = await get(`/markets/${limitlessSlug(round)}`);
    assert.equal((json.metadata as { openPrice: string }).openPrice, "---");
    const alias = await get(`/markets/${roundAlias(round.event)}`);
    assert.equal(alias.status, 200);
    assert.notEqual(alias.json.slug, roundAlias(round.event));
  });

  test("the timeline shows rounds before and after, settled and open, also those the list no longer has", async () => {
    const { json } = await get("/markets/timeline?before=3&after=2");
    const slots = json.slots as { slug: string; state: string; endAt: string; tradable: boolean }[];
    const states = slots.map((slot) => slot.state);
    assert.ok(states.includes("SETTLED") && (states.includes("OPEN") || states.includes("PRE_OPEN")), states.join());
    const listed = JSON.stringify((await get("/markets/active/slugs")).json);
    for (const slot of slots) assert.equal(listed.includes(slot.slug), Date.parse(slot.endAt) > NOW, slot.state);
    const around = await get(`/markets/${limitlessSlug(round)}/timeline?before=0&after=0`);
    assert.deepEqual(
      (around.json.slots as { slug: string }[]).map((slot) => slot.slug),
      [limitlessSlug(round)],
    );
  });

  test("resolved markets are in no list and still answer for themselves", async () => {
    const settled = pick((market) =>
      market.event.markets.every((leg) => world.lifecycle(leg, NOW).phase === "finalized"),
    );
    const { json } = await get(`/markets/${limitlessSlug(settled)}`);
    assert.equal(json.status, "RESOLVED");
    assert.ok(!JSON.stringify((await get("/markets/active/slugs")).json).includes(limitlessSlug(settled)));
  });

  test("search finds a row by the words of its title and nothing by words of none", async () => {
    const query = encodeURIComponent(single.question);
    const { json } = await get(`/markets/search?query=${query}&limit=5`);
    assert.equal((json.markets as { slug: string }[])[0]?.slug, limitlessSlug(single));
    assert.deepEqual((await get("/markets/search?query=zzzzqqqq")).json.markets, []);
    assert.equal((await get("/markets/search?query=a&limit=101")).status, 400);
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
  const tell = (event: FeedEvent) => {
    for (const listener of listeners) listener(event);
  };

  test("answers a subscription with what it accepted and one snapshot for each order-book market", async () => {
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

  test("several changes at once become one full book with a version that only grew", async () => {
    const at = world.nextChangeAt(single, NOW);
    tell({ kind: "book", market: single, at: NOW });
    tell({ kind: "book", market: single, at });
    tell({ kind: "book", market: amm, at });
    const [, frame] = await next();
    assert.equal(frame.timestamp, new Date(at).toISOString());
    assert.ok(Number(frame.version) > 0);
    const [name, price] = await next();
    assert.deepEqual([name, price.marketAddress], ["newPriceData", limitlessAddress(amm)]);
  });

  test("a resolution is told twice to who follows both the market and the lifecycle", async () => {
    socket.emit("subscribe_market_lifecycle", {});
    assert.equal((await next())[0], "system");
    tell({ kind: "lifecycle", market: single, from: "determined", to: "finalized", at: single.finalizeAt });
    assert.deepEqual(await next(), await next());
  });

  test("refuses a malformed subscription and private channels without a key", async () => {
    socket.emit("subscribe_market_prices", { marketSlugs: "all" });
    socket.emit("subscribe_positions", {});
    assert.deepEqual([(await next())[0], (await next())[0]], ["exception", "exception"]);
  });
});
