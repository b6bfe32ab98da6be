import { MarketBoard } from "../../../src/board/index.ts";
import { createLiveFeed } from "../../../src/ingest/live-feed.ts";
import { StoreWriter } from "../../../src/ingest/store-writer.ts";
import type { VenueHealth } from "../../../src/ingest/venue-health.ts";
import { VenueIngest } from "../../../src/ingest/venue-ingest.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import type { VenueAdapter } from "../../../src/ports/venue.ts";
import { StoredPastPrices } from "../../../src/storage/past-prices.ts";
import { MemoryHistory, MemoryMarketStore, MemoryTicks } from "../memory-stores.ts";
import { quietLog } from "../quiet-log.ts";

/** Creates the ingest of venues with a real board and stores in memory. */
export function createMemoryIngest(
  clock: Clock,
  venues: readonly { readonly adapter: VenueAdapter; readonly health: VenueHealth }[],
) {
  const board = new MarketBoard(() => clock.now());
  const store = new MemoryMarketStore();
  const ticks = new MemoryTicks();
  const history = new MemoryHistory();
  const log = quietLog;
  const storeWriter = new StoreWriter({ board, store, ticks, clock, log });
  const adapters = venues.map(({ adapter }) => adapter);
  const pastPrices = new StoredPastPrices({
    history,
    venues: adapters,
    board,
    clock,
    store: (market) => storeWriter.flushMarket(market),
  });
  const live = createLiveFeed(clock);
  const areFirstSweepsOver = () => venues.every(({ health }) => health.isSettled);
  const shared = { board, storeWriter, pastPrices, live, areFirstSweepsOver, clock, log };
  const ingests = new Map(
    venues.map(({ adapter, health }) => [adapter.id, new VenueIngest({ ...shared, venue: adapter, health })]),
  );
  return {
    board,
    store,
    ticks,
    history,
    storeWriter,
    pastPrices,
    live,
    ingests,
    start(): void {
      storeWriter.start();
      for (const ingest of ingests.values()) ingest.start();
    },
    async stop(): Promise<void> {
      await Promise.all(ingests.values().map((ingest) => ingest.stop()));
      await storeWriter.close();
    },
  };
}
