import type { EventListing, MarketSnapshot, MarketStatus, Outcome } from "../domain/market.ts";
import { fromMicros } from "../domain/price.ts";
import type { Trade } from "../domain/trade.ts";
import { chunksOf } from "../lib/chunks.ts";
import { columnsOf } from "../lib/columns-of.ts";
import { toMillisSql } from "../lib/timestamp-sql.ts";
import type { Database } from "../ports/database.ts";
import { fenceParameters, heldFencesSql } from "./lease-fence.ts";
import { loadEvents, loadMarkets } from "./load-markets.ts";
import type { MarketTrade, VenueFence } from "./model.ts";
import { isStorableId, toStorableAmount, toStorablePrice, toStorableTime } from "./storable.ts";
import { insertUnknownMarkets, upsertMarkets } from "./upsert-markets.ts";

const ROWS_PER_STATEMENT_MAX = 1_000;

/** Position of a trade in a list that is sorted by time and id, newest first. */
export interface TradePosition {
  /** Unix milliseconds. */
  readonly executedAt: number;
  readonly tradeId: string;
}

export interface StatusChange {
  readonly marketKey: number;
  readonly from: string | null;
  readonly to: MarketStatus;
  readonly outcome: Outcome | null;
  /** Unix milliseconds. */
  readonly changedAt: number;
}

const upsertEventsSql = (isFenced: boolean) => `
${isFenced ? `with held as materialized (${heldFencesSql("$4", "$5")})` : ""}
insert into events (venue, event_id, listing, position)
select venue, event_id, listing, ${isFenced ? "nextval('market_changes')" : "0"}
from unnest($1::text[], $2::text[], $3::text[]) as event (venue, event_id, listing)
${isFenced ? "where venue in (select venue from held)" : ""}
on conflict (venue, event_id) do update set listing = excluded.listing, position = excluded.position
where events.listing is distinct from excluded.listing`;

const insertStatusChangeSql = (isFenced: boolean) => `
${isFenced ? `with held as materialized (${heldFencesSql("$6", "$7")})` : ""}
insert into status_changes (market_key, changed_at, from_status, to_status, outcome)
select $1::int4, to_timestamp($2::float8 / 1000), $3::text, $4::text, $5::jsonb
${isFenced ? "where exists (select 1 from held)" : ""} on conflict do nothing`;

/**
 * A venue can report one trade in parts, so the report with the largest size is stored. `xmax` is 0 in rows that were
 * inserted and not updated.
 */
const INSERT_TRADES = `
with added as (
  insert into trades (market_key, trade_id, executed_at, yes_price, size, taker_side)
  select distinct on (market_key, trade_id)
    market_key, trade_id, to_timestamp(executed_ms / 1000), yes_price, size, taker_side
  from unnest($1::int4[], $2::text[], $3::float8[], $4::int4[], $5::float8[], $6::text[])
    as trade (market_key, trade_id, executed_ms, yes_price, size, taker_side)
  order by market_key, trade_id, size desc
  on conflict (market_key, trade_id) do update set yes_price = excluded.yes_price, size = excluded.size
  where excluded.size > trades.size
  returning xmax = 0 as is_new
) select count(*) filter (where is_new) as count from added`;

/** Ids are compared by bytes, as in `compareTrades`. */
const LIST_TRADES = `
select trade_id as "tradeId", ${toMillisSql("executed_at")} as "executedAt", yes_price as "yesPrice", size,
  taker_side as "takerSide"
from trades
where market_key = $1 and ($2::float8 is null
  or executed_at < to_timestamp($2::float8 / 1000)
  or (executed_at = to_timestamp($2::float8 / 1000) and trade_id collate "C" < $3::text collate "C"))
order by executed_at desc, trade_id collate "C" desc limit $4`;

/** Returns the row of a trade, or an empty list if PostgreSQL cannot store it. */
function toTradeRow({ marketKey, trade }: MarketTrade) {
  const executedAt = toStorableTime(trade.executedAt);
  const yesPrice = toStorablePrice(trade.yesPrice);
  if (!isStorableId(trade.tradeId) || executedAt === null || yesPrice === null) return [];
  return toStorableAmount(trade.size) === null ? [] : [{ ...trade, marketKey, executedAt, yesPrice }];
}

export type MarketStore = ReturnType<typeof createMarketStore>;

/**
 * Stores markets, events, status changes and trades. All writes are idempotent, and rows that PostgreSQL cannot store
 * are omitted. If `fences` are passed, only rows of venues whose fence still matches the lease are written, and each
 * written row gets a new position in the change feed. If `fences` are omitted, this process must be the only writer.
 *
 * @param onEventsAppended  called after each commit that appended events to the event log
 */
export function createMarketStore(database: Database, onEventsAppended: () => void = () => {}) {
  return {
    /**
     * Stores the current state of markets and, in the same transaction, appends one event per newly settled market to
     * the event log. A settlement is logged exactly once, even if the write is repeated or the process crashes.
     *
     * @returns keys in the order of `snapshots`; null for a market whose id PostgreSQL cannot store
     */
    upsertMarkets: (snapshots: readonly MarketSnapshot[], fences?: readonly VenueFence[]) =>
      upsertMarkets(database, snapshots, fences, onEventsAppended),
    /** Inserts markets that are not stored yet. Returns the keys of all `snapshots`, as `upsertMarkets`. */
    insertUnknownMarkets: (snapshots: readonly MarketSnapshot[]) => insertUnknownMarkets(database, snapshots),
    async upsertEvents(events: readonly EventListing[], fences?: readonly VenueFence[]): Promise<void> {
      const storable = events.filter(({ eventId }) => isStorableId(eventId));
      const uniqueEvents = new Map(storable.map((event) => [`${event.venue}\n${event.eventId}`, event]));
      for (const chunk of chunksOf([...uniqueEvents.values()], ROWS_PER_STATEMENT_MAX)) {
        await database.query(upsertEventsSql(fences !== undefined), [
          ...columnsOf(chunk, "venue", "eventId"),
          chunk.map((event) => JSON.stringify(event)),
          ...fenceParameters(fences),
        ]);
      }
    },
    /** Iterates over pages of all markets except finalized ones last updated before `finalizedSinceMs`. */
    loadAll: (options: { readonly finalizedSinceMs?: number } = {}) =>
      loadMarkets(database, options.finalizedSinceMs ?? 0),
    /** Iterates over pages of all events. */
    loadEvents: () => loadEvents(database),
    async recordStatusChange(change: StatusChange, fence?: VenueFence): Promise<void> {
      const { marketKey, changedAt, from, to, outcome } = change;
      await database.query(insertStatusChangeSql(fence !== undefined), [
        marketKey,
        toStorableTime(changedAt) ?? 0,
        from,
        to,
        outcome === null ? null : JSON.stringify(outcome),
        ...fenceParameters(fence && [fence]),
      ]);
    },
    /**
     * Inserts trades and returns the number of new trades. For a stored trade, price and size are updated if the new
     * size is larger.
     */
    async insertTrades(trades: readonly MarketTrade[]): Promise<number> {
      const rows = trades.flatMap(toTradeRow);
      let insertedCount = 0;
      for (const chunk of chunksOf(rows, ROWS_PER_STATEMENT_MAX)) {
        const columns = columnsOf(chunk, "marketKey", "tradeId", "executedAt", "yesPrice", "size", "takerSide");
        const [row] = await database.query<{ count: number }>(INSERT_TRADES, columns);
        insertedCount += row?.count ?? 0;
      }
      return insertedCount;
    },
    /** Returns the trades of a market after a position, newest first, at most `limit`. */
    async listTrades(marketKey: number, after: TradePosition | null, limit: number): Promise<readonly Trade[]> {
      const parameters = [marketKey, after?.executedAt ?? null, after?.tradeId ?? null, limit];
      const rows = await database.query<Trade>(LIST_TRADES, parameters, "request");
      return rows.map((row) => ({ ...row, yesPrice: fromMicros(row.yesPrice) }));
    },
  };
}
