/** Serves one of the Polymarket hosts over a fixed world for the tests. */
import assert from "node:assert/strict";
import Fastify, { type FastifyInstance } from "fastify";
import { polymarketExchange } from "../../../sandbox/protocol/polymarket/index.ts";
import { createWorld } from "../../../sandbox/world/index.ts";
import type { Feed } from "../../../sandbox/world/types.ts";

const GENESIS = Date.UTC(2026, 10, 20);
export const NOW = GENESIS + 5 * 3_600_000;
export const world = createWorld({ seed: 5, genesis: GENESIS, speed: 1, marketCount: 300 });
const feed: Feed = { subscribe: () => () => {}, close() {} };

/** Active markets, highest volume first. */
export const activeMarkets = world
  .markets("polymarket", NOW)
  .filter((market) => world.lifecycle(market, NOW).phase === "active")
  .sort((a, b) => world.activity(b, NOW).volumeUsd - world.activity(a, NOW).volumeUsd);

export async function startHost(
  host: "gamma" | "clob" | "data",
  { enforceLimits = false, now = () => NOW }: { enforceLimits?: boolean; now?: () => number } = {},
): Promise<FastifyInstance> {
  const app = Fastify();
  const service = polymarketExchange({ world, feed, now, enforceLimits }).find(({ name }) => name === host);
  assert.ok(service !== undefined);
  service.install(app);
  await app.ready();
  return app;
}

/** The body is typed `never`: each test assigns it to the type that it reads. */
export async function get(app: FastifyInstance, url: string, headers: Record<string, string> = {}) {
  const response = await app.inject({ method: "GET", url, headers });
  return { status: response.statusCode, headers: response.headers, body: response.json() as never };
}
