import type { BoardMarket, MarketBoard } from "../../board/index.ts";
import type { VenueId } from "../../domain/market.ts";
import { BackgroundJobs } from "../../ingest/index.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Database } from "../../ports/database.ts";
import type { Log } from "../../ports/log.ts";
import { deleteOldAnalyses, reserveHouseBatch } from "./analysis-queries.ts";
import type { CurrentEstimates } from "./current-estimates.ts";
import type { LatestEstimates } from "./latest-estimates.ts";

/** Markets that the service analyses itself. */
const MARKETS_MAX = 200;
const REFRESH_MS = 3_600_000;
/** All markets are due at the first start. Small batches spread their analyses over ten minutes, then and ever after. */
const BATCH_PAUSE_MS = 30_000;
const BATCH_SIZE = 10;
const RETENTION_PAUSE_MS = 3_600_000;

export interface HouseJobPorts {
  readonly database: Database;
  readonly board: MarketBoard;
  readonly clock: Clock;
  readonly log: Log;
  readonly latest: Pick<LatestEstimates, "find" | "loaded">;
  readonly estimates: Pick<CurrentEstimates, "isExpired">;
  /** Ids of the venues that clients can query. */
  readonly venues: readonly VenueId[];
  readonly request: (market: BoardMarket) => Promise<unknown>;
}

/** Returns the most liquid markets whose latest analysis is missing or an hour old, those without one first. */
function selectDue({ board, latest, venues }: HouseJobPorts, now: number): BoardMarket[] {
  const analysedAt = ({ listing }: BoardMarket) => latest.find(listing.venue, listing.marketId)?.analysedAt ?? 0;
  return board
    .list({
      ...{ venues, statuses: ["active"], category: null, text: null },
      ...{ sort: "liquidity", limit: MARKETS_MAX, after: null },
    })
    .filter((market) => analysedAt(market) <= now - REFRESH_MS)
    .sort((a, b) => analysedAt(a) - analysedAt(b))
    .slice(0, BATCH_SIZE);
}

/**
 * Keeps a light analysis of the most liquid markets fresh, so that the track record does not depend on what customers ask
 * for, and deletes old analyses. Nodes share the work: one of them queues each batch.
 */
export function createHouseJob(ports: HouseJobPorts) {
  const { database, clock, log, latest, request } = ports;
  const jobs = new BackgroundJobs(clock, log);
  let isStopping = false;

  const queueBatch = async () => {
    const due = selectDue(ports, clock.now());
    if (due.length === 0 || !(await reserveHouseBatch(database, clock.now(), BATCH_PAUSE_MS))) return;
    for (const market of due) {
      if (isStopping) return;
      await request(market);
    }
  };
  const deleteOld = (now: number) => deleteOldAnalyses(database, now, () => isStopping);
  return {
    queueBatch,
    deleteOld,
    /** Names of the jobs whose last run failed. */
    get failing(): readonly string[] {
      return jobs.failing;
    },
    start(): void {
      jobs.start("analyses", BATCH_PAUSE_MS, async () => {
        // Before, every market seems to have no analysis.
        await latest.loaded;
        if (!isStopping) await queueBatch();
      });
      jobs.start("analysis_retention", RETENTION_PAUSE_MS, () => deleteOld(clock.now()));
    },
    stop(): Promise<void> {
      isStopping = true;
      return jobs.stop();
    },
  };
}
