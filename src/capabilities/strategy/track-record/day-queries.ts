import type { MarketRef } from "../../../domain/market-name.ts";
import { toMillisSql, toTimestampSql } from "../../../lib/timestamp-sql.ts";
import type { Database, Transaction } from "../../../ports/database.ts";
import type { DailyMark, DayTotals } from "../../../trading/index.ts";
import type { StoredTrade } from "./model.ts";
import { dateText, marketColumns } from "./sql.ts";
import { lockShadowBook, TRADE_COLUMNS } from "./trade-queries.ts";

/** The last closed and the last sealed day of the shadow book. */
export interface ShadowBookProgress {
  /** Unix milliseconds; null without trades. */
  readonly firstTradeAt: number | null;
  /** YYYY-MM-DD; null before the first closed day. */
  readonly lastClosedDay: string | null;
  readonly sealedDay: string | null;
}

export async function selectProgress(database: Database): Promise<ShadowBookProgress> {
  const [row] = await database.query<ShadowBookProgress>(
    `select (select ${toMillisSql("min(entered_at)")} from shadow_trades) as "firstTradeAt",
       (select ${dateText("max(day)")} from shadow_days) as "lastClosedDay",
       (select ${dateText("sealed_day")} from shadow_book) as "sealedDay"`,
  );
  return row ?? { firstTradeAt: null, lastClosedDay: null, sealedDay: null };
}

/** Selects one page of the markets that have open trades at a time. The page begins after the market `after`. */
export function selectOpenMarkets(
  database: Database,
  at: number,
  after: MarketRef,
  limit: number,
): Promise<MarketRef[]> {
  return database.query<MarketRef>(
    `select distinct venue, market_id as "marketId" from shadow_trades
     where (venue, market_id) > ($1::text, $2::text)
       and entered_at < ${toTimestampSql("$3")} and (settled_at is null or settled_at >= ${toTimestampSql("$3")})
     order by venue, market_id limit $4::int8`,
    [after.venue, after.marketId, at, limit],
  );
}

/**
 * Replaces the marks of markets for a day, which must not be sealed. A market without a price has no mark. Returns the
 * number of changed marks. The transaction must have locked the book.
 */
export async function replaceMarks(
  transaction: Transaction,
  date: string,
  marks: readonly (MarketRef & { readonly yesPrice: number | null })[],
): Promise<number> {
  const priced = marks.filter(({ yesPrice }) => yesPrice !== null);
  const unpriced = marks.filter(({ yesPrice }) => yesPrice === null);
  const replaced = await transaction.query(
    `insert into shadow_marks (day, venue, market_id, yes_price)
     select $3::date, venue, market_id, yes_price
     from unnest($1::text[], $2::text[], $4::float8[]) as mark (venue, market_id, yes_price)
     on conflict (venue, market_id, day) do update set yes_price = excluded.yes_price
     where shadow_marks.yes_price <> excluded.yes_price returning 1`,
    [...marketColumns(priced), date, priced.map(({ yesPrice }) => yesPrice)],
  );
  const removed = await transaction.query(
    `delete from shadow_marks using unnest($1::text[], $2::text[]) as mark (venue, market_id)
     where shadow_marks.venue = mark.venue and shadow_marks.market_id = mark.market_id and day = $3::date returning 1`,
    [...marketColumns(unpriced), date],
  );
  return replaced.length + removed.length;
}

/** Stores the time of the last change of the current day's marks. @param at  Unix milliseconds */
export async function updateMarkedAt(database: Database, at: number): Promise<void> {
  await database.query(`update shadow_book set marked_at = ${toTimestampSql("$1")}`, [at]);
}

/** Seals a day: afterwards, nothing can be added to this or an earlier day. Idempotent. */
export async function sealDay(transaction: Transaction, date: string): Promise<void> {
  await lockShadowBook(transaction);
  await transaction.query("update shadow_book set sealed_day = greatest(sealed_day, $1::date)", [date]);
}

/** Data from which the value of a market's trades at the start and end of a day is computed. */
export interface DayMarket extends MarketRef {
  /** The last mark before the day; null if there is none. */
  readonly previousMarkDay: string | null;
  readonly previousYesPrice: number | null;
  /** The mark of the day; null if there is none. */
  readonly yesPrice: number | null;
  readonly isSettledBefore: boolean;
  readonly valueBefore: number | null;
  readonly isSettled: boolean;
  readonly value: number | null;
}

const settlementSql = (until: string) => `
  (select value, true as is_settled from market_settlements as s
   where s.venue = changed.venue and s.market_id = changed.market_id and s.recorded_at < ${until}
   order by settlement_id desc limit 1)`;

/** A day, and the part of the day that its totals cover. Times are Unix milliseconds. */
export interface DayPeriod {
  readonly date: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Selects `DayMarket`s. `changed` is a query of markets. Parameters: $1 date, $2 start and $3 end of the period. */
const selectDayMarketsOf = (changed: string) => `
  select changed.venue, changed.market_id as "marketId", ${dateText("earlier.day")} as "previousMarkDay",
    earlier.yes_price as "previousYesPrice", mark.yes_price as "yesPrice",
    coalesce(before.is_settled, false) as "isSettledBefore", before.value as "valueBefore",
    coalesce(final.is_settled, false) as "isSettled", final.value
  from (${changed}) as changed
  left join lateral (
    select day, yes_price from shadow_marks as m
    where m.venue = changed.venue and m.market_id = changed.market_id and m.day < $1::date
    order by day desc limit 1
  ) as earlier on true
  left join shadow_marks as mark
    on mark.venue = changed.venue and mark.market_id = changed.market_id and mark.day = $1::date
  left join lateral ${settlementSql(toTimestampSql("$2"))} as before on true
  left join lateral ${settlementSql(toTimestampSql("$3"))} as final on true
  order by changed.venue, changed.market_id`;

/** Each part has a limit, so that a page reads few index entries that it does not return. */
const CHANGED_PAGE = `
  select * from (
    select distinct venue, market_id from market_settlements as s
    where recorded_at >= ${toTimestampSql("$2")} and (venue, market_id) > ($4::text, $5::text)
      and exists (select from shadow_trades as t where t.venue = s.venue and t.market_id = s.market_id)
    order by venue, market_id limit $6::int8
  ) as settled
  union select * from (
    select distinct venue, market_id from shadow_trades
    where settled_at is null and (venue, market_id) > ($4::text, $5::text) order by venue, market_id limit $6::int8
  ) as open
  order by venue, market_id limit $6::int8`;

/**
 * Selects one page of the markets whose trades may change in value during a period: markets with a settlement since its
 * start, and markets with open trades. The page begins after the market `after`.
 */
export function selectDayMarkets(
  database: Database,
  { date, fromMs, toMs }: DayPeriod,
  { after, limit }: { readonly after: MarketRef; readonly limit: number },
): Promise<DayMarket[]> {
  return database.query<DayMarket>(selectDayMarketsOf(CHANGED_PAGE), [
    ...[date, fromMs, toMs],
    ...[after.venue, after.marketId, limit],
  ]);
}

/** Selects the values of `selectDayMarkets` for the given markets. */
export function selectGivenDayMarkets(
  transaction: Transaction,
  { date, fromMs, toMs }: DayPeriod,
  markets: readonly MarketRef[],
): Promise<DayMarket[]> {
  const given = "select venue, market_id from unnest($4::text[], $5::text[]) as given (venue, market_id)";
  return transaction.query<DayMarket>(selectDayMarketsOf(given), [...[date, fromMs, toMs], ...marketColumns(markets)]);
}

export function selectTradesBefore(
  database: Database,
  markets: readonly MarketRef[],
  beforeMs: number,
): Promise<StoredTrade[]> {
  return database.query<StoredTrade>(
    `select ${TRADE_COLUMNS} from shadow_trades
     join unnest($1::text[], $2::text[]) as wanted (venue, market_id) using (venue, market_id)
     where entered_at < ${toTimestampSql("$3")}`,
    [...marketColumns(markets), beforeMs],
  );
}

/** Stores the totals of a closed day, unless the day is already stored. */
export async function insertDay(database: Database, day: DayTotals): Promise<void> {
  await database.query(
    `insert into shadow_days (day, pnl_usd, entered_trades, resolved_trades, won_trades)
     values ($1::date, $2::float8, $3::int4, $4::int4, $5::int4) on conflict do nothing`,
    [day.date, day.pnlUsd, day.enteredTrades, day.resolvedTrades, day.wonTrades],
  );
}

/** Selects all closed days, oldest first. */
export function selectDays(database: Database): Promise<DayTotals[]> {
  return database.query<DayTotals>(
    `select ${dateText("day")} as date, pnl_usd as "pnlUsd", entered_trades as "enteredTrades",
       resolved_trades as "resolvedTrades", won_trades as "wonTrades" from shadow_days order by day`,
  );
}

/** Returns a text that changes whenever the shadow book, or a mark of the current day, has changed. */
export async function selectVersion(database: Database): Promise<string> {
  const [row] = await database.query<{ version: string }>(
    `select json_build_array((select max(trade_id) from shadow_trades),
       (select max(settlement_id) from market_settlements), (select max(day) from shadow_days),
       (select marked_at from shadow_book))::text as version`,
  );
  return row?.version ?? "";
}

/**
 * Deletes up to `limit` marks from before a day, of markets that were settled before that day. Returns the number of
 * deleted marks. The query scans all marks, which takes 70 ms for 700,000; an index by day would save less than half of
 * this time once a day.
 */
export async function deleteMarks(database: Database, beforeDate: string, limit: number): Promise<number> {
  const rows = await database.query(
    `delete from shadow_marks where ctid = any(array(
       select m.ctid from shadow_marks as m where day < $1::date and exists (
         select from market_settlements as s where s.venue = m.venue and s.market_id = m.market_id
           and s.recorded_at < ($1::date)::timestamp at time zone 'utc')
       limit $2::int8)) returning 1`,
    [beforeDate, limit],
  );
  return rows.length;
}

/** Position of a trade in the order of `selectTradePage`. */
export interface TradePosition extends MarketRef {
  readonly tradeId: string;
}

/** Selects one page of all trades by market and id, after a position. */
export function selectTradePage(transaction: Transaction, after: TradePosition, limit: number): Promise<StoredTrade[]> {
  return transaction.query<StoredTrade>(
    `select ${TRADE_COLUMNS} from shadow_trades
     where (venue, market_id, trade_id) > ($1::text, $2::text, $3::int8)
     order by venue, market_id, shadow_trades.trade_id limit $4::int8`,
    [after.venue, after.marketId, after.tradeId, limit],
  );
}

export async function selectMarks(transaction: Transaction, markets: readonly MarketRef[]): Promise<DailyMark[]> {
  return transaction.query<DailyMark>(
    `select venue, market_id as "marketId", yes_price as "yesPrice",
       (extract(epoch from day + 1) * 1000)::float8 as at
     from unnest($1::text[], $2::text[]) as wanted (venue, market_id) join shadow_marks using (venue, market_id)`,
    marketColumns(markets),
  );
}
