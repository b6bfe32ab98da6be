import assert from "node:assert/strict";
import { afterEach } from "node:test";
import { type BoardMarket, MarketBoard } from "../../../src/board/index.ts";
import type { OrderBook } from "../../../src/domain/order-book.ts";
import { LiveFeed } from "../../../src/ingest/live-feed.ts";
import { StoreWriter } from "../../../src/ingest/store-writer.ts";
import { VenueHealth } from "../../../src/ingest/venue-health.ts";
import { VenueIngest } from "../../../src/ingest/venue-ingest.ts";
import { StoredPastPrices } from "../../../src/storage/past-prices.ts";
import { FakeClock } from "../fake-clock.ts";
import { SAMPLE_AT, sampleMarket } from "../markets/market-samples.ts";
import { MemoryHistory, MemoryMarketStore, MemoryTicks } from "../memory-stores.ts";
import { quietLog } from "../quiet-log.ts";
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
  const board = new MarketBoard(() => clock.now());
  const store = new MemoryMarketStore();
  const ticks = new MemoryTicks();
  const history = new MemoryHistory();
  const storeWriter = new StoreWriter({ board, store, ticks, clock, log: quietLog });
  const venues = makeVenues(clock);
  const pastPrices = new StoredPastPrices({
    history,
    venues,
    board,
    clock,
    store: (market) => storeWriter.flushMarket(market),
  });
  const healths = new Map(venues.map((venue) => [venue, new VenueHealth(clock, venue.profile)]));
  const health = (venue: ScriptedVenue): VenueHealth => {
    const venueHealth = healths.get(venue);
    assert.ok(venueHealth !== undefined, `${venue.id} is not part of this harness`);
    return venueHealth;
  };
  const areFirstSweepsOver = () => [...healths.values()].every(({ isSettled }) => isSettled);
  const live = new LiveFeed(clock);
  const sharedPorts = { board, storeWriter, pastPrices, live, areFirstSweepsOver, clock, log: quietLog };
  const ingests = venues.map((venue) => new VenueIngest({ ...sharedPorts, venue, health: health(venue) }));
  const ingestOf = new Map(venues.map((venue, index) => [venue.id, ingests[index]]));
  const stop = async (): Promise<void> => {
    stopsOfStarted.delete(stop);
    await Promise.all(ingests.map((ingest) => ingest.stop()));
    await storeWriter.close();
  };
  return {
    clock,
    board,
    store,
    ticks,
    history,
    storeWriter,
    pastPrices,
    venues,
    live,
    health,
    /** Starts the store writer and the ingest of every venue, and waits for the first responses. */
    async start(): Promise<void> {
      stopsOfStarted.add(stop);
      storeWriter.start();
      for (const ingest of ingests) ingest.start();
      await clock.settle();
    },
    stop,
    /** Returns the order book that the venue's stream tracks. */
    bookOf: (venue: string, marketId: string): OrderBook | null => ingestOf.get(venue)?.bookOf(marketId) ?? null,
    requestTakers: (marketId: string) => ingests[0]?.requestTakers(marketId),
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
