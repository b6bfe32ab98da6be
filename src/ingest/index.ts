/** Ingest: reads the venues and keeps the board and the store up to date. */
import type { MarketBoard } from "../board/index.ts";
import type { VenueId } from "../domain/market.ts";
import type { EventLog } from "../event-log/index.ts";
import { currentCaller } from "../lib/current-caller.ts";
import { DAY_MS, HOUR_MS } from "../lib/durations.ts";
import { BackgroundJobs } from "../lib/periodic-job.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Database } from "../ports/database.ts";
import type { Log } from "../ports/log.ts";
import type { VenueAdapter } from "../ports/venue.ts";
import {
  createChangeStore,
  createHistoryStore,
  createMarketStore,
  createTickWriter,
  DEFAULT_RETENTION,
  type HistoryStore,
  type MarketStore,
  planRetention,
  type RetentionDays,
  reclaimSpace,
  StoredPastPrices,
} from "../storage/index.ts";
import { createActiveMarketCounter, removeSettledMarkets, updateDayAgoPrices } from "./board-maintenance.ts";
import { createBookReader } from "./book-reader.ts";
import { CHANGES_TOPIC, Cluster, type NodeSettings } from "./cluster.ts";
import type { IngestContext, IngestVenue } from "./context.ts";
import { createLastHourFigures, LAST_HOURS_PAUSE_MS } from "./last-hour-figures.ts";
import { createLiveFeed } from "./live-feed.ts";
import type { LocalIngest } from "./model.ts";
import { createLookUps } from "./on-demand/look-ups.ts";
import { TradeHistory } from "./on-demand/trade-history.ts";
import { createUnknownMarketStore, type UnknownMarketStore } from "./on-demand/unknown-market-store.ts";
import { VenueRequestQueue } from "./on-demand/venue-request-queue.ts";
import { StoreWriter } from "./store-writer.ts";
import type { VenueStatusReport } from "./venue-health.ts";
import { VenueReaders } from "./venue-ingest.ts";

export type { NodeSettings } from "./cluster.ts";
export type { IngestVenue } from "./context.ts";
export { createLeaseStore } from "./lease-store.ts";
export type { LiveObserver } from "./live-feed.ts";
export type { Ingest, LocalIngest } from "./model.ts";
export type { TradePage } from "./on-demand/trade-history.ts";
export type { IngestThread } from "./thread/connect-ingest.ts";
export { createRemoteIngest } from "./thread/remote-ingest.ts";
export { serveIngest } from "./thread/serve-ingest.ts";
export { VenueHealth, type VenueStatusReport } from "./venue-health.ts";

/** How long finalized markets stay on the board after their last update. */
const FINALIZED_ON_BOARD_MS = 30 * DAY_MS;
/** Timeout of a request for price history on behalf of a client. */
const HISTORY_MS_MAX = 7_000;
const ROLL_UP_PAUSE_MS = 60_000;
const DAY_AGO_PAUSE_MS = 2 * 60_000;
const RETENTION_PAUSE_MS = HOUR_MS;
const UNKNOWN_MARKETS_PAUSE_MS = 60_000;
const RECLAIM_SPACE_PAUSE_MS = 5 * 60_000;

export interface IngestOptions {
  readonly venues: readonly IngestVenue[];
  readonly board: MarketBoard;
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly eventLog: EventLog;
  readonly eventDays: number;
  /** Overrides of the default retention. */
  readonly retention?: Partial<RetentionDays>;
  /** Size of the embedded store's folder above which the oldest data is deleted early; unlimited by default. */
  readonly storeBytesMax?: number | null;
  /** Set if several processes share the store. By default this process has all roles. */
  readonly node?: NodeSettings;
  /** Announces stored changes to the other processes. Without a bus they poll twice a second. */
  readonly bus?: Bus;
  /** Whether another thread answers requests, so that figures that only requests need are not read; false by default. */
  readonly isServedElsewhere?: boolean;
}

export function createIngest(options: IngestOptions): LocalIngest {
  const { board, database, clock, log, node, eventLog } = options;
  const venues = new Map(options.venues.map((venue) => [venue.adapter.id, venue]));
  const hasBoard = node === undefined || node.serves || node.ingests || node.maintains;
  const { partitionMs } = planRetentionOf(options);
  const finalizedSinceMs = () => clock.now() - FINALIZED_ON_BOARD_MS;

  const store = createMarketStore(database, () => eventLog.announce());
  const changes = createChangeStore(database);
  const history = createHistoryStore(database);
  const ticks = createTickWriter({ database, clock, log, partitionMs });
  const storeWriter = new StoreWriter({
    board,
    store,
    ticks,
    clock,
    log,
    shared:
      node === undefined
        ? undefined
        : {
            fenceOf: (venue) => cluster?.fenceOf(venue) ?? null,
            changes,
            announce: () => options.bus?.publish(CHANGES_TOPIC),
          },
    isFirstSweep: () => !readers.areFirstSweepsOver(),
  });
  const requests = new VenueRequestQueue(clock, (id) => venues.get(id)?.adapter.profile.requestsPerSecond ?? 1);
  const histories = options.venues.map(({ adapter }) => limitHistory(adapter, requests));
  const pastPrices = new StoredPastPrices({
    history,
    venues: histories,
    board,
    clock,
    store: (market) => storeWriter.flushMarket(market),
  });
  const live = createLiveFeed(clock);
  const context: IngestContext = {
    venues,
    board,
    storeWriter,
    changes,
    pastPrices,
    live,
    finalizedSinceMs,
    clock,
    log,
  };
  const readers = new VenueReaders(context);
  const unknownMarkets = createUnknownMarketStore(database);
  const { books, trades, lookUps } = createOnDemandReads({ ...context, readers, requests, store, unknownMarkets });
  const flush = async () => {
    await storeWriter.flush();
    await ticks.flush();
  };
  const cluster =
    node === undefined ? null : new Cluster({ ...context, node, readers, database, bus: options.bus, flush });
  const jobs = new BackgroundJobs(clock, log);
  const lastHours = createLastHourFigures({ board, database, clock, venues: [...venues.keys()] });
  const countActive = createActiveMarketCounter(board, clock);

  const startJobs = () => {
    if (hasBoard) {
      jobs.start("price_day_ago", DAY_AGO_PAUSE_MS, () => updateDayAgoPrices(board, history, clock));
      if (options.isServedElsewhere !== true) jobs.start("last_hours", LAST_HOURS_PAUSE_MS, () => lastHours.refresh());
      jobs.start("forget_settled", RETENTION_PAUSE_MS, () => removeSettledMarkets(board, finalizedSinceMs()));
    }
    if (node?.maintains === false) return;
    startMaintenance(jobs, options, {
      history,
      unknownMarkets,
      isOurs: () => cluster === null || cluster.isMaintainer,
    });
  };

  return {
    async restore() {
      if (!hasBoard) return 0;
      await cluster?.skipToPresent();
      for await (const events of store.loadEvents()) for (const event of events) board.applyEvent(event);
      for await (const page of store.loadAll({ finalizedSinceMs: finalizedSinceMs() })) {
        for (const { snapshot, key } of page) if (venues.has(snapshot.listing.venue)) board.restore(snapshot, key);
      }
      board.prepareLists();
      return board.size;
    },
    start() {
      storeWriter.start();
      if (cluster === null) for (const venue of venues.keys()) readers.start(venue);
      cluster?.start(hasBoard);
      startJobs();
    },
    get isSettled() {
      return (
        !hasBoard ||
        options.venues.every(({ adapter: { id }, health }) =>
          cluster === null || readers.has(id) ? health.isSettled : cluster.isSettledElsewhere(id, health),
        )
      );
    },
    health: () => reportHealth(options.venues, countActive(), (venue) => (readers.has(venue) ? null : cluster)),
    lookUp: (venue, marketId) => lookUps.find(venue, marketId),
    books,
    trades,
    detailsOf: (listing) => venues.get(listing.venue)?.adapter.detailsOf(listing) ?? null,
    pastPrices,
    lastHours,
    thread: null,
    observe: (observer) => live.observe(observer),
    async getHistory(listing, range, signal) {
      return histories.find(({ id }) => id === listing.venue)?.getHistory(listing, range, signal) ?? [];
    },
    storeMarket: (market) => storeWriter.flushMarket(market),
    requestTakers: ({ listing }) => readers.find(listing.venue)?.requestTakers(listing.marketId),
    get counters() {
      return storeWriter.counters;
    },
    get failingJobs() {
      return jobs.failing;
    },
    async stop() {
      const jobsStopped = jobs.stop();
      await cluster?.stopLeases();
      await readers.stopAll();
      await cluster?.stopFollowing();
      await jobsStopped;
      await storeWriter.close();
    },
  };
}

/** @param followedBy  returns the cluster that follows a venue; null if this node reads it */
function reportHealth(
  venues: readonly IngestVenue[],
  counts: ReadonlyMap<VenueId, number>,
  followedBy: (venue: VenueId) => Cluster | null,
): Record<VenueId, VenueStatusReport> {
  return Object.fromEntries(
    venues.map(({ adapter: { id }, health }): [VenueId, VenueStatusReport] => {
      const markets = counts.get(id) ?? 0;
      const report = followedBy(id)?.followedHealth(id, markets, health);
      return [id, report ?? { ...health.report(markets), role: "ingest" }];
    }),
  );
}

/** Creates the readers that send requests to the venues for clients: order books, trades and unknown markets. */
function createOnDemandReads(
  context: IngestContext & {
    readonly readers: VenueReaders;
    readonly requests: VenueRequestQueue;
    readonly store: MarketStore;
    readonly unknownMarkets: UnknownMarketStore;
  },
) {
  const { board, readers } = context;
  return {
    books: createBookReader({
      ...context,
      trackedBookOf: (venue, marketId) => readers.find(venue)?.bookOf(marketId) ?? null,
    }),
    trades: new TradeHistory(context),
    lookUps: createLookUps({
      ...context,
      isListed: (venue, marketId) => board.find(venue, marketId) !== null,
      applyPage: (venue, page) => readers.applyPage(venue, page),
    }),
  };
}

/**
 * Sends clients' requests for price history through `requests`, which limits them. A client that disconnects does not
 * abort its request, because other clients may share the request. The service's own reads are not limited here.
 */
function limitHistory(adapter: VenueAdapter, requests: VenueRequestQueue): Pick<VenueAdapter, "id" | "getHistory"> {
  return {
    id: adapter.id,
    getHistory(listing, range, signal) {
      if (currentCaller() === null) return adapter.getHistory(listing, range, signal);
      const id = `history ${range.fromMs} ${range.intervalMs} ${listing.marketId}`;
      return requests.run(adapter.id, id, HISTORY_MS_MAX, (deadline) => adapter.getHistory(listing, range, deadline));
    },
  };
}

function planRetentionOf({ retention, storeBytesMax = null }: IngestOptions): ReturnType<typeof planRetention> {
  return planRetention({ ...DEFAULT_RETENTION, ...retention }, storeBytesMax);
}

/** Starts the jobs that one node runs for all nodes: bars, retention and free space. */
function startMaintenance(
  jobs: BackgroundJobs,
  options: IngestOptions,
  {
    history,
    unknownMarkets,
    isOurs,
  }: { readonly history: HistoryStore; readonly unknownMarkets: UnknownMarketStore; readonly isOurs: () => boolean },
): void {
  const { database, clock, eventLog, eventDays, storeBytesMax = null } = options;
  const { retention, partitionMs } = planRetentionOf(options);
  const run = (name: string, pauseMs: number, step: () => Promise<unknown>) => jobs.start(name, pauseMs, step, isOurs);
  run("roll_up", ROLL_UP_PAUSE_MS, () => history.rollUp(clock.now()));
  run("retention", RETENTION_PAUSE_MS, () => history.applyRetention(clock.now(), retention, partitionMs));
  run("unknown_markets", UNKNOWN_MARKETS_PAUSE_MS, () => unknownMarkets.removeOld());
  run("reclaim_space", RECLAIM_SPACE_PAUSE_MS, () => reclaimSpace(database, clock.now(), storeBytesMax));
  run("event_retention", RETENTION_PAUSE_MS, () => eventLog.applyRetention(eventDays));
}
