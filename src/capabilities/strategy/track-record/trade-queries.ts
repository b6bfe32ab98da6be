import type { Outcome } from "../../../domain/market.ts";
import { settlementValueOf } from "../../../domain/market.ts";
import type { MarketRef } from "../../../domain/market-name.ts";
import { columnsOf } from "../../../lib/columns-of.ts";
import { toMillisSql, toTimestampSql } from "../../../lib/timestamp-sql.ts";
import type { Database, Transaction } from "../../../ports/database.ts";
import type { SettledMarket } from "../../../storage/index.ts";
import type { Settlement, ShadowEntry } from "../../../trading/index.ts";
import type { StoredTrade } from "./model.ts";
import { dateText, marketColumns } from "./sql.ts";
import type { TradeOutcome } from "./total-queries.ts";

export const TRADE_COLUMNS = `trade_id::text as "tradeId", venue, market_id as "marketId", side, contracts, price,
  fee_usd as "feeUsd", edge, ${toMillisSql("entered_at")} as at, ${toMillisSql("settled_at")} as "settledAt",
  payout_usd as "payoutUsd", pnl_usd as "pnlUsd"`;

/**
 * Locks the shadow book until the transaction ends. Returns its last sealed day, YYYY-MM-DD; null if there is none. No
 * trade can be added on this day or earlier.
 */
export async function lockShadowBook(transaction: Transaction): Promise<string | null> {
  const [row] = await transaction.query<{ sealedDay: string | null }>(
    `insert into shadow_book as book (is_only) values (true) on conflict (is_only) do update set is_only = true
     returning ${dateText("book.sealed_day")} as "sealedDay"`,
  );
  return row?.sealedDay ?? null;
}

/** Whether a customer started the analysis `$1`. */
const IS_ANALYSIS_REQUESTED = "exists (select from analysis_runs where analysis_id = $1 and customer_id is not null)";

/**
 * Inserts a trade. Returns false if its analysis already has a trade of this side, or if the market is settled or
 * accepts no orders. A closing time in the past is ignored, because some venues publish only approximate times.
 *
 * A trade is marked as requested if a caller requested the signal or its analysis, unless the service would have added
 * the trade anyway.
 */
export async function insertTrade(transaction: Transaction, entry: ShadowEntry): Promise<boolean> {
  const rows = await transaction.query(
    `insert into shadow_trades (analysis_id, venue, market_id, title, category, side, contracts, price, fee_usd,
       probability, market_price, edge, size_pct, entered_at, is_requested)
     select $1, $2, $3, $4, $5::text, $6, $7::float8, $8::float8, $9::float8, $10::float8, $11::float8, $12::float8,
       $13::float8, ${toTimestampSql("$14")}, $15::boolean or ${IS_ANALYSIS_REQUESTED}
     where not exists (select from market_settlements where venue = $2 and market_id = $3)
       and not exists (select from markets where venue = $2 and market_id = $3
         and status in ('closed', 'determined', 'finalized'))
     on conflict do nothing returning 1`,
    [
      ...[entry.analysisId, entry.venue, entry.marketId, entry.title, entry.category, entry.side],
      ...[entry.contracts, entry.price, entry.feeUsd, entry.probability, entry.marketPrice, entry.edge],
      ...[entry.sizePct, entry.at, entry.isRequested],
    ],
  );
  if (rows.length > 0) return true;
  if (!entry.isRequested)
    await transaction.query(
      `update shadow_trades set is_requested = false
       where analysis_id = $1 and side = $2 and is_requested and not ${IS_ANALYSIS_REQUESTED}`,
      [entry.analysisId, entry.side],
    );
  return false;
}

/** The latest settlement of a market and the time of its last trade. Times are Unix milliseconds. */
export interface SettlementState {
  readonly outcome: Outcome["kind"] | null;
  readonly value: number | null;
  readonly recordedAt: number | null;
  readonly lastEntryAt: number | null;
}

export async function selectSettlementState(
  transaction: Transaction,
  { venue, marketId }: MarketRef,
): Promise<SettlementState> {
  const [row] = await transaction.query<SettlementState>(
    `select last.outcome, last.value, ${toMillisSql("last.recorded_at")} as "recordedAt",
       ${toMillisSql("(select max(entered_at) from shadow_trades where venue = $1 and market_id = $2)")} as "lastEntryAt"
     from (select 1) as one left join (
       select outcome, value, recorded_at from market_settlements where venue = $1 and market_id = $2
       order by settlement_id desc limit 1
     ) as last on true`,
    [venue, marketId],
  );
  return row ?? { outcome: null, value: null, recordedAt: null, lastEntryAt: null };
}

export async function insertSettlement(
  transaction: Transaction,
  { venue, marketId, outcome, resolvedAt }: SettledMarket,
  recordedAt: number,
): Promise<void> {
  await transaction.query(
    `insert into market_settlements (venue, market_id, outcome, value, resolved_at, recorded_at)
     values ($1, $2, $3, $4::float8, ${toTimestampSql("$5")}, ${toTimestampSql("$6")})`,
    [venue, marketId, outcome.kind, settlementValueOf(outcome), resolvedAt, recordedAt],
  );
}

export function selectTradesOf(
  transaction: Transaction,
  { venue, marketId }: MarketRef,
  afterId: string,
  limit: number,
): Promise<StoredTrade[]> {
  return transaction.query<StoredTrade>(
    `select ${TRADE_COLUMNS} from shadow_trades
     where venue = $1 and market_id = $2 and trade_id > $3::int8 order by shadow_trades.trade_id limit $4::int8`,
    [venue, marketId, afterId, limit],
  );
}

/** Stores the results of trades. Keeps the time of the first settlement. */
export async function updateResults(
  transaction: Transaction,
  results: readonly TradeOutcome[],
  recordedAt: number,
): Promise<void> {
  await transaction.query(
    `update shadow_trades set settled_at = coalesce(settled_at, ${toTimestampSql("$4")}), payout_usd = result.payout_usd,
       pnl_usd = result.pnl_usd
     from unnest($1::int8[], $2::float8[], $3::float8[]) as result (trade_id, payout_usd, pnl_usd)
     where shadow_trades.trade_id = result.trade_id`,
    [...columnsOf(results, "tradeId", "payoutUsd", "pnlUsd"), recordedAt],
  );
}

/** Tables that contain the markets whose results the track record needs. */
export const FOLLOWED_TABLES = ["shadow_trades", "latest_analyses", "paper_trades", "trade_report_counts"] as const;

/** Returns the given markets that were analysed or traded. */
export function selectFollowedMarkets(database: Database, markets: readonly MarketRef[]): Promise<MarketRef[]> {
  const isIn = (table: string) =>
    `exists (select from ${table} as t where t.venue = wanted.venue and t.market_id = wanted.market_id)`;
  return database.query<MarketRef>(
    `select venue, market_id as "marketId" from unnest($1::text[], $2::text[]) as wanted (venue, market_id)
     where ${FOLLOWED_TABLES.map(isIn).join(" or ")}`,
    marketColumns(markets),
  );
}

/** Selects one page of the markets in a table, after a market. From `shadow_trades`, only markets with open trades. */
export function selectMarketsOf(
  database: Database,
  table: (typeof FOLLOWED_TABLES)[number],
  after: MarketRef,
  limit: number,
): Promise<MarketRef[]> {
  const condition = table === "shadow_trades" ? "and settled_at is null" : "";
  return database.query<MarketRef>(
    `select distinct venue, market_id as "marketId" from ${table}
     where (venue, market_id) > ($1::text, $2::text) ${condition} order by venue, market_id limit $3::int8`,
    [after.venue, after.marketId, limit],
  );
}

export function selectUnsettledMarkets(database: Database, markets: readonly MarketRef[]): Promise<MarketRef[]> {
  return database.query<MarketRef>(
    `select venue, market_id as "marketId" from unnest($1::text[], $2::text[]) as wanted (venue, market_id)
     where not exists (select from market_settlements as s
       where s.venue = wanted.venue and s.market_id = wanted.market_id)`,
    marketColumns(markets),
  );
}

/** Selects all settlements of markets, earliest first. */
export function selectSettlements(transaction: Transaction, markets: readonly MarketRef[]): Promise<Settlement[]> {
  return transaction.query<Settlement>(
    `select venue, market_id as "marketId", ${toMillisSql("recorded_at")} as at, value
     from unnest($1::text[], $2::text[]) as wanted (venue, market_id) join market_settlements using (venue, market_id)
     order by settlement_id`,
    marketColumns(markets),
  );
}

export async function selectLastProcessedEventId(database: Database): Promise<number> {
  const [row] = await database.query<{ through: number }>("select events_through as through from shadow_book");
  return row?.through ?? 0;
}

export async function updateLastProcessedEventId(database: Database, through: number): Promise<void> {
  await database.query(
    `insert into shadow_book (is_only, events_through) values (true, $1::int8)
     on conflict (is_only) do update set events_through = excluded.events_through`,
    [through],
  );
}

/** Reserves the next run of the shadow book's job. Returns false if a node reserved a run in the last `pauseMs`. */
export async function reserveShadowBookRun(database: Database, now: number, pauseMs: number): Promise<boolean> {
  const rows = await database.query(
    `insert into shadow_book as book (is_only, reserved_at) values (true, ${toTimestampSql("$1")})
     on conflict (is_only) do update set reserved_at = excluded.reserved_at
     where book.reserved_at is null or book.reserved_at <= ${toTimestampSql("$2")} or book.reserved_at > ${toTimestampSql("$1")}
     returning 1`,
    [now, now - pauseMs],
  );
  return rows.length > 0;
}
