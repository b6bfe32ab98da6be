import type { Category } from "../../../domain/category.ts";
import type { VenueId } from "../../../domain/market.ts";
import type { MarketRef } from "../../../domain/market-name.ts";
import { deleteRows } from "../../../lib/delete-in-batches.ts";
import { DAY_MS } from "../../../lib/durations.ts";
import { sumOf } from "../../../lib/numbers.ts";
import { toMillisSql, toTimestampSql } from "../../../lib/timestamp-sql.ts";
import type { Database, Transaction } from "../../../ports/database.ts";
import type { AnalysisResult, LatestEstimate, StartedRun, StoredAnalysis } from "./model.ts";

const STORED_COLUMNS = `analyses.analysis_id as "analysisId", analyses.venue, analyses.market_id as "marketId",
  analysis_type as type, ${toMillisSql("analyses.analysed_at")} as "analysedAt", result`;

/**
 * Ends a run with its result. Returns false, and changes nothing, if another worker has taken the run over or research was
 * requested in the meantime.
 */
export async function completeRun(
  transaction: Transaction,
  run: StartedRun,
  stored: StoredAnalysis,
  options: {
    readonly now: number;
    readonly transcript: string | null;
    readonly version: number;
    /** Category of the market; null if it is unknown. */
    readonly category: Category | null;
  },
): Promise<boolean> {
  const { analysis, research } = stored.result;
  const rows = await transaction.query(
    `with finished as (
       update analysis_runs set status = 'complete', finished_at = ${toTimestampSql("$4")}, research_state = null
       where analysis_id = $1 and fence = $2::int8 and status = 'running' and analysis_type = $3
       returning analysis_id, venue, market_id
     ), stored as (
       insert into analyses (analysis_id, venue, market_id, analysis_type, analysed_at, probability, market_price,
         interval_low, interval_high, confidence, recommendation, cost_usd, coefficients_version, category,
         log_odds_change, change_error, daily_move, peer_gap, sibling_gap)
       select analysis_id, venue, market_id, $5, ${toTimestampSql("$6")}, $7::float8, $8::float8, $9::float8, $10::float8,
         $11::float8, $12, $13::float8, $14::int4, $17::text,
         $18::float8, $19::float8, $20::float8, $21::float8, $22::float8
       from finished
     ), result as (
       insert into analysis_results (analysis_id, result, transcript) select analysis_id, $15, $16::text from finished
     ), superseded as (
       delete from analysis_results using finished, latest_analyses as earlier
       where earlier.venue = finished.venue and earlier.market_id = finished.market_id
         and analysis_results.analysis_id = earlier.analysis_id
         and not exists (select from analysis_participants where analysis_id = earlier.analysis_id)
     )
     insert into latest_analyses as latest (venue, market_id, analysis_id, probability, analysed_at)
     select venue, market_id, analysis_id, $7::float8, ${toTimestampSql("$6")} from finished
     on conflict (venue, market_id) do update set analysis_id = excluded.analysis_id,
       probability = excluded.probability, analysed_at = excluded.analysed_at
     returning 1`,
    [
      run.analysisId,
      run.fence,
      run.type,
      options.now,
      stored.type,
      stored.analysedAt,
      analysis.probability,
      analysis.marketPrice,
      analysis.interval.low,
      analysis.interval.high,
      analysis.confidence,
      analysis.recommendation,
      research.costUsd,
      options.version,
      JSON.stringify(stored.result),
      options.transcript,
      options.category,
      sumOf(analysis.changes.map(({ change }) => change)),
      analysis.changeError,
      analysis.dailyMove,
      analysis.gaps.peers,
      analysis.gaps.siblings,
    ],
  );
  return rows.length > 0;
}

interface StoredRow extends Omit<StoredAnalysis, "result"> {
  readonly result: string;
}

/** The service itself stored the result in this form, so its type is trusted. */
const toStored = ({ result, ...row }: StoredRow): StoredAnalysis => ({
  ...row,
  result: JSON.parse(result) as AnalysisResult,
});

export async function selectLatestAnalysis(
  database: Database,
  venue: VenueId,
  marketId: string,
): Promise<StoredAnalysis | null> {
  const [row] = await database.query<StoredRow>(
    `select ${STORED_COLUMNS} from latest_analyses as latest
     join analyses using (analysis_id) join analysis_results using (analysis_id)
     where latest.venue = $1 and latest.market_id = $2`,
    [venue, marketId],
    "request",
  );
  return row === undefined ? null : toStored(row);
}

/** Selects the completed analyses that a caller started or joined, newest first. */
export async function selectAnalysesOfCustomer(
  database: Database,
  customerId: string,
  limit: number,
): Promise<StoredAnalysis[]> {
  const rows = await database.query<StoredRow>(
    `select ${STORED_COLUMNS} from analysis_participants
     join analyses using (analysis_id) join analysis_results using (analysis_id)
     where customer_id = $1 order by analysed_at desc, analysis_id limit $2::int8`,
    [customerId, limit],
    "request",
  );
  return rows.map(toStored);
}

export type LatestEstimateRow = LatestEstimate & MarketRef;

interface EstimateRow extends Omit<LatestEstimateRow, "interval" | "gaps"> {
  readonly low: number;
  readonly high: number;
  readonly peerGap: number;
  readonly siblingGap: number;
}

const ESTIMATE_COLUMNS = `analyses.venue, analyses.market_id as "marketId", market_price as "marketPrice",
  interval_low as low, interval_high as high, log_odds_change as change, change_error as "changeError",
  daily_move as "dailyMove", peer_gap as "peerGap", sibling_gap as "siblingGap",
  ${toMillisSql("analyses.analysed_at")} as "analysedAt"`;

const toEstimate = ({ low, high, peerGap, siblingGap, ...row }: EstimateRow): LatestEstimateRow => ({
  ...row,
  interval: { low, high },
  gaps: { peers: peerGap, siblings: siblingGap },
});

export async function selectLatestEstimates(
  database: Database,
  after: MarketRef,
  limit: number,
): Promise<LatestEstimateRow[]> {
  const rows = await database.query<EstimateRow>(
    `select ${ESTIMATE_COLUMNS} from latest_analyses as latest join analyses using (analysis_id)
     where (latest.venue, latest.market_id) > ($1, $2)
     order by latest.venue, latest.market_id limit $3::int8`,
    [after.venue, after.marketId, limit],
  );
  return rows.map(toEstimate);
}

/** Selects the estimates of analyses; omits those that do not exist. */
export async function selectEstimates(
  database: Database,
  analysisIds: readonly string[],
): Promise<LatestEstimateRow[]> {
  const rows = await database.query<EstimateRow>(
    `select ${ESTIMATE_COLUMNS} from analyses where analysis_id = any($1::text[])`,
    [analysisIds],
  );
  return rows.map(toEstimate);
}

/**
 * Returns the cost in USD of the analyses since a time: of all, and of the customer who started the given run. The
 * latter is 0 if the service started the run or the customer was deleted.
 *
 * @param sinceMs  Unix milliseconds, at most 30 days ago
 */
export async function sumAnalysisCosts(
  database: Database,
  analysisId: string,
  sinceMs: number,
): Promise<{ readonly totalUsd: number; readonly customerUsd: number }> {
  const [row] = await database.query<{ totalUsd: number; customerUsd: number }>(
    `select coalesce(sum(cost_usd), 0)::float8 as "totalUsd",
       coalesce(sum(cost_usd) filter (where runs.customer_id = own.customer_id), 0)::float8 as "customerUsd"
     from analyses left join analysis_runs as runs using (analysis_id)
     left join analysis_runs as own on own.analysis_id = $1
     where analysed_at > ${toTimestampSql("$2")}`,
    [analysisId, sinceMs],
  );
  return row ?? { totalUsd: 0, customerUsd: 0 };
}

/** Deletes the list of a deleted customer's requests. The analyses stay, because they belong to the market. */
export async function deleteParticipations(transaction: Transaction, customerId: string): Promise<void> {
  await transaction.query("delete from analysis_participants where customer_id = $1", [customerId]);
  await transaction.query("update analysis_runs set customer_id = null where customer_id = $1", [customerId]);
}

/** Reserves the next batch of scheduled analyses. Returns false if a batch was queued in the last `pauseMs`. */
export async function reserveScheduledBatch(database: Database, now: number, pauseMs: number): Promise<boolean> {
  const rows = await database.query(
    `insert into scheduled_analyses_batch as batch (is_only, queued_at) values (true, ${toTimestampSql("$1")})
     on conflict (is_only) do update set queued_at = excluded.queued_at
     where batch.queued_at <= ${toTimestampSql("$2")} returning 1`,
    [now, now - pauseMs],
  );
  return rows.length > 0;
}

/** Callers can list and poll their analyses for this time. */
const REQUESTED_DAYS = 30;
/** The track record covers this time. */
const RECORD_DAYS = 400;

/**
 * Deletes runs, lists and results after 30 days and the track record after 400. The latest result of a market stays.
 *
 * @param isStopping  ends the work before the next batch if it returns true
 */
export async function deleteOldAnalyses(
  database: Pick<Database, "query">,
  now: number,
  isStopping: () => boolean,
): Promise<void> {
  const deleteWhere = (table: string, condition: string, ageDays: number) =>
    deleteRows(database, table, condition, now - ageDays * DAY_MS, { shouldStop: isStopping });
  await deleteWhere("analysis_participants", `joined_at < ${toTimestampSql("$1")}`, REQUESTED_DAYS);
  await deleteWhere("analysis_runs", `status <> 'running' and finished_at < ${toTimestampSql("$1")}`, REQUESTED_DAYS);
  const isOld = (age: string) => `exists (select from analyses where analyses.analysis_id = ${age}.analysis_id
    and analysed_at < ${toTimestampSql("$1")})`;
  const isLatest = (table: string) =>
    `exists (select from latest_analyses where latest_analyses.analysis_id = ${table}.analysis_id)`;
  await deleteWhere(
    "analysis_results",
    `${isOld("analysis_results")} and not ${isLatest("analysis_results")}`,
    REQUESTED_DAYS,
  );
  await deleteWhere("latest_analyses", `analysed_at < ${toTimestampSql("$1")}`, RECORD_DAYS);
  await deleteWhere("analysis_results", isOld("analysis_results"), RECORD_DAYS);
  await deleteWhere("analyses", `analysed_at < ${toTimestampSql("$1")}`, RECORD_DAYS);
}
