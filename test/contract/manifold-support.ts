import assert from "node:assert/strict";
import { manifoldExchange } from "../../sandbox/protocol/manifold/index.ts";
import { serveExchanges } from "../../sandbox/serve.ts";
import type { ListedMarket, SimulatedWorld } from "../../sandbox/world/types.ts";
import { createUndiciHttp } from "../../src/adapters/network/undici-http.ts";
import { createWsSockets } from "../../src/adapters/network/ws-socket.ts";
import { systemRandom } from "../../src/adapters/system/system-random.ts";
import { fromMicros, toMicros } from "../../src/domain/price.ts";
import { createManifoldVenue } from "../../src/venues/manifold/index.ts";
import { quietLog } from "../support/quiet-log.ts";
import { ManualFeed } from "../support/venues/manual-feed.ts";
import { fastClock } from "../support/venues/venue-harness.ts";

export const roundToMicros = (price: number) => fromMicros(toMicros(price));

/** Returns the trades on any of these markets before `to`, oldest first. */
export const tradesBefore = (tradedWorld: SimulatedWorld, markets: readonly ListedMarket[], to: number) =>
  markets
    .flatMap((market) => tradedWorld.trades(market, market.openAt, to).map((trade) => ({ market, at: trade.at })))
    .sort((a, b) => a.at - b.at);

/** Whether the market is an answer of a contract whose answers sum to one. */
export const isExclusive = ({ event }: ListedMarket) => event.mutuallyExclusive && event.exhaustive;

/** Serves the exchange of a world whose time the test controls, and connects an adapter. */
export async function serveManifold(servedWorld: SimulatedWorld, at: () => number) {
  const feed = new ManualFeed();
  const services = manifoldExchange({ world: servedWorld, feed, now: at, enforceLimits: false });
  const served = await serveExchanges(services, { host: "127.0.0.1", firstPort: 0 });
  const clock = { ...fastClock(0), now: at };
  const http = createUndiciHttp(clock);
  const drops: string[] = [];
  const servedAdapter = createManifoldVenue({
    id: "manifold",
    playMoney: true,
    http,
    sockets: createWsSockets(clock),
    clock: { ...clock, setTimeout: () => () => {} },
    random: systemRandom,
    log: quietLog,
    countDrop: (reason) => drops.push(reason),
    drift: (kind, field) => drops.push(`${field} ${kind}`),
    restUrl: served.urls.manifold?.rest ?? "",
    wsUrl: served.urls.manifold?.ws ?? "",
  });
  return {
    adapter: servedAdapter,
    drops,
    feed,
    async close() {
      feed.close();
      await Promise.all([served.close(), http.close()]);
      assert.deepEqual(drops, []);
    },
  };
}
