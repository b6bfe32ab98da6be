/** Ingest: reads the venues and keeps the board and the store true. */
import { VenueError } from "../../domain/errors.ts";
import type { VenueId } from "../../domain/market.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Database } from "../../ports/database.ts";
import type { Log } from "../../ports/log.ts";
import type { VenueAdapter } from "../../ports/venue.ts";
import {
  createHistoryStore,
  createMarketStore,
  createTickWriter,
  DEFAULT_RETENTION,
  type TickCounters,
} from "../history/index.ts";
import type { MarketBoard, PastPrices } from "../markets/index.ts";
import { Backfill } from "./backfill.ts";
import { StoredPastPrices } from "./past-prices.ts";
import { Recorder } from "./recorder.ts";
import type { VenueHealth, VenueHealthReport } from "./venue-health.ts";
import { VenueIngest } from "./venue-ingest.ts";

export { VenueHealth, type VenueHealthReport } from "./venue-health.ts";

const LOOK_UP_MS_MAX = 4_000;
/** Callers may not use up a venue's request budget with ids that nobody knows: the ingest needs it. */
const LOOK_UPS_MAX = 4;
const SETTLED_SHOWN_MS = 30 * 86_400_000;
const ROLL_UP_EVERY_MS = 60_000;
const DAY_AGO_EVERY_MS = 2 * 60_000;
/** After this many markets in one go, whoever else waits has a turn. */
const MARKETS_AT_ONCE = 1_000;
const RETENTION_EVERY_MS = 3_600_000;

export interface IngestOptions {
  readonly venues: readonly { readonly adapter: VenueAdapter; readonly health: VenueHealth }[];
  readonly board: MarketBoard;
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly rawTickDays: number;
}

export interface Ingest {
  /** Fills the board from the store; afterwards what was known before the restart can be read. */
  restore(): Promise<number>;
  start(): void;
  /** Every venue's first sweep has ended, well or badly. */
  readonly isSettled: boolean;
  health(): Record<VenueId, VenueHealthReport>;
  /** Asks a venue for one market and puts it on the board; false where the venue does not know it. */
  lookUp(venue: VenueId, marketId: string): Promise<boolean>;
  readonly past: PastPrices;
  /** Rows on their way into the store. */
  readonly counters: IngestCounters;
  /** What the background jobs last failed with, by name; empty when all is well. */
  readonly failingJobs: readonly string[];
  stop(): Promise<void>;
}

/** Written and dropped count since the start; queued is now. */
export interface IngestCounters {
  readonly ticks: TickCounters;
  readonly markets: { readonly queued: number };
  readonly trades: { readonly queued: number; readonly dropped: number };
  readonly statusChanges: { readonly dropped: number };
}

export function createIngest(options: IngestOptions): Ingest {
  const { venues, board, database, clock, log } = options;
  const store = createMarketStore(database);
  const history = createHistoryStore(database);
  const ticks = createTickWriter({ database, clock, log });
  const recorder = new Recorder({ board, store, ticks, clock, log });
  const past = new StoredPastPrices({
    history,
    venues: venues.map(({ adapter }) => adapter),
    board,
    clock,
    flush: () => recorder.flush(),
  });
  const areSettled = () => venues.every(({ health }) => health.isSettled);
  const ingests = new Map(
    venues.map(({ adapter, health }) => {
      const backfill = new Backfill({ venue: adapter.id, board, past });
      return [
        adapter.id,
        {
          adapter,
          health,
          ingest: new VenueIngest({
            venue: adapter,
            board,
            recorder,
            backfill,
            health,
            areFirstSweepsOver: areSettled,
            clock,
            log,
          }),
        },
      ] as const;
    }),
  );
  const stopping = new AbortController();
  const failing = new Set<string>();
  const lookUps = new Map<VenueId, number>();
  let jobs: Promise<void>[] = [];

  const job = async (name: string, everyMs: number, run: () => Promise<unknown>) => {
    while (!stopping.signal.aborted) {
      try {
        await run();
        failing.delete(name);
      } catch (error) {
        failing.add(name);
        log.warn({ job: name, err: error }, "background job failed and will run again");
      }
      await clock.sleep(everyMs, stopping.signal).catch(() => {});
    }
  };

  const readDayAgo = async () => {
    const prices = await history.priceDayAgo(clock.now());
    let annotated = 0;
    for (const market of board.markets()) {
      const price = market.storeKey === null ? undefined : prices.get(market.storeKey);
      if (price === undefined || price === market.priceDayAgo) continue;
      board.annotate(market, { priceDayAgo: price });
      annotated += 1;
      if (annotated % MARKETS_AT_ONCE === 0) await clock.sleep(0);
    }
  };

  /** Markets settled long ago leave the board; the store keeps them. */
  const forgetSettled = async () => {
    const before = clock.now() - SETTLED_SHOWN_MS;
    const old = [...board.markets()].filter(
      ({ listing, updatedAt }) => listing.status === "finalized" && updatedAt < before,
    );
    for (const market of old) board.remove(market);
  };

  return {
    async restore() {
      for await (const events of store.loadEvents()) for (const event of events) board.applyEvent(event);
      const ours = new Set(venues.map(({ adapter }) => adapter.id));
      for await (const page of store.loadAll({ finalizedSinceMs: clock.now() - SETTLED_SHOWN_MS })) {
        for (const { snapshot, key } of page) if (ours.has(snapshot.listing.venue)) board.restore(snapshot, key);
      }
      board.prepareLists();
      return board.size;
    },
    start() {
      recorder.start();
      for (const { ingest } of ingests.values()) ingest.start();
      jobs = [
        job("roll_up", ROLL_UP_EVERY_MS, () => history.rollUp(clock.now())),
        job("price_day_ago", DAY_AGO_EVERY_MS, readDayAgo),
        job("forget_settled", RETENTION_EVERY_MS, forgetSettled),
        job("retention", RETENTION_EVERY_MS, () =>
          history.applyRetention(clock.now(), { ...DEFAULT_RETENTION, tickDays: options.rawTickDays }),
        ),
      ];
    },
    get isSettled() {
      return areSettled();
    },
    health() {
      const counts = new Map<VenueId, number>();
      for (const { listing } of board.markets()) {
        if (listing.status === "active") counts.set(listing.venue, (counts.get(listing.venue) ?? 0) + 1);
      }
      return Object.fromEntries([...ingests].map(([id, { health }]) => [id, health.report(counts.get(id) ?? 0)]));
    },
    async lookUp(venue, marketId) {
      const known = ingests.get(venue);
      if (known === undefined) return false;
      const inFlight = lookUps.get(venue) ?? 0;
      if (inFlight >= LOOK_UPS_MAX) {
        throw new VenueError("rate_limited", `${venue} is being asked for too many unknown markets`, {
          retryable: true,
        });
      }
      lookUps.set(venue, inFlight + 1);
      const deadline = AbortSignal.timeout(LOOK_UP_MS_MAX);
      try {
        const page = await known.adapter.findMarket(marketId, deadline);
        if (page !== null) known.ingest.absorb(page);
        return page !== null;
      } catch (error) {
        if (deadline.aborted)
          throw new VenueError("timeout", `${venue} did not answer in time`, { retryable: true, cause: error });
        throw error;
      } finally {
        lookUps.set(venue, (lookUps.get(venue) ?? 1) - 1);
      }
    },
    past,
    get counters() {
      const { marketsQueued, tradesQueued, tradesDropped, statusChangesDropped } = recorder.counters;
      return {
        ticks: ticks.counters,
        markets: { queued: marketsQueued },
        trades: { queued: tradesQueued, dropped: tradesDropped },
        statusChanges: { dropped: statusChangesDropped },
      };
    },
    get failingJobs() {
      return [...failing];
    },
    async stop() {
      stopping.abort();
      await Promise.all([...ingests.values()].map(({ ingest }) => ingest.stop()));
      await Promise.allSettled(jobs);
      await recorder.close();
    },
  };
}
