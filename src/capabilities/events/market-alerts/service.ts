import type { BoardMarket } from "../../../board/index.ts";
import type { VenueId } from "../../../domain/market.ts";
import type { EventLog } from "../../../event-log/index.ts";
import type { LiveObserver } from "../../../ingest/index.ts";
import { PeriodicJob } from "../../../lib/periodic-job.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Database } from "../../../ports/database.ts";
import type { Log } from "../../../ports/log.ts";
import { EVENT_MARKET_ID_LENGTH_MAX } from "../../../storage/index.ts";
import { logPriceShifts, logWhales } from "./log-alerts.ts";
import type { AlertLimits } from "./model.ts";
import { PriceShiftDetector } from "./price-shift-detector.ts";
import { WhaleDetector } from "./whale-detector.ts";

/** Time for which candidates are collected into one batch. */
const COLLECT_MS = 50;
const RETRY_MS = 1_000;
const PRUNE_EVERY_MS = 5 * 60_000;

export interface MarketAlertsOptions {
  readonly database: Database;
  readonly eventLog: Pick<EventLog, "announce">;
  readonly clock: Clock;
  readonly log: Log;
  /** Venues whose markets have alerts. */
  readonly venues: readonly VenueId[];
  readonly limits: AlertLimits;
  readonly requestTakers: (market: BoardMarket) => void;
}

/** Counts since the start: logged events, and observations that were dropped because of a limit. */
export interface AlertFigures {
  readonly logged: number;
  readonly dropped: number;
  readonly watchedMarkets: number;
}

/** Detects price shifts and exceptionally large trades in live data, and writes them to the event log. */
export function createMarketAlerts(options: MarketAlertsOptions) {
  const { database, eventLog, clock, log, limits } = options;
  const venues = new Set(options.venues);
  const prices = new PriceShiftDetector(limits.priceShift);
  const whales = new WhaleDetector(limits.whale, options.requestTakers);
  let logged = 0;
  let isRunning = false;
  let isStopped = true;
  let cancelRun: () => void = () => {};
  let writing: Promise<void> = Promise.resolve();

  const hasCandidates = () => prices.candidateCount + whales.candidateCount > 0;
  const write = async () => {
    const added =
      (await logPriceShifts(prices, database, limits.priceShift)) +
      (await logWhales(whales, { database, clock }, limits.whale));
    logged += added;
    if (added > 0) eventLog.announce();
  };
  const schedule = (delayMs: number) => {
    if (isRunning || isStopped || !hasCandidates()) return;
    isRunning = true;
    cancelRun = clock.setTimeout(() => {
      writing = write()
        .then(() => COLLECT_MS)
        .catch((err: unknown) => {
          log.warn({ err }, "alerts could not be written and will be retried");
          return RETRY_MS;
        })
        .then((nextMs) => {
          isRunning = false;
          schedule(nextMs);
        });
    }, delayMs);
  };
  const pruning = new PeriodicJob({
    clock,
    delayMs: PRUNE_EVERY_MS,
    intervalMs: PRUNE_EVERY_MS,
    run: () => prices.prune(clock.now()),
  });
  const isWatched = ({ listing: { venue, marketId, status } }: BoardMarket) =>
    venues.has(venue) && status === "active" && marketId.length <= EVENT_MARKET_ID_LENGTH_MAX;

  /** Receives live prices and trades. */
  const observer: LiveObserver = {
    onStart(venue) {
      prices.forget(venue);
      whales.forget(venue);
    },
    onPrice(market, previous, at) {
      if (!isWatched(market)) return false;
      const mustConfirm = prices.add(market, previous, at);
      schedule(COLLECT_MS);
      return mustConfirm;
    },
    onTrade(market, trade, isRepeated) {
      if (!isWatched(market)) return;
      whales.add(market, trade, isRepeated, clock.now());
      schedule(COLLECT_MS);
    },
  };
  return {
    observer,
    get figures(): AlertFigures {
      return { logged, dropped: prices.dropped + whales.dropped, watchedMarkets: prices.size };
    },
    start(): void {
      isStopped = false;
      pruning.start();
      schedule(COLLECT_MS);
    },
    /** Tries once to log the queued alerts, and ends. */
    async stop(): Promise<void> {
      isStopped = true;
      cancelRun();
      await Promise.all([pruning.stop(), writing]);
      if (!hasCandidates()) return;
      await write().catch((err: unknown) =>
        log.warn({ err }, "alerts could not be written before the service stopped"),
      );
    },
  };
}
