import type { VenueId } from "../../../domain/market.ts";
import type { MarketRef } from "../../../domain/market-name.ts";
import { toMillisSql, toTimestampSql } from "../../../lib/timestamp-sql.ts";
import type { Database, Transaction } from "../../../ports/database.ts";
import type { AnalysisRun, AnalysisType, StartedRun } from "./model.ts";

const RUN_COLUMNS = `analysis_id as "analysisId", venue, market_id as "marketId", status, error_message as "errorMessage",
  analysis_type as type, ${toMillisSql("requested_at")} as "requestedAt"`;

export interface NewRun extends Pick<AnalysisRun, "analysisId" | "venue" | "marketId" | "type"> {
  /** Null if the service itself requested the run. */
  readonly customerId: string | null;
  /** Unix milliseconds. */
  readonly now: number;
  /** The running run that this one follows; null for none. */
  readonly follows: string | null;
}

/** Limits of runs that have not started. */
export interface QueueLimits {
  readonly waitingMax: number;
  readonly waitingPerCustomerMax: number;
}

/**
 * Inserts a run, unless the market has one or a limit is reached. Returns its turn, or null.
 *
 * A customer's first waiting run gets the turn of the next run in the queue; each further run of the customer gets the
 * following turn. Runs start in the order of their turns, so customers alternate regardless of their numbers of runs
 * (start-time fair queuing).
 *
 * @see Goyal, Vin, Cheng (1996), "Start-time fair queuing", SIGCOMM
 */
export async function insertRun(transaction: Transaction, run: NewRun, limits: QueueLimits): Promise<number | null> {
  const { analysisId, venue, marketId, type, customerId, now, follows } = run;
  const [row] = await transaction.query<{ turn: number }>(
    `insert into analysis_runs
       (analysis_id, venue, market_id, status, analysis_type, customer_id, turn, requested_at, follows)
     select $1, $2, $3, 'running', $4, $5::text, greatest(waiting.first_turn, waiting.last_own_turn + 1, 0),
       ${toTimestampSql("$6")}, $7::text
     from (
       select count(*) as total, count(*) filter (where customer_id is not distinct from $5::text) as own,
         min(turn) as first_turn, max(turn) filter (where customer_id is not distinct from $5::text) as last_own_turn
       from analysis_runs where status = 'running' and started_at is null
     ) as waiting
     where waiting.total < $8::int8 and waiting.own < $9::int8
     on conflict do nothing
     returning turn`,
    [analysisId, venue, marketId, type, customerId, now, follows, limits.waitingMax, limits.waitingPerCustomerMax],
  );
  return row?.turn ?? null;
}

export interface RunningRun {
  readonly analysisId: string;
  readonly type: AnalysisType;
  readonly isStarted: boolean;
  readonly follows: string | null;
}

/**
 * Selects the running run of a market, then the one that follows it. Neither ends before the transaction does. They are
 * locked in the order in which the end of a run locks them, so that the two cannot deadlock.
 */
export async function lockRunningRuns(
  transaction: Transaction,
  venue: VenueId,
  marketId: string,
): Promise<readonly RunningRun[]> {
  return transaction.query<RunningRun>(
    `select analysis_id as "analysisId", analysis_type as type, started_at is not null as "isStarted", follows
     from analysis_runs where venue = $1 and market_id = $2 and status = 'running'
     order by follows nulls first for update`,
    [venue, marketId],
  );
}

/**
 * Requests research for a running run that was requested without it. Its worker notices the request at the latest at
 * the end of the run. The run is assigned to this customer, whose share of the daily budget pays for the research.
 */
export async function requestRunResearch(
  transaction: Transaction,
  analysisId: string,
  customerId: string | null,
): Promise<void> {
  await transaction.query(
    `update analysis_runs set analysis_type = 'full', customer_id = $2::text
     where analysis_id = $1 and status = 'running'`,
    [analysisId, customerId],
  );
}

export async function insertParticipant(
  transaction: Transaction,
  customerId: string,
  analysisId: string,
  now: number,
): Promise<void> {
  await transaction.query(
    `insert into analysis_participants (customer_id, analysis_id, joined_at) values ($1, $2, ${toTimestampSql("$3")})
     on conflict do nothing`,
    [customerId, analysisId, now],
  );
}

export async function selectRun(database: Database, analysisId: string): Promise<AnalysisRun | null> {
  const [run] = await database.query<AnalysisRun>(
    `select ${RUN_COLUMNS} from analysis_runs where analysis_id = $1`,
    [analysisId],
    "request",
  );
  return run ?? null;
}

/** Selects the running run of a market; not the one that follows it. */
export async function selectRunningRun(
  database: Database,
  { venue, marketId }: MarketRef,
): Promise<AnalysisRun | null> {
  const [run] = await database.query<AnalysisRun>(
    `select ${RUN_COLUMNS} from analysis_runs
     where venue = $1 and market_id = $2 and status = 'running' and follows is null`,
    [venue, marketId],
    "request",
  );
  return run ?? null;
}

export async function countWaitingRuns(
  transaction: Transaction,
  customerId: string | null,
): Promise<{ readonly total: number; readonly own: number }> {
  const [row] = await transaction.query<{ total: number; own: number }>(
    `select count(*) as total, count(*) filter (where customer_id is not distinct from $1::text) as own
     from analysis_runs where status = 'running' and started_at is null`,
    [customerId],
  );
  return row ?? { total: 0, own: 0 };
}

export async function selectRunCounts(
  database: Database,
  now: number,
): Promise<{ readonly waiting: number; readonly active: number; readonly oldestSeconds: number | null }> {
  const [row] = await database.query<{ waiting: number; active: number; oldestSeconds: number | null }>(
    `select count(*) filter (where started_at is null)::int4 as waiting,
       count(*) filter (where started_at is not null)::int4 as active,
       greatest(0, extract(epoch from ${toTimestampSql("$1")} - min(requested_at) filter (where started_at is null)))::float8
         as "oldestSeconds"
     from analysis_runs where status = 'running'`,
    [now],
  );
  return row ?? { waiting: 0, active: 0, oldestSeconds: null };
}

/** Starts a run under a new fence. Returns null if it has ended. */
export async function startRun(database: Database, analysisId: string, now: number): Promise<StartedRun | null> {
  const [run] = await database.query<StartedRun>(
    `update analysis_runs set fence = fence + 1, attempts = attempts + 1, started_at = coalesce(started_at, ${toTimestampSql("$2")})
     where analysis_id = $1 and status = 'running' and follows is null
     returning ${RUN_COLUMNS}, attempts, fence, ${toMillisSql("started_at")} as "startedAt", research_state as "researchState"`,
    [analysisId, now],
  );
  return run ?? null;
}

/** Stores the state of the research. Returns false if another worker has taken the run over. */
export async function saveResearchState(database: Database, run: StartedRun, state: string): Promise<boolean> {
  const rows = await database.query(
    `update analysis_runs set research_state = $3
     where analysis_id = $1 and fence = $2::int8 and status = 'running' returning 1`,
    [run.analysisId, run.fence, state],
  );
  return rows.length > 0;
}

/** Undoes the start of a run whose worker is shutting down, so that it does not count as a failed attempt. */
export async function undoRunStart(database: Database, run: StartedRun): Promise<void> {
  await database.query(
    "update analysis_runs set attempts = attempts - 1 where analysis_id = $1 and fence = $2::int8 and status = 'running'",
    [run.analysisId, run.fence],
  );
}

/**
 * Ends a run without a result.
 *
 * @param fence  null ends the run under any fence
 * @returns whether it was running, under this fence
 */
export async function failRun(
  transaction: Transaction,
  { analysisId, fence, now }: { readonly analysisId: string; readonly fence: number | null; readonly now: number },
  message: string,
): Promise<boolean> {
  const rows = await transaction.query(
    `update analysis_runs set status = 'error', error_message = $3, finished_at = ${toTimestampSql("$4")}, research_state = null,
       fence = fence + 1
     where analysis_id = $1 and status = 'running' and ($2::int8 is null or fence = $2::int8) returning 1`,
    [analysisId, fence, message, now],
  );
  return rows.length > 0;
}

/** Converts the run that follows an ended one to an ordinary run, and returns it. */
export async function releaseFollower(
  transaction: Transaction,
  analysisId: string,
): Promise<{ readonly analysisId: string; readonly turn: number } | null> {
  const [row] = await transaction.query<{ analysisId: string; turn: number }>(
    `update analysis_runs set follows = null where follows = $1 and status = 'running'
     returning analysis_id as "analysisId", turn`,
    [analysisId],
  );
  return row ?? null;
}

/** Selects running runs that were requested before `beforeMs` (Unix). */
export async function selectOverdueRuns(database: Database, beforeMs: number, limit: number): Promise<AnalysisRun[]> {
  return database.query<AnalysisRun>(
    `select ${RUN_COLUMNS} from analysis_runs
     where status = 'running' and requested_at < ${toTimestampSql("$1")} order by requested_at limit ${limit}`,
    [beforeMs],
  );
}

/** The 80% quantile of the seconds from request to result of the last runs of each type that had a result. */
export async function selectRunDurations(
  database: Database,
  runsMax: number,
): Promise<readonly { readonly type: AnalysisType; readonly seconds: number }[]> {
  return database.query<{ type: AnalysisType; seconds: number }>(
    `select analysis_type as type,
       percentile_disc(0.8) within group (order by extract(epoch from finished_at - requested_at)::float8) as seconds
     from (
       select * from analysis_runs where status <> 'running' order by finished_at desc limit ${runsMax}
     ) as recent
     where status = 'complete' group by analysis_type`,
    [],
    "request",
  );
}
