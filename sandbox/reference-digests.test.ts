import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import Fastify from "fastify";
import { HOUR_MS } from "../src/lib/durations.ts";
import type { ExchangeFactory } from "./protocol/exchange.ts";
import { kalshiExchange } from "./protocol/kalshi/index.ts";
import { polymarketExchange } from "./protocol/polymarket/index.ts";
import { createWorld } from "./world/index.ts";
import type { Feed, World } from "./world/types.ts";

const GENESIS = Date.UTC(2026, 10, 20);
const feed: Feed = { subscribe: () => () => {}, close() {} };
const createWorldAtSpeed = (speed: number) => createWorld({ seed: 11, genesis: GENESIS, speed, marketCount: 500 });

/** SHA-256 digest of all pages of a list at one time. */
async function digestPages(
  exchange: ExchangeFactory,
  listing: { world: World; at: number; service: string; path: string; cursorField: string; cursorParam: string },
): Promise<string> {
  const { world, at, service, path, cursorField, cursorParam } = listing;
  const app = Fastify();
  const host = exchange({ world, feed, now: () => at, enforceLimits: false }).find(({ name }) => name === service);
  assert.ok(host !== undefined);
  host.install(app);
  const digest = createHash("sha256");
  let cursorQuery = "";
  for (;;) {
    const reply: { statusCode: number; body: string } = await app.inject(`${host.basePath}${path}${cursorQuery}`);
    assert.equal(reply.statusCode, 200);
    digest.update(reply.body);
    const next: unknown = (JSON.parse(reply.body) as Record<string, unknown>)[cursorField];
    if (typeof next !== "string" || next === "") break;
    cursorQuery = `&${cursorParam}=${encodeURIComponent(next)}`;
  }
  await app.close();
  return digest.digest("hex").slice(0, 16);
}

const digestPolymarketPages = (world: World, at: number) =>
  digestPages(polymarketExchange, {
    world,
    at,
    service: "gamma",
    path: "/events/keyset?limit=200",
    cursorField: "next_cursor",
    cursorParam: "after_cursor",
  });
const digestKalshiPages = (world: World, at: number) =>
  digestPages(kalshiExchange, {
    world,
    at,
    service: "rest",
    path: "/markets?limit=1000",
    cursorField: "cursor",
    cursorParam: "cursor",
  });

/**
 * Reference digests. Update them only in a change that intends to change the simulated data, never in an optimisation.
 */
const REFERENCE_DIGESTS = [
  { speed: 1, hours: 0, polymarket: "c69a7574522b2256", kalshi: "2607aad61572e193" },
  { speed: 60, hours: 5, polymarket: "cc147b4e3a330e47", kalshi: "8b572a3993b8381d" },
  { speed: 60, hours: 31, polymarket: "66d2a1ba58386f8c", kalshi: "da3d7df4bf2b7add" },
] as const;

for (const { speed, hours, polymarket, kalshi } of REFERENCE_DIGESTS) {
  test(`the lists of a world at speed ${speed} after ${hours} hours match the reference digest`, async () => {
    const world = createWorldAtSpeed(speed);
    const at = GENESIS + hours * HOUR_MS + 1_234;
    assert.deepEqual(
      [await digestPolymarketPages(world, at), await digestKalshiPages(world, at)],
      [polymarket, kalshi],
    );
  });
}

test("books, trades, activity and outcomes match the reference digest", () => {
  const digest = createHash("sha256");
  const world = createWorldAtSpeed(60);
  for (const hours of [-20 * 24, 0.1, 26, 8 * 24]) {
    const at = GENESIS + hours * HOUR_MS;
    for (const venue of ["limitless", "manifold"] as const) {
      for (const market of world.markets(venue, at)) {
        const state = [world.lifecycle(market, at), world.book(market, at), world.activity(market, at)];
        const changes = [world.trades(market, at - HOUR_MS / 30, at), world.nextChangeAt(market, at)];
        // Floating-point results may differ between processors beyond the tenth digit.
        digest.update(JSON.stringify([state, changes, world.probability(market, at).toFixed(10)]));
      }
    }
  }
  assert.equal(digest.digest("hex").slice(0, 16), "2b7bdd51df346e7e");
});
