/** Simulated world shared by the Kalshi tests. */

import assert from "node:assert/strict";
import { createWorld } from "../../../sandbox/world/index.ts";
import type { ListedMarket, Phase } from "../../../sandbox/world/types.ts";
import { HOUR_MS } from "../../../src/lib/durations.ts";

export const GENESIS = Date.UTC(2026, 10, 21);
export const NOW = GENESIS + HOUR_MS + 500;
export const world = createWorld({ seed: 3, genesis: GENESIS, speed: 60, marketCount: 300 });

export const listAllMarkets = () => world.markets("kalshi", NOW);
export const findMarketsInPhase = (phase: Phase) =>
  listAllMarkets().filter((market) => world.lifecycle(market, NOW).phase === phase);

export function firstOf(markets: readonly ListedMarket[]): ListedMarket {
  const [market] = markets;
  assert.ok(market);
  return market;
}
