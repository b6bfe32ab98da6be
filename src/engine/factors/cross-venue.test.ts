import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertNear } from "../../../test/support/asserts/assert-near.ts";
import { AS_OF, createQuote, createView } from "../../../test/support/engine/market-views.ts";
import { HOUR_MS } from "../../lib/durations.ts";
import { toLogOdds } from "../log-odds.ts";
import type { EngineCoefficients, PeerView } from "../model.ts";
import { ENGINE_COEFFICIENTS } from "../model-data.ts";
import { computePrior, logOddsError } from "../reference-price.ts";
import { crossVenue } from "./cross-venue.ts";

const COEFFICIENTS: EngineCoefficients = {
  ...ENGINE_COEFFICIENTS,
  leadership: { own: { leader: 0.5, follower: 0 }, default: { money: 0.2, play_money: 0.05 } },
};
const OWN_PRICE = 0.41;

const peer = (changes: Partial<PeerView> = {}): PeerView => ({
  venue: "b",
  adapter: "leader",
  marketId: "P",
  isInverse: false,
  matchConfidence: 1,
  kind: "money",
  at: AS_OF,
  yesPrice: 0.6,
  spread: 0.02,
  liquidityUsd: 999,
  volume24hUsd: null,
  ...changes,
});

function read(...peers: readonly PeerView[]) {
  const view = createView({ adapter: "own", peers, quote: createQuote(0.4, 0.42) });
  return crossVenue.evaluate(view, computePrior(view, OWN_PRICE, COEFFICIENTS), COEFFICIENTS);
}
const lambdaOf = (...peers: readonly PeerView[]): number => read(...peers)?.lambda ?? 0;

test("known value: lambda is half of the gap to the peer, after subtracting the spread errors of both prices", () => {
  const errors = logOddsError(0.6, 0.02) + logOddsError(OWN_PRICE, 0.02);
  assertNear(lambdaOf(peer()), 0.5 * (toLogOdds(0.6) - toLogOdds(OWN_PRICE) - errors));
  assertNear(read(peer())?.confidence ?? 0, 0.9);
});

test("closed form: the mean of two peers is weighted by their size", () => {
  const [small, large] = [peer({ liquidityUsd: 0, yesPrice: 0.2 }), peer({ liquidityUsd: 1e6, yesPrice: 0.7 })];
  assertNear(lambdaOf(small, large), (0.1 * lambdaOf(small) + 1 * lambdaOf(large)) / 1.1);
});

test("the weight of a peer is that of its pair of venues, else the default of its kind, else there is no reading", () => {
  const full = lambdaOf(peer()) / 0.5;
  assertNear(lambdaOf(peer({ adapter: "new" })), 0.2 * full);
  assertNear(lambdaOf(peer({ adapter: null, kind: "play_money" })), 0.05 * full);
  assert.equal(read(peer({ adapter: "follower" })), null);
  assert.equal(read(peer({ adapter: "new", kind: "forecast" })), null);
});

test("an inverse peer at the inverse price has the same reading", () => {
  assertNear(lambdaOf(peer({ isInverse: true, yesPrice: 0.4 })), lambdaOf(peer()));
});

test("law: the price moves toward its peer and not beyond it, and less for an uncertain match or a wide spread", () => {
  const cents = fc.integer({ min: 2, max: 98 });
  fc.assert(
    fc.property(cents, fc.double({ min: 0.01, max: 1, noNaN: true }), (price, matchConfidence) => {
      const yesPrice = price / 100;
      const gap = toLogOdds(yesPrice) - toLogOdds(OWN_PRICE);
      const reading = read(peer({ yesPrice, matchConfidence }));
      assert.ok(Math.abs(reading?.lambda ?? 0) <= Math.abs(gap) && (reading?.lambda ?? 0) * gap >= 0);
      if (reading === null) return;
      assertNear(reading.confidence, 0.9 * matchConfidence);
      assert.ok((read(peer({ yesPrice, spread: 0.06 }))?.confidence ?? 0) < 0.9);
    }),
  );
});

test("no reading without peers, inside the spreads, or for a peer that is old, has a wide spread or has match confidence 0", () => {
  for (const reading of [
    read(),
    read(peer({ yesPrice: 0.42 })),
    read(peer({ at: AS_OF - 25 * HOUR_MS })),
    read(peer({ spread: 0.3 })),
    read(peer({ matchConfidence: 0 })),
  ])
    assert.equal(reading, null);
});
