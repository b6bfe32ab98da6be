import { millis, time } from "../../lib/sql-time.ts";
import type { Database, Transaction } from "../../ports/database.ts";
import type { DayTotals, Mark } from "../../trading/index.ts";
import type { MarketId } from "./model.ts";
import { dateText, marketColumns } from "./sql.ts";
import { lockBook, TRADE_COLUMNS, type TradeRow } from "./trade-queries.ts";

/** The last closed and the last sealed day of the shadow book. */
export interface BookProgress {
  /** Unix milliseconds; null without trades. */
  readonly firstTradeAt: number | null;
  /** YYYY-MM-DD; null before the first one. */
  readonly lastClosedDay: string | null;
  readonly sealedDay: string | null;
}

export async function selectProgress(database: Database): Promise<BookProgress> {
  const [row] = await database.query<BookProgress & Record<string, unknown>>(
    `select (select ${millis("min(entered_at)")} from shadow_trades) as "firstTradeAt",
       (select ${dateText("max(day)")} from shadow_days) as "lastClosedDay",
       (select ${dateText("sealed_day")} from shadow_book) as "sealedDay"`,
  );
  return row ?? { firstTradeAt: null, lastClosedDay: null, sealedDay: null };
}

/** Selects one page of the markets that have open trades at a time. The page begins after a market. */
export function selectOpenMarkets(database: Database, at: number, after: MarketId, limit: number): Promise<MarketId[]> {
  return database.query<MarketId & Record<string, unknown>>(
    `select distinct venue, market_id as "marketId" from shadow_trades
     where (venue, market_id) > ($1::text, $2::text)
       and entered_at < ${time("$3")} and (settled_at is null or settled_at >= ${time("$3")})
     order by venue, market_id limit $4::int8`,
    [after.venue, after.marketId, at, limit],
  );
}

/** Inserts the marks of a day, unless the day is sealed or they exist. The transaction must have locked the book. */
export async function insertMarks(
  transaction: Transaction,
  date: string,
  marks: readonly (MarketId & { readonly yesPrice: number })[],
): Promise<void> {
  await transaction.query(
    `insert into shadow_marks (day, venue, market_id, yes_price)
     select $3::date, venue, market_id, yes_price
     from unnest($1::text[], $2::text[], $4::float8[]) as mark (venue, market_id, yes_price)
     on conflict do nothing`,
    [...marketColumns(marks), date, marks.map(({ yesPrice }) => yesPrice)],
  );
}

/** Seals a day: nothing can be added to it or to an earlier day afterwards. Idempotent. */
export async function sealDay(transaction: Transaction, date: string): Promise<void> {
  await lockBook(transaction);
  await transaction.query("update shadow_book set sealed_day = greatest(sealed_day, $1::date)", [date]);
}

/** What the value of a market's trades at the start and at the end of a day is computed from. */
export interface DayMarket extends MarketId {
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

/**
 * Selects one page of the markets whose trades may change in value during a day: markets with a settlement since the start
 * of the day and, for a day to be closed, markets with open trades. The page begins after a market.
 *
 * @param range  Unix milliseconds
 */
export function selectDayMarkets(
  database: Database,
  { date, fromMs, toMs }: { readonly date: string; readonly fromMs: number; readonly toMs: number },
  { after, limit, withOpen }: { readonly after: MarketId; readonly limit: number; readonly withOpen: boolean },
): Promise<DayMarket[]> {
  // Each part is limited, so that a page reads little more of an index than it returns.
  const open = `union select * from (
    select distinct venue, market_id from shadow_trades
    where settled_at is null and (venue, market_id) > ($1::text, $2::text) order by venue, market_id limit $6::int8
  ) as open`;
  return database.query<DayMarket & Record<string, unknown>>(
    `select changed.venue, changed.market_id as "marketId", ${dateText("earlier.day")} as "previousMarkDay",
       earlier.yes_price as "previousYesPrice", mark.yes_price as "yesPrice",
       coalesce(before.is_settled, false) as "isSettledBefore", before.value as "valueBefore",
       coalesce(final.is_settled, false) as "isSettled", final.value
     from (
       select * from (
         select distinct venue, market_id from market_settlements as s
         where recorded_at >= ${time("$4")} and (venue, market_id) > ($1::text, $2::text)
           and exists (select from shadow_trades as t where t.venue = s.venue and t.market_id = s.market_id)
         order by venue, market_id limit $6::int8
       ) as settled
       ${withOpen ? open : ""}
       order by venue, market_id limit $6::int8
     ) as changed
     left join lateral (
       select day, yes_price from shadow_marks as m
       where m.venue = changed.venue and m.market_id = changed.market_id and m.day < $3::date
       order by day desc limit 1
     ) as earlier on true
     left join shadow_marks as mark
       on mark.venue = changed.venue and mark.market_id = changed.market_id and mark.day = $3::date
     left join lateral ${settlementSql(time("$4"))} as before on true
     left join lateral ${settlementSql(time("$5"))} as final on true
     order by changed.venue, changed.market_id`,
    [after.venue, after.marketId, date, fromMs, toMs, limit],
  );
}

/** Selects the trades of markets that were entered before a time. */
export function selectTradesBefore(
  database: Database,
  markets: readonly MarketId[],
  beforeMs: number,
): Promise<TradeRow[]> {
  return database.query<TradeRow>(
    `select ${TRADE_COLUMNS} from shadow_trades
     join unnest($1::text[], $2::text[]) as wanted (venue, market_id) using (venue, market_id)
     where entered_at < ${time("$3")}`,
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
  return database.query<DayTotals & Record<string, unknown>>(
    `select ${dateText("day")} as date, pnl_usd as "pnlUsd", entered_trades as "enteredTrades",
       resolved_trades as "resolvedTrades", won_trades as "wonTrades" from shadow_days order by day`,
  );
}

/** Selects the number of open trades that were entered in a period, and the sum of their fees in USD. */
export async function selectOpenEntries(
  database: Database,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<{ readonly count: number; readonly feesUsd: number }> {
  const [row] = await database.query<{ count: number; feesUsd: number }>(
    `select count(*)::int4 as count, coalesce(sum(fee_usd), 0)::float8 as "feesUsd"
     from shadow_trades where entered_at >= ${time("$1")} and entered_at < ${time("$2")} and settled_at is null`,
    [fromMs, toMs],
  );
  return row ?? { count: 0, feesUsd: 0 };
}

/** If all fields are unchanged, the shadow book is unchanged. */
export interface BookVersion {
  readonly lastTrade: number;
  readonly lastSettlement: number;
  readonly lastClosedDay: string | null;
}

export async function selectVersion(database: Database): Promise<BookVersion> {
  const [row] = await database.query<BookVersion & Record<string, unknown>>(
    `select (select coalesce(max(trade_id), 0) from shadow_trades) as "lastTrade",
       (select coalesce(max(settlement_id), 0) from market_settlements) as "lastSettlement",
       (select ${dateText("max(day)")} from shadow_days) as "lastClosedDay"`,
  );
  return row ?? { lastTrade: 0, lastSettlement: 0, lastClosedDay: null };
}

/**
 * Deletes up to `limit` marks from before a day, of markets that were settled before that day. Returns how many. It scans
 * all marks, 70 ms for 700,000 of them, because an index by day would save less than half of that once a day.
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
export interface TradePosition extends MarketId {
  readonly tradeId: string;
}

/** Selects one page of all trades by market and id, after a position. */
export function selectTradePage(transaction: Transaction, after: TradePosition, limit: number): Promise<TradeRow[]> {
  return transaction.query<TradeRow>(
    `select ${TRADE_COLUMNS} from shadow_trades
     where (venue, market_id, trade_id) > ($1::text, $2::text, $3::int8)
     order by venue, market_id, shadow_trades.trade_id limit $4::int8`,
    [after.venue, after.marketId, after.tradeId, limit],
  );
}

/** Selects all marks of markets. */
export async function selectMarks(transaction: Transaction, markets: readonly MarketId[]): Promise<Mark[]> {
  return transaction.query<Mark & Record<string, unknown>>(
    `select venue, market_id as "marketId", yes_price as "yesPrice",
       (extract(epoch from day + 1) * 1000)::float8 as at
     from unnest($1::text[], $2::text[]) as wanted (venue, market_id) join shadow_marks using (venue, market_id)`,
    marketColumns(markets),
  );
}
