import type { Side } from "../../../domain/price.ts";
import { deleteRows } from "../../../lib/delete-in-batches.ts";
import { toTimestampSql } from "../../../lib/timestamp-sql.ts";
import type { Database, Transaction } from "../../../ports/database.ts";
import type { CustomerData } from "../../accounts/customers/index.ts";
import {
  type AgentReportTotals,
  CONSENSUS_PERIOD_MS,
  REPORT_RETENTION_MS,
  TRADED_PRICE_MIN,
  type TradeReport,
} from "./model.ts";

export async function selectReportByKey(
  transaction: Transaction,
  customerId: string,
  idempotencyKey: string,
): Promise<TradeReport | null> {
  const [report] = await transaction.query<TradeReport>(
    `select venue, market_id as "marketId", side, price, size_usd as "sizeUsd", client_ref as "clientRef"
     from trade_reports where agent_id = $1 and idempotency_key = $2`,
    [customerId, idempotencyKey],
  );
  return report ?? null;
}

/** Inserts a report, unless the customer already has an equal report. Returns whether it was inserted. */
export async function insertReport(
  transaction: Transaction,
  customerId: string,
  report: TradeReport,
  options: { readonly idempotencyKey: string | null; readonly isPlausible: boolean; readonly now: number },
): Promise<boolean> {
  const rows = await transaction.query(
    `insert into trade_reports
       (agent_id, venue, market_id, side, price, size_usd, client_ref, idempotency_key, is_plausible, reported_at)
     values ($1, $2, $3, $4, $5::float8, $6::float8, $7, $8::text, $9::boolean, to_timestamp($10::float8 / 1000))
     on conflict (agent_id, venue, market_id, side, price, size_usd, client_ref) do nothing
     returning report_id`,
    [
      ...[customerId, report.venue, report.marketId, report.side, report.price, report.sizeUsd, report.clientRef],
      ...[options.idempotencyKey, options.isPlausible, options.now],
    ],
  );
  return rows.length > 0;
}

/** Increments the number of reports of a market. Returns the new number. */
export async function countReport(
  transaction: Transaction,
  { venue, marketId }: Pick<TradeReport, "venue" | "marketId">,
): Promise<number> {
  const [row] = await transaction.query<{ reports: number }>(
    `insert into trade_report_counts as stored (venue, market_id, reports) values ($1, $2, 1)
     on conflict (venue, market_id) do update set reports = stored.reports + 1
     returning reports`,
    [venue, marketId],
  );
  if (row === undefined) throw new Error("The count of a market's reports returned no row");
  return row.reports;
}

export async function selectReportCount(
  transaction: Transaction,
  { venue, marketId }: Pick<TradeReport, "venue" | "marketId">,
): Promise<number> {
  const [row] = await transaction.query<{ reports: number }>(
    "select reports from trade_report_counts where venue = $1 and market_id = $2",
    [venue, marketId],
  );
  return row?.reports ?? 0;
}

const plausibleSums = (side: Side) => {
  const sumSql = (expression: string) =>
    `coalesce(sum(${expression}) filter (where is_plausible and side = '${side}'), 0)`;
  return `json_build_object('usd', ${sumSql("size_usd")}, 'contracts', ${sumSql("size_usd / nullif(price, 0)")},
    'usdTimesPrice', ${sumSql("size_usd * price")}, 'usdTimesAgeMs', ${sumSql("size_usd * age_ms")})`;
};

const SELECT_AGENT_REPORTS = `
select
  count(*) filter (where side = 'yes') as "yesTrades", count(*) filter (where side = 'no') as "noTrades",
  coalesce(sum(size_usd) filter (where side = 'yes'), 0) as "yesUsd",
  coalesce(sum(size_usd) filter (where side = 'no'), 0) as "noUsd",
  sum(size_usd * case side when 'yes' then price else 1 - price end) as "usdTimesProbability",
  ${plausibleSums("yes")} as "plausibleYes", ${plausibleSums("no")} as "plausibleNo"
from (
  select agent_id, side, price, size_usd, is_plausible,
    extract(epoch from to_timestamp($4::float8 / 1000) - reported_at)::float8 * 1000 as age_ms
  from trade_reports
  where venue = $1 and market_id = $2
    and reported_at > to_timestamp($3::float8 / 1000) and reported_at <= to_timestamp($4::float8 / 1000)
) as report
group by agent_id order by agent_id`;

/** Selects the totals of each agent that reported trades of a market in (fromMs, toMs]. */
export function selectAgentReports(
  database: Pick<Database, "query">,
  { venue, marketId }: Pick<TradeReport, "venue" | "marketId">,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<AgentReportTotals[]> {
  return database.query<AgentReportTotals>(SELECT_AGENT_REPORTS, [venue, marketId, fromMs, toMs], "request");
}

/**
 * Selects the newest reports of a customer, newest first. Excludes reports with prices below the smallest price of any
 * venue, because their number of contracts could overflow.
 */
export function selectReportsOf(
  database: Pick<Database, "query">,
  customerId: string,
  limit: number,
): Promise<(Omit<TradeReport, "clientRef"> & { readonly reportId: number; readonly reportedAt: Date })[]> {
  return database.query(
    `select report_id as "reportId", venue, market_id as "marketId", side, price, size_usd as "sizeUsd",
       reported_at as "reportedAt"
     from trade_reports where agent_id = $1 and price >= ${TRADED_PRICE_MIN}
     order by reported_at desc, report_id desc limit $2::int4`,
    [customerId, limit],
    "request",
  );
}

/** Prefix of the ids of deleted agents; no customer id has it. The index `trade_reports_of_deleted` uses it. */
const DELETED_AGENT_PREFIX = "deleted-";

/**
 * Replaces the agent id of a customer's reports by an anonymous id, and deletes the customer's texts. The reports still
 * count as reports of one agent.
 */
async function anonymiseReports(transaction: Transaction, customerId: string): Promise<void> {
  await transaction.query(
    `update trade_reports set idempotency_key = null, client_ref = report_id::text,
       agent_id = (select '${DELETED_AGENT_PREFIX}' || min(report_id) from trade_reports where agent_id = $1)
     where agent_id = $1`,
    [customerId],
  );
}

/**
 * Deletes reports beyond their retention, and reports of deleted customers that are too old for a consensus. The
 * market's number of accepted reports does not change. Idempotent.
 *
 * @param now  Unix milliseconds
 * @param shouldStop  ends the run after the current batch
 */
async function deleteOldReports(
  database: Pick<Database, "query">,
  now: number,
  shouldStop: () => boolean,
): Promise<void> {
  const deleteBefore = (beforeMs: number, condition: string) =>
    deleteRows(database, "trade_reports", `reported_at < ${toTimestampSql("$1")} ${condition}`, beforeMs, {
      shouldStop,
    });
  await deleteBefore(now - REPORT_RETENTION_MS, "");
  await deleteBefore(now - CONSENSUS_PERIOD_MS["30d"], `and agent_id like '${DELETED_AGENT_PREFIX}%'`);
}

export const REPORT_DATA: CustomerData = { deleteOf: anonymiseReports, deleteExpired: deleteOldReports };
