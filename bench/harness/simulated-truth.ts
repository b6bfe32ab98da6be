import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { createWorld, WorldOptions } from "../../sandbox/world/index.ts";
import type { ListedMarket, SimulatedWorld } from "../../sandbox/world/types.ts";
import { DAY_MS } from "../../src/lib/durations.ts";
import type { ServiceProcess } from "../../test/support/service-process.ts";

/** What one contract of a market pays, and what is known about it. */
export interface MarketTruth {
  readonly market: ListedMarket;
  /** Probability of YES at a time (Unix milliseconds), given everything that the simulated world knows then. */
  probabilityAt(at: number): number;
  /** USD that a YES contract pays at settlement, in [0, 1]; null if the market is annulled and refunds what it cost. */
  readonly yesPayout: number | null;
}

/**
 * Creates the world that the sandbox of a service simulates, with the modules of the service's own checkout.
 *
 * @returns  a function that finds a market by its venue and id; null if the world does not have it
 */
export async function readTruth(
  service: ServiceProcess,
  checkout: string,
  marketCount: number,
): Promise<(venue: string, marketId: string) => MarketTruth | null> {
  const load = async (path: string) => import(pathToFileURL(join(checkout, path)).href);
  const { marketIdOf } = await load("sandbox/truth-routes.ts");
  const create: typeof createWorld = (await load("sandbox/world/index.ts")).createWorld;
  const options = (await (await fetch(`${service.sandboxUrl}/world`)).json()) as WorldOptions;
  const world: SimulatedWorld = create({ ...options, marketCount });
  const markets = new Map<string, ListedMarket>();
  for (const venue of ["kalshi", "polymarket", "limitless"] as const)
    for (const market of world.markets(venue, Date.now())) markets.set(`${venue}/${marketIdOf(market)}`, market);
  return (venue, marketId) => {
    const market = markets.get(`${venue}/${marketId}`);
    if (market === undefined) return null;
    return {
      market,
      probabilityAt: (at) => world.probability(market, at),
      yesPayout: payoutOf(world.lifecycle(market, market.finalizeAt + DAY_MS).outcome),
    };
  };
}

function payoutOf(outcome: ReturnType<SimulatedWorld["lifecycle"]>["outcome"]): number | null {
  if (outcome === null) throw new Error("a market was not settled a day after its last date");
  if (outcome.kind === "void") return null;
  return outcome.kind === "partial" ? outcome.value : Number(outcome.kind === "yes");
}
