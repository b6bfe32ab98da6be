import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { HOUR_MS } from "../src/lib/durations.ts";
import { createWorld } from "./world/index.ts";
import { SANDBOX_VENUES } from "./world/types.ts";

const GENESIS = Date.UTC(2026, 10, 20);
/** Update it only in a change that intends to change the simulated data, never in an optimisation. */
const REFERENCE_DIGEST = "a5ebd304a08bd0ed";

test("texts, books, trades, activity and outcomes of every venue match the reference digest", () => {
  const digest = createHash("sha256");
  const world = createWorld({ seed: 11, genesis: GENESIS, speed: 60, marketCount: 500 });
  for (const hours of [-20 * 24, 0, 0.1, 26, 8 * 24]) {
    const at = GENESIS + hours * HOUR_MS;
    for (const venue of SANDBOX_VENUES) {
      for (const market of world.markets(venue, at)) {
        const { event, ...listing } = market;
        const { markets: _markets, ...listedEvent } = event;
        const state = [world.lifecycle(market, at), world.book(market, at), world.activity(market, at)];
        const changes = [world.trades(market, at - HOUR_MS / 30, at), world.nextChangeAt(market, at)];
        // Floating-point results may differ between processors beyond the tenth digit.
        digest.update(
          JSON.stringify([listing, listedEvent, state, changes, world.probability(market, at).toFixed(10)]),
        );
      }
    }
  }
  assert.equal(digest.digest("hex").slice(0, 16), REFERENCE_DIGEST);
});
