import { beforeEach } from "node:test";
import { createFaults } from "../../../sandbox/faults/venue-faults.ts";
import type { ExchangeContext } from "../../../sandbox/protocol/exchange.ts";
import { kalshiExchange } from "../../../sandbox/protocol/kalshi/index.ts";
import { limitlessExchange } from "../../../sandbox/protocol/limitless/index.ts";
import { manifoldExchange } from "../../../sandbox/protocol/manifold/index.ts";
import { polymarketExchange } from "../../../sandbox/protocol/polymarket/index.ts";
import { serveExchanges } from "../../../sandbox/serve.ts";
import { createWorld } from "../../../sandbox/world/index.ts";
import { uniform } from "../../../sandbox/world/random.ts";
import { SANDBOX_VENUES } from "../../../sandbox/world/types.ts";
import { atFileEnd } from "../file-end.ts";

const SEED = 4;
const MARKET_COUNT = 60;

/**
 * Serves the simulated venues on loopback for the tests of the calling file. Every test starts without faults. The
 * clock stands still at `now`, one hour after the start of the world.
 */
export async function serveFaultyExchanges({ now }: { readonly now: number }) {
  const faults = createFaults((...keys) => uniform(3, 1, ...keys));
  const world = createWorld({ seed: SEED, genesis: now - 3_600_000, speed: 60, marketCount: MARKET_COUNT });
  const feed = { subscribe: () => () => {}, close: () => {} };
  const context: ExchangeContext = { world, feed, faults, now: () => now, enforceLimits: false };
  const services = [kalshiExchange, polymarketExchange, limitlessExchange, manifoldExchange].flatMap((exchange) =>
    exchange(context),
  );
  /** The delays of the `latency` fault. Tests do not wait for them. */
  const requestedDelaysMs: number[] = [];
  const wait = async (ms: number) => void requestedDelaysMs.push(ms);
  const faultOptions = { byVenue: faults, now: () => now, wait };
  const { urls, close } = await serveExchanges(services, { host: "127.0.0.1", firstPort: 0, faults: faultOptions });
  beforeEach(() => {
    for (const venue of SANDBOX_VENUES) faults[venue].replace({});
  });
  atFileEnd(close);
  return { faults, urls, requestedDelaysMs };
}
