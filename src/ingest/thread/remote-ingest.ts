import type { BoardMarket, MarketBoard } from "../../board/index.ts";
import type { MarketRef } from "../../domain/market-name.ts";
import { BackgroundJobs } from "../../lib/periodic-job.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Database } from "../../ports/database.ts";
import type { Log } from "../../ports/log.ts";
import { createHistoryStore, StoredPastPrices } from "../../storage/index.ts";
import { createActiveMarketCounter } from "../board-maintenance.ts";
import type { IngestVenue } from "../context.ts";
import { createLastHourFigures, LAST_HOURS_PAUSE_MS } from "../last-hour-figures.ts";
import type { Ingest } from "../model.ts";
import { NO_STORE_COUNTERS } from "../store-writer.ts";
import { connectIngest, type IngestThread } from "./connect-ingest.ts";

export interface RemoteIngestOptions {
  readonly venues: readonly IngestVenue[];
  readonly board: MarketBoard;
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Starts a thread that runs `serveIngest`. */
  readonly spawn: () => IngestThread;
}

const refOf = ({ listing: { venue, marketId } }: BoardMarket): MarketRef => ({ venue, marketId });

/** Creates an ingest that runs in a thread of its own. The board of this thread follows it. */
export function createRemoteIngest<Figures>(
  options: RemoteIngestOptions,
): Ingest & { readonly figures: Figures | null } {
  const { board, database, clock, log } = options;
  const venues = new Map(options.venues.map((venue) => [venue.adapter.id, venue]));
  const countActive = createActiveMarketCounter(board, clock);
  const thread = connectIngest<Figures>(options);
  const jobs = new BackgroundJobs(clock, log);
  const lastHours = createLastHourFigures({ board, database, clock, venues: [...venues.keys()] });
  const pastPrices = new StoredPastPrices({
    history: createHistoryStore(database),
    venues: options.venues.map(({ adapter: { id } }) => ({
      id,
      getHistory: ({ marketId }, range, signal) => thread.call("getHistory", [{ venue: id, marketId }, range], signal),
    })),
    board: {
      find: (venue, marketId) => board.find(venue, marketId),
      annotate(market, fields) {
        if (fields.priceDayAgo != null)
          thread
            .call("setPriceDayAgo", [refOf(market), fields.priceDayAgo])
            .catch((error: unknown) =>
              log.debug(
                { err: error },
                "could not send the price of a day ago to the ingest thread; its next job sets it",
              ),
            );
        return board.annotate(market, fields);
      },
    },
    clock,
    store: (market) => thread.call("storeMarket", [refOf(market)]),
  });

  return {
    async restore() {
      const markets = await thread.restore();
      board.prepareLists();
      return markets;
    },
    start() {
      thread.start();
      jobs.start("last_hours", LAST_HOURS_PAUSE_MS, () => lastHours.refresh());
    },
    get isSettled() {
      return thread.status?.isSettled ?? false;
    },
    health() {
      const { status, statusAgeMs, isReporting } = thread;
      const counts = countActive();
      return Object.fromEntries(
        options.venues.map(({ adapter: { id }, health }) => {
          const report = status?.venues[id] ?? null;
          const role = report?.role ?? "ingest";
          return [id, { ...health.adjustForAge(report, statusAgeMs, isReporting, counts.get(id) ?? 0), role }];
        }),
      );
    },
    thread: {
      get isUp() {
        return thread.isReporting || (thread.status === null && thread.restarts === 0);
      },
      get restarts() {
        return thread.restarts;
      },
    },
    lookUp: (venue, marketId) => thread.call("lookUp", [venue, marketId]),
    books: {
      read: (market) => thread.call("readBook", [refOf(market)]),
      readOrLast: (market) => thread.call("readBookOrLast", [refOf(market)]),
      tracked: (markets) => thread.call("trackedBooks", [markets.map(({ venue, marketId }) => ({ venue, marketId }))]),
    },
    trades: { read: (market, after, limit) => thread.call("readTrades", [refOf(market), after, limit]) },
    detailsOf: (listing) => venues.get(listing.venue)?.adapter.detailsOf(listing) ?? null,
    pastPrices,
    lastHours,
    get counters() {
      return thread.status?.counters ?? NO_STORE_COUNTERS;
    },
    get failingJobs() {
      return [...jobs.failing, ...(thread.status?.failingJobs ?? [])];
    },
    get figures() {
      return thread.status?.figures ?? null;
    },
    async stop() {
      await Promise.all([jobs.stop(), thread.stop()]);
    },
  };
}
