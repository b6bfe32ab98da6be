import { fromMicros } from "../../domain/price.ts";
import type { Trade } from "../../domain/trade.ts";
import { toMillisSql } from "../../lib/timestamp-sql.ts";
import type { Database } from "../../ports/database.ts";

/** Selects stored trades of one market in (fromMs, toMs], at most `limit`, newest first. */
const SELECT_RECENT_TRADES = `
select ${toMillisSql("executed_at")} as "executedAt", yes_price as "yesPrice", size, taker_side as "takerSide"
from trades
where market_key = $1 and executed_at > to_timestamp($2::float8 / 1000) and executed_at <= to_timestamp($3::float8 / 1000)
order by executed_at desc limit $4`;

/**
 * Reads the newest trades of a market in a period from the store, oldest first.
 *
 * @param period  Unix milliseconds; later trades are not read
 */
export async function readRecentTrades(
  database: Database,
  marketKey: number,
  { fromMs, toMs, limit }: { readonly fromMs: number; readonly toMs: number; readonly limit: number },
): Promise<Omit<Trade, "tradeId">[]> {
  const parameters = [marketKey, fromMs, toMs, limit];
  const rows = await database.query<Omit<Trade, "tradeId">>(SELECT_RECENT_TRADES, parameters, "request");
  return rows.map((row) => ({ ...row, yesPrice: fromMicros(row.yesPrice) })).reverse();
}

/** The amount is the price of the bought side times the size. If the side is unknown, the price of YES is used. */
const SELECT_TRADE_AMOUNTS = `
select size * (case when taker_side = 'no' then 1000000 - yes_price else yes_price end) / 1000000.0 as usd from trades
where market_key = $1 and executed_at >= to_timestamp($2::float8 / 1000) and executed_at < to_timestamp($3::float8 / 1000)
order by executed_at desc limit $4`;

/** Returns the amounts in USD of the stored trades of a market in [fromMs, toMs), newest first, at most `limit`. */
export async function readTradeAmounts(
  database: Pick<Database, "query">,
  marketKey: number,
  { fromMs, toMs, limit }: { readonly fromMs: number; readonly toMs: number; readonly limit: number },
): Promise<number[]> {
  const rows = await database.query<{ usd: number }>(SELECT_TRADE_AMOUNTS, [marketKey, fromMs, toMs, limit]);
  return rows.map(({ usd }) => usd);
}
