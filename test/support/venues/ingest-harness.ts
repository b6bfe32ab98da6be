import assert from "node:assert/strict";
import { afterEach } from "node:test";
import type { BoardMarket } from "../../../src/board/index.ts";
import type { OrderBook } from "../../../src/domain/order-book.ts";
import { VenueHealth } from "../../../src/ingest/venue-health.ts";
import { FakeClock } from "../fake-clock.ts";
import { SAMPLE_AT, sampleMarket } from "../markets/market-samples.ts";
import { createMemoryIngest } from "./memory-ingest.ts";
import { ScriptedVenue } from "./scripted-venue.ts";

const stopsOfStarted = new Set<() => Promise<void>>();
afterEach(async () => {
  for (const stop of stopsOfStarted) await stop();
});

/**
 * Creates the ingest of scripted venues with a real board, stores in memory and a fake clock. A started harness is
 * stopped after the test.
 */
export function openIngestHarness(
  makeVenues: (clock: FakeClock) => readonly ScriptedVenue[] = (clock) => [new ScriptedVenue("alpha", clock)],
) {
  const clock = new FakeClock(SAMPLE_AT);
  const venues = makeVenues(clock);
  const healths = new Map(venues.map((venue) => [venue, new VenueHealth(clock, venue.profile)]));
  const health = (venue: ScriptedVenue): VenueHealth => {
    const venueHealth = healths.get(venue);
    assert.ok(venueHealth !== undefined, `${venue.id} is not part of this harness`);
    return venueHealth;
  };
  const ingest = createMemoryIngest(
    clock,
    venues.map((adapter) => ({ adapter, health: health(adapter) })),
  );
  const { board, store, ingests } = ingest;
  const stop = async (): Promise<void> => {
    stopsOfStarted.delete(stop);
    await ingest.stop();
  };
  return {
    ...ingest,
    clock,
    venues,
    health,
    /** Starts the store writer and the ingest of every venue, and waits for the first responses. */
    async start(): Promise<void> {
      stopsOfStarted.add(stop);
      ingest.start();
      await clock.settle();
    },
    stop,
    /** Returns the order book that the venue's stream tracks. */
    bookOf: (venue: string, marketId: string): OrderBook | null => ingests.get(venue)?.bookOf(marketId) ?? null,
    requestTakers: (marketId: string) => [...ingests.values()][0]?.requestTakers(marketId),
    market: (marketId: string, venue = "alpha"): BoardMarket | null => board.find(venue, marketId),
    /** Returns the status changes in the store, for example "active to closed". */
    statusChanges: () => store.statusChanges.map(({ from, to }) => `${from} to ${to}`),
  };
}

/** Creates a harness with one venue, "alpha". */
export function openScriptedVenue(options: ConstructorParameters<typeof ScriptedVenue>[2] = {}) {
  const harness = openIngestHarness((clock) => [new ScriptedVenue("alpha", clock, options)]);
  const [venue] = harness.venues;
  assert.ok(venue !== undefined);
  return { ...harness, venue };
}

/** Creates a harness with one venue, "alpha", that lists open markets with these ids. */
export function openIngestWith(...marketIds: readonly string[]): ReturnType<typeof openScriptedVenue> {
  const harness = openScriptedVenue();
  harness.venue.setMarkets(...marketIds.map((id) => sampleMarket(id)));
  return harness;
}

/** Returns the differences between consecutive timestamps. */
export function intervalsBetween(timestamps: readonly number[]): number[] {
  return timestamps.slice(1).map((at, index) => at - (timestamps[index] ?? 0));
}
