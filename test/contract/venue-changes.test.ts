import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { kalshiTicker } from "../../sandbox/protocol/kalshi/index.ts";
import { manifoldMarketId } from "../../sandbox/protocol/manifold/index.ts";
import type { ListedMarket } from "../../sandbox/world/types.ts";
import type { MarketListing } from "../../src/domain/market.ts";
import { HOUR_MS } from "../../src/lib/durations.ts";
import type { ListingPage } from "../../src/ports/venue.ts";
import { NOW, openVenueHarness, VENUE_NAMES, type VenueHarness } from "../support/venues/venue-harness.ts";

const signal = () => new AbortController().signal;

async function collect(pages: AsyncIterable<ListingPage>): Promise<Map<string, MarketListing>> {
  const listings = new Map<string, MarketListing>();
  for await (const page of pages) {
    assert.equal(page.incompleteReason ?? null, null);
    for (const { listing } of page.markets) listings.set(listing.marketId, listing);
  }
  return listings;
}

async function listChanged(harness: VenueHarness, sinceMs: number): Promise<Map<string, MarketListing>> {
  const { listChangedMarkets } = harness.adapter();
  assert.ok(listChangedMarkets !== undefined);
  return collect(listChangedMarkets(sinceMs, signal()));
}

/** Tests a venue's list of changes. `open` creates the harness before the tests. */
function withHarness(name: "kalshi" | "manifold"): () => VenueHarness {
  let harness: VenueHarness | undefined;
  before(async () => {
    harness = await openVenueHarness(name);
  });
  after(() => harness?.close());
  return () => {
    assert.ok(harness !== undefined);
    return harness;
  };
}

describe("changes of kalshi", () => {
  const getHarness = withHarness("kalshi");

  test("the changes since a time are exactly the markets that were listed or changed their phase since then", async () => {
    const { world } = getHarness();
    const changedAt = (market: ListedMarket) => Math.max(market.openAt, world.lifecycle(market, NOW).since);
    const expectedSince = (sinceMs: number) =>
      world
        .markets("kalshi", NOW)
        .filter((market) => changedAt(market) >= sinceMs)
        .map(kalshiTicker)
        .sort();
    for (const hours of [1, 6, 48]) {
      const sinceMs = NOW - hours * HOUR_MS;
      const expected = expectedSince(sinceMs);
      assert.deepEqual([...(await listChanged(getHarness(), sinceMs)).keys()].sort(), expected, `${hours} hours`);
    }
    assert.ok(expectedSince(NOW - HOUR_MS).length < expectedSince(NOW - 48 * HOUR_MS).length);
    assert.deepEqual([...(await listChanged(getHarness(), NOW + 1_000)).keys()], []);
  });

  test("the changes include new, closed and settled markets", async () => {
    const statuses = new Set([...(await listChanged(getHarness(), NOW - 48 * HOUR_MS)).values()].map((m) => m.status));
    for (const status of ["active", "closed", "finalized"] as const) assert.ok(statuses.has(status), status);
  });
});

describe("changes of manifold", () => {
  const getHarness = withHarness("manifold");

  test("the changes since a time contain every open market with a bet since then", async () => {
    const { world, adapter } = getHarness();
    const open = await collect(adapter().listOpenMarkets(signal()));
    const sinceMs = NOW - HOUR_MS;
    const traded = world
      .markets("manifold", NOW)
      .filter((market) => world.trades(market, sinceMs, NOW + 1).length > 0)
      .map(manifoldMarketId)
      .filter((marketId) => open.has(marketId));
    assert.ok(traded.length > 0);
    const changed = await listChanged(getHarness(), sinceMs);
    for (const marketId of traded) assert.ok(changed.has(marketId), marketId);
    for (const [marketId, listing] of changed) assert.deepEqual(listing, open.get(marketId));
  });
});

for (const name of VENUE_NAMES)
  test(`${name}: markets that were only announced are read together, each with its event`, async (t) => {
    const harness = await openVenueHarness(name);
    t.after(() => harness.close());
    const open = await collect(harness.adapter().listOpenMarkets(signal()));
    const announced = [...open.values()].slice(0, 20);
    const page = await harness.adapter().getMarkets(
      announced.map(({ marketId }) => ({ marketId, venueKeys: {} })),
      signal(),
    );
    const found = new Map(page.markets.map(({ listing }) => [listing.marketId, listing]));
    for (const { marketId, eventId, title, status } of announced) {
      const listing = found.get(marketId);
      assert.deepEqual([listing?.eventId, listing?.title, listing?.status], [eventId, title, status]);
    }
  });
