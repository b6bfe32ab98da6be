import type { BoardMarket, MarketBoard } from "../../../board/index.ts";
import { acceptsOrders } from "../../../domain/close-time.ts";
import type { VenueId } from "../../../domain/market.ts";
import { HOUR_MS } from "../../../lib/durations.ts";
import { BackgroundJobs } from "../../../lib/periodic-job.ts";
import { deleteOldAnalyses, reserveScheduledBatch } from "./analysis-queries.ts";
import type { CurrentEstimates } from "./current-estimates.ts";
import type { LatestEstimates } from "./latest-estimates.ts";
import type { AnalysesPorts } from "./ports.ts";

/** Maximum number of markets that the service analyses without a request. */
const MARKETS_MAX = 200;
const REFRESH_MS = HOUR_MS;
/** Minimum interval between two analyses of a market, because a price can expire each analysis immediately. */
const REPEAT_MS_MIN = 60_000;
/** All markets are due at the first start: 20 every 10 seconds are 200 in less than two minutes. */
const BATCH_PAUSE_MS = 10_000;
const BATCH_SIZE = 20;
const RETENTION_PAUSE_MS = HOUR_MS;

type ScheduledAnalysesPorts = Pick<AnalysesPorts, "database" | "board" | "clock" | "log" | "venues"> & {
  readonly latest: Pick<LatestEstimates, "find" | "loaded">;
  readonly estimates: Pick<CurrentEstimates, "isExpired">;
  readonly request: (market: BoardMarket) => Promise<unknown>;
};

/**
 * Returns the markets of `selectMostTraded` without a usable analysis of the last hour: first those without any, then
 * those whose analysis has expired, then those with the oldest analysis.
 */
function selectDue({ board, latest, estimates, venues }: ScheduledAnalysesPorts, now: number): BoardMarket[] {
  const dueSince = (market: BoardMarket): number => {
    const { venue, marketId } = market.listing;
    const found = latest.find(venue, marketId);
    if (found === null) return 0;
    const isRepeated = found.analysedAt <= now - REPEAT_MS_MIN && estimates.isExpired(market);
    return isRepeated ? 1 : found.analysedAt;
  };
  return selectMostTraded(board, venues, MARKETS_MAX)
    .filter(({ listing, updatedAt }) => acceptsOrders(listing, updatedAt, now))
    .map((market) => ({ market, since: dueSince(market) }))
    .filter(({ since }) => since <= now - REFRESH_MS)
    .sort((a, b) => a.since - b.since)
    .slice(0, BATCH_SIZE)
    .map(({ market }) => market);
}

/**
 * Returns the most traded active markets, ordered by their rank within their venue. Half of the places are shared
 * equally by the venues, the other half in proportion to their numbers of markets; a venue without enough markets
 * leaves its places to the others.
 *
 * Markets are ranked by the sum of 24-hour volume and open interest in USD. An unknown value counts as 0, because some
 * venues publish only one of the two.
 */
export function selectMostTraded(
  board: Pick<MarketBoard, "list" | "findRows">,
  venues: readonly VenueId[],
  marketsMax: number,
): BoardMarket[] {
  const counts = venues.map(
    (venue) => board.findRows({ venues: [venue], statuses: ["active"], category: null, text: null }).length,
  );
  const total = counts.reduce((sum, count) => sum + count, 0);
  const ranked = venues.map((venue) => rankByTrade(board, venue, marketsMax));
  const places = counts.map((count, index) => {
    const share = total === 0 ? 0 : (1 / venues.length + count / total) / 2;
    return Math.min(ranked[index]?.length ?? 0, Math.round(marketsMax * share));
  });
  const selected: BoardMarket[] = [];
  const take = (isAllowed: (venue: number, rank: number) => boolean): void => {
    for (let rank = 0; rank < marketsMax; rank++)
      for (const [venue, markets] of ranked.entries()) {
        const market = markets[rank];
        if (market !== undefined && selected.length < marketsMax && isAllowed(venue, rank)) selected.push(market);
      }
  };
  take((venue, rank) => rank < (places[venue] ?? 0));
  take((venue, rank) => rank >= (places[venue] ?? 0));
  return selected;
}

/**
 * The most traded markets of one venue. The board sorts by one figure at a time, so the leaders by each are merged and
 * sorted by the sum.
 */
function rankByTrade(board: Pick<MarketBoard, "list">, venue: VenueId, limit: number): BoardMarket[] {
  const listBy = (sort: "volume_24h" | "open_interest") =>
    board.list({ venues: [venue], statuses: ["active"], category: null, text: null, sort, limit, after: null });
  const byRow = new Map([...listBy("volume_24h"), ...listBy("open_interest")].map((market) => [market.row, market]));
  return [...byRow.values()].sort((a, b) => tradedUsd(b) - tradedUsd(a)).slice(0, limit);
}

const tradedUsd = ({ activity }: BoardMarket): number => (activity.volume24hUsd ?? 0) + (activity.openInterestUsd ?? 0);

/**
 * Keeps a light analysis of every venue's most traded markets fresh, so that the track record does not depend on the
 * requests of customers, and deletes old analyses. Nodes share the work: one of them queues each batch.
 */
export function createScheduledAnalyses(ports: ScheduledAnalysesPorts) {
  const { database, clock, log, latest, request } = ports;
  const jobs = new BackgroundJobs(clock, log);

  const queueBatch = async () => {
    const due = selectDue(ports, clock.now());
    if (due.length === 0 || !(await reserveScheduledBatch(database, clock.now(), BATCH_PAUSE_MS))) return;
    for (const market of due) {
      if (jobs.isStopping) return;
      await request(market);
    }
  };
  const deleteOld = (now: number) => deleteOldAnalyses(database, now, () => jobs.isStopping);
  return {
    queueBatch,
    deleteOld,
    /** Names of the jobs whose last run failed. */
    get failing(): readonly string[] {
      return jobs.failing;
    },
    start(): void {
      jobs.start("analyses", BATCH_PAUSE_MS, async () => {
        // Before that, every market seems to have no analysis.
        await latest.loaded;
        if (!jobs.isStopping) await queueBatch();
      });
      jobs.start("analysis_retention", RETENTION_PAUSE_MS, () => deleteOld(clock.now()));
    },
    stop: (): Promise<void> => jobs.stop(),
  };
}
