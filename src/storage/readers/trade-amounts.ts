import type { Database } from "../../ports/database.ts";

/** The amount is the price of the bought side times the size. If the side is unknown, the price of YES is used. */
const SELECT_TRADE_AMOUNTS = `
select size * (case when taker_side = 'no' then 1000000 - yes_price else yes_price end) / 1000000.0 as usd from trades
where market_key = $1 and executed_at >= to_timestamp($2::float8 / 1000) and executed_at < to_timestamp($3::float8 / 1000)
order by executed_at desc limit $4`;

/**
 * Returns the amounts in USD of the stored trades of a market from `fromMs` until before `toMs`, newest first, at most
 * `limit`.
 */
export async function readTradeAmounts(
  database: Pick<Database, "query">,
  marketKey: number,
  { fromMs, toMs, limit }: { readonly fromMs: number; readonly toMs: number; readonly limit: number },
): Promise<number[]> {
  const rows = await database.query<{ usd: number }>(SELECT_TRADE_AMOUNTS, [marketKey, fromMs, toMs, limit]);
  return rows.map(({ usd }) => usd);
}
