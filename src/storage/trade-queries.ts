import { chunksOf } from "../lib/chunks.ts";
import type { Database } from "../ports/database.ts";
import type { MarketTrade } from "./model.ts";
import { isStorableId, type StoreDrop, toStorableAmount, toStorablePrice, toStorableTime } from "./storable.ts";

const ROWS_PER_STATEMENT_MAX = 1_000;

const INSERT_TRADES = `
with added as (
  insert into trades (market_key, trade_id, executed_at, yes_price, size, taker_side)
  select market_key, trade_id, to_timestamp(executed_ms / 1000), yes_price, size, taker_side
  from unnest($1::int4[], $2::text[], $3::float8[], $4::int4[], $5::float8[], $6::text[])
    as trade (market_key, trade_id, executed_ms, yes_price, size, taker_side)
  on conflict (market_key, trade_id) do nothing
  returning 1
) select count(*) as count from added`;

/** Implements `MarketStore.insertTrades`. */
export async function insertTrades(
  database: Database,
  trades: readonly MarketTrade[],
  countDrop: StoreDrop,
): Promise<number> {
  const storableTrades = trades.filter(({ trade }) => {
    const isStorable =
      isStorableId(trade.tradeId) &&
      toStorableTime(trade.executedAt) !== null &&
      toStorablePrice(trade.yesPrice) !== null &&
      toStorableAmount(trade.size) !== null;
    if (!isStorable) countDrop("trade_not_storable");
    return isStorable;
  });
  let count = 0;
  for (const chunk of chunksOf(storableTrades, ROWS_PER_STATEMENT_MAX)) {
    const [row] = await database.query<{ count: number }>(INSERT_TRADES, [
      chunk.map(({ marketKey }) => marketKey),
      chunk.map(({ trade }) => trade.tradeId),
      chunk.map(({ trade }) => toStorableTime(trade.executedAt)),
      chunk.map(({ trade }) => toStorablePrice(trade.yesPrice)),
      chunk.map(({ trade }) => trade.size),
      chunk.map(({ trade }) => trade.takerSide),
    ]);
    count += row?.count ?? 0;
  }
  return count;
}

/** Implements `MarketStore.volume24hFromTrades`. */
export async function volume24hFromTrades(database: Database, now: number): Promise<Map<number, number>> {
  const rows = await database.query<{ market_key: number; volume_usd: number }>(
    `select market_key, sum(size * yes_price / 1000000.0)::float8 as volume_usd from trades
     where executed_at > to_timestamp($1::float8 / 1000) - interval '24 hours'
       and executed_at <= to_timestamp($1::float8 / 1000)
     group by market_key`,
    [now],
  );
  return new Map(rows.map((row) => [row.market_key, row.volume_usd]));
}
