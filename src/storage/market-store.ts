import type { EventListing, MarketSnapshot, MarketStatus, Outcome } from "../domain/market.ts";
import { appendEvents, type NewEvent } from "../event-log/index.ts";
import type { Database, Transaction } from "../ports/database.ts";
import { fenceColumns, heldFencesSql } from "./lease-fence.ts";
import { EVENT_MARKET_ID_LENGTH_MAX, marketResolved, outcomeText } from "./market-resolved.ts";
import type { MarketTrade, VenueFence } from "./model.ts";
import { QUOTE_COLUMNS, type StoredQuoteRow, withStoredQuote } from "./quote-row.ts";
import { parseEvent, parseSnapshot } from "./snapshot-codec.ts";
import { isStorableId, storableAmount, storablePrice, storableText, storableTime } from "./storable.ts";

const ROWS_PER_STATEMENT_MAX = 1_000;
const PAGE_ROWS = 2_000;

/** Counts what could not be stored or read back, by reason. */
export type StoreDrop = (reason: string) => void;

export interface StoredMarket {
  readonly key: number;
  readonly snapshot: MarketSnapshot;
}

export interface StatusChange {
  readonly marketKey: number;
  readonly from: string | null;
  readonly to: MarketStatus;
  readonly outcome: Outcome | null;
  /** Unix milliseconds. */
  readonly changedAt: number;
}

/**
 * What is known of markets apart from prices over time. All writes may be repeated. With `claims`, only what is of their
 * venues and under leases that still hold is written, and followers of the store are told by a new position; without,
 * this process is the only one that writes.
 */
export interface MarketStore {
  /**
   * Stores markets as they are now, and in the same transaction tells the event log of each that is now settled and was
   * not: once a settlement, however often it is repeated and whenever the process ends. Gives their keys in the order of `snapshots`; null for one that cannot be stored (an
   * id that no text column holds).
   */
  upsertMarkets(snapshots: readonly MarketSnapshot[], claims?: readonly VenueFence[]): Promise<(number | null)[]>;
  /** Stores markets that are not in the store and leaves the others alone; gives the keys of all, as above. */
  insertUnknownMarkets(snapshots: readonly MarketSnapshot[]): Promise<(number | null)[]>;
  upsertEvents(events: readonly EventListing[], claims?: readonly VenueFence[]): Promise<void>;
  /** Every market, in pages; without those finalized and last seen before `finalizedSinceMs`. */
  loadAll(options?: { readonly finalizedSinceMs?: number }): AsyncIterable<readonly StoredMarket[]>;
  /** Every event, in pages. */
  loadEvents(): AsyncIterable<readonly EventListing[]>;
  recordStatusChange(change: StatusChange, claim?: VenueFence): Promise<void>;
  /** Stores trades; those known already are left as they are. Gives how many were new. */
  insertTrades(trades: readonly MarketTrade[]): Promise<number>;
  /** USD traded in the 24 hours before `now`, for every market with a trade in them. */
  volume24hFromTrades(now: number): Promise<Map<number, number>>;
}

/**
 * Known markets are updated and only new ones inserted: an insert that ends in an update would still use up a number of
 * the key's sequence, and sweeps of 300,000 markets would run through all of int4 in weeks.
 */
const INCOMING_MARKETS = `
  select venue, market_id, event_id, title, status, to_timestamp(close_ms / 1000) as close_at, volume,
    to_timestamp(updated_ms / 1000) as updated_at, snapshot
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::float8[], $7::float8[], $8::float8[], $9::text[])
    as market (venue, market_id, event_id, title, status, close_ms, volume, updated_ms, snapshot)`;
const MARKET_COLUMNS = "venue, market_id, event_id, title, status, close_at, volume_24h_usd, updated_at, snapshot";
const MARKET_VALUES = "venue, market_id, event_id, title, status, close_at, volume, updated_at, snapshot";
const IS_NEW = `not exists (
    select 1 from markets known where known.venue = incoming.venue and known.market_id = incoming.market_id)`;

const upsertMarketsSql = (isClaimed: boolean) => `
with ${isClaimed ? `held as materialized (${heldFencesSql("$10", "$11")}),` : ""} incoming as (
  ${INCOMING_MARKETS} ${isClaimed ? "where venue in (select venue from held)" : ""}
), updated as (
  update markets set event_id = incoming.event_id, title = incoming.title, status = incoming.status,
    close_at = incoming.close_at, volume_24h_usd = incoming.volume, updated_at = incoming.updated_at,
    snapshot = incoming.snapshot ${isClaimed ? ", position = nextval('market_changes')" : ""}
  from incoming where markets.venue = incoming.venue and markets.market_id = incoming.market_id
  returning markets.key, markets.venue, markets.market_id
), inserted as (
  insert into markets (${MARKET_COLUMNS}, position)
  select ${MARKET_VALUES}, ${isClaimed ? "nextval('market_changes')" : "0"} from incoming where ${IS_NEW}
  on conflict (venue, market_id) do update set snapshot = excluded.snapshot, updated_at = excluded.updated_at,
    status = excluded.status, position = excluded.position
  returning key, venue, market_id
)
select key, venue, market_id from updated union all select key, venue, market_id from inserted`;

const UPSERT_MARKETS = upsertMarketsSql(false);
const UPSERT_CLAIMED_MARKETS = upsertMarketsSql(true);

/**
 * A market met by two nodes at once belongs to one of them; the other finds its key with the next attempt. The position
 * is 0, out of the followers' sight: only the venue's holder may draw one, else they would not be in the order of commits.
 */
const INSERT_UNKNOWN_MARKETS = `
with incoming as (${INCOMING_MARKETS}
), inserted as (
  insert into markets (${MARKET_COLUMNS}, position)
  select ${MARKET_VALUES}, 0 from incoming where ${IS_NEW}
  on conflict (venue, market_id) do nothing
  returning key, venue, market_id
)
select key, venue, market_id from inserted
union all select markets.key, markets.venue, markets.market_id from markets join incoming using (venue, market_id)`;

const upsertEventsSql = (isClaimed: boolean) => `
${isClaimed ? `with held as materialized (${heldFencesSql("$4", "$5")})` : ""}
insert into events (venue, event_id, listing, position)
select venue, event_id, listing, ${isClaimed ? "nextval('market_changes')" : "0"}
from unnest($1::text[], $2::text[], $3::text[]) as event (venue, event_id, listing)
${isClaimed ? "where venue in (select venue from held)" : ""}
on conflict (venue, event_id) do update set listing = excluded.listing, position = excluded.position
where events.listing is distinct from excluded.listing`;

const UPSERT_EVENTS = upsertEventsSql(false);
const UPSERT_CLAIMED_EVENTS = upsertEventsSql(true);

const LOAD_PAGE = `
select markets.key, markets.snapshot, ${QUOTE_COLUMNS}
from markets left join quotes on quotes.market_key = markets.key and quotes.position > markets.position
where markets.key > $1 and (markets.status <> 'finalized' or markets.updated_at >= to_timestamp($2::float8 / 1000))
order by markets.key limit ${PAGE_ROWS}`;

const INSERT_TRADES = `
with added as (
  insert into trades (market_key, trade_id, executed_at, yes_price, size, taker_side)
  select market_key, trade_id, to_timestamp(executed_ms / 1000), yes_price, size, taker_side
  from unnest($1::int4[], $2::text[], $3::float8[], $4::int4[], $5::float8[], $6::text[])
    as trade (market_key, trade_id, executed_ms, yes_price, size, taker_side)
  on conflict (market_key, trade_id) do nothing
  returning 1
) select count(*) as count from added`;

/**
 * Marks the markets whose settlement has not been told yet and gives them. What is stored decides, not what this process
 * remembers. A market met already settled is no news; one whose outcome comes later, or changes, is.
 */
const announceSettlementsSql = (isClaimed: boolean) => `
${isClaimed ? `with held as materialized (${heldFencesSql("$4", "$5")})` : ""}
update markets set announced_outcome = settled.outcome
from unnest($1::text[], $2::text[], $3::text[]) as settled (venue, market_id, outcome)
where ${isClaimed ? "settled.venue in (select venue from held) and" : ""} markets.venue = settled.venue and markets.market_id = settled.market_id
  and (markets.status <> 'finalized' or markets.announced_outcome is not null)
  and markets.announced_outcome is distinct from settled.outcome
  and (settled.outcome <> '' or markets.announced_outcome is null)
returning markets.venue, markets.market_id`;

const ANNOUNCE_SETTLEMENTS = announceSettlementsSql(false);
/** The leases stay locked until the transaction ends, so what is told here is also written. */
const ANNOUNCE_CLAIMED_SETTLEMENTS = announceSettlementsSql(true);

const nameOf = (venue: string, id: string) => `${venue}\n${id}`;

interface EventName extends Record<string, unknown> {
  readonly venue: string;
  readonly event_id: string;
}

/** Pages by key; the store reads the next one while this one is worked on. */
async function* readAhead<Row, Key>(
  read: (after: Key) => Promise<readonly Row[]>,
  first: Key,
  keyOf: (row: Row) => Key,
): AsyncGenerator<readonly Row[]> {
  for (let next = read(first); ; ) {
    const rows = await next;
    const last = rows.at(-1);
    if (last === undefined) return;
    next = read(keyOf(last));
    // Whoever waits for it sees the failure; nobody waiting, after an early end, must not end the process.
    next.catch(() => {});
    yield rows;
  }
}

function* inChunks<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let start = 0; start < items.length; start += ROWS_PER_STATEMENT_MAX) {
    yield items.slice(start, start + ROWS_PER_STATEMENT_MAX);
  }
}

/**
 * @param drop  told of every row that could not be stored or read back
 * @param announce  called after each commit that has told the event log something
 */
export function createMarketStore(
  database: Database,
  drop: StoreDrop = () => {},
  announce: () => void = () => {},
): MarketStore {
  const upsertChunk =
    (claims: readonly VenueFence[] | undefined) =>
    async (snapshots: readonly MarketSnapshot[], keys: Map<string, number>) => {
      const write =
        claims === undefined
          ? writeChunk(UPSERT_MARKETS, [])
          : writeChunk(UPSERT_CLAIMED_MARKETS, fenceColumns(claims));
      const settled = snapshots.filter(({ listing }) => listing.status === "finalized");
      if (settled.length === 0) return write(snapshots, keys, database);
      const told = await database.transaction(async (transaction) => {
        const events = await announceSettlements(transaction, settled, claims);
        await write(snapshots, keys, transaction);
        return appendEvents(transaction, events);
      });
      if (told > 0) announce();
    };

  const announceSettlements = async (
    transaction: Transaction,
    snapshots: readonly MarketSnapshot[],
    claims: readonly VenueFence[] | undefined,
  ): Promise<NewEvent[]> => {
    const statement = claims === undefined ? ANNOUNCE_SETTLEMENTS : ANNOUNCE_CLAIMED_SETTLEMENTS;
    const news = await transaction.query<{ venue: string; market_id: string }>(statement, [
      snapshots.map(({ listing }) => listing.venue),
      snapshots.map(({ listing }) => listing.marketId),
      snapshots.map(({ listing }) => outcomeText(listing.outcome)),
      ...(claims === undefined ? [] : fenceColumns(claims)),
    ]);
    const names = new Set(news.map((row) => nameOf(row.venue, row.market_id)));
    return snapshots.flatMap((snapshot) => {
      const { venue, marketId, outcome } = snapshot.listing;
      if (outcome === null || !names.has(nameOf(venue, marketId))) return [];
      if (marketId.length <= EVENT_MARKET_ID_LENGTH_MAX) return [marketResolved(snapshot, outcome)];
      drop("market_id_too_long_for_an_event");
      return [];
    });
  };

  const writeChunk =
    (statement: string, more: readonly unknown[]) =>
    async (snapshots: readonly MarketSnapshot[], keys: Map<string, number>, store: Transaction = database) => {
      const rows = await store.query<{ key: number; venue: string; market_id: string }>(statement, [
        snapshots.map(({ listing }) => listing.venue),
        snapshots.map(({ listing }) => listing.marketId),
        snapshots.map(({ listing }) => (listing.eventId === null ? null : storableText(listing.eventId))),
        snapshots.map(({ listing }) => storableText(listing.title)),
        snapshots.map(({ listing }) => listing.status),
        snapshots.map(({ listing }) => storableTime(listing.closeAt)),
        snapshots.map(({ activity }) => storableAmount(activity.volume24hUsd)),
        snapshots.map(({ quote }) => storableTime(quote.receivedAt) ?? 0),
        // JSON writes NUL and broken surrogates as escapes, so any text of a venue's fits.
        snapshots.map((snapshot) => JSON.stringify(snapshot)),
        ...more,
      ]);
      for (const row of rows) keys.set(nameOf(row.venue, row.market_id), row.key);
    };

  const writeMarkets = async (
    snapshots: readonly MarketSnapshot[],
    write: (chunk: readonly MarketSnapshot[], keys: Map<string, number>) => Promise<void>,
  ) => {
    const unique = new Map<string, MarketSnapshot>();
    for (const snapshot of snapshots) {
      const { venue, marketId } = snapshot.listing;
      if (!isStorableId(marketId) || !marketId.isWellFormed()) drop("market_id_not_storable");
      else unique.set(nameOf(venue, marketId), snapshot);
    }
    const keys = new Map<string, number>();
    for (const chunk of inChunks([...unique.values()])) await write(chunk, keys);
    return snapshots.map(({ listing }) => keys.get(nameOf(listing.venue, listing.marketId)) ?? null);
  };

  return {
    upsertMarkets: (snapshots, claims) => writeMarkets(snapshots, upsertChunk(claims)),

    insertUnknownMarkets: (snapshots) => writeMarkets(snapshots, writeChunk(INSERT_UNKNOWN_MARKETS, [])),

    async upsertEvents(events, claims) {
      const unique = new Map<string, EventListing>();
      for (const event of events) {
        if (isStorableId(event.eventId)) unique.set(nameOf(event.venue, event.eventId), event);
        else drop("event_id_not_storable");
      }
      for (const chunk of inChunks([...unique.values()])) {
        await database.query(claims === undefined ? UPSERT_EVENTS : UPSERT_CLAIMED_EVENTS, [
          chunk.map((event) => event.venue),
          chunk.map((event) => event.eventId),
          chunk.map((event) => JSON.stringify(event)),
          ...(claims === undefined ? [] : fenceColumns(claims)),
        ]);
      }
    },

    async *loadAll(options = {}) {
      const read = (after: number) =>
        database.query<{ key: number; snapshot: string } & StoredQuoteRow>(LOAD_PAGE, [
          after,
          options.finalizedSinceMs ?? 0,
        ]);
      for await (const rows of readAhead(read, 0, (row) => row.key)) {
        const page: StoredMarket[] = [];
        for (const row of rows) {
          const snapshot = parseSnapshot(row.snapshot);
          if (snapshot === null) drop("stored_market_unreadable");
          else page.push({ key: row.key, snapshot: withStoredQuote(snapshot, row) });
        }
        yield page;
      }
    },

    async *loadEvents() {
      const read = (after: EventName) =>
        database.query<EventName & { listing: string }>(
          `select venue, event_id, listing from events where (venue, event_id) > ($1::text, $2::text)
           order by venue, event_id limit ${PAGE_ROWS}`,
          [after.venue, after.event_id],
        );
      for await (const rows of readAhead(read, { venue: "", event_id: "" }, (row) => row)) {
        const page: EventListing[] = [];
        for (const row of rows) {
          const event = parseEvent(row.listing);
          if (event === null) drop("stored_event_unreadable");
          else page.push(event);
        }
        yield page;
      }
    },

    async recordStatusChange(change, claim) {
      const outcome = change.outcome === null ? null : JSON.stringify(change.outcome);
      const changedAt = storableTime(change.changedAt) ?? 0;
      await database.query(
        `${claim === undefined ? "" : `with held as materialized (${heldFencesSql("$6", "$7")})`}
         insert into status_changes (market_key, changed_at, from_status, to_status, outcome)
         select $1::int4, to_timestamp($2::float8 / 1000), $3::text, $4::text, $5::jsonb
         ${claim === undefined ? "" : "where exists (select 1 from held)"} on conflict do nothing`,
        [
          ...[change.marketKey, changedAt, change.from, change.to, outcome],
          ...(claim === undefined ? [] : fenceColumns([claim])),
        ],
      );
    },

    async insertTrades(trades) {
      let count = 0;
      const usable = trades.filter(({ trade }) => {
        const isUsable =
          isStorableId(trade.tradeId) &&
          storableTime(trade.executedAt) !== null &&
          storablePrice(trade.yesPrice) !== null &&
          storableAmount(trade.size) !== null;
        if (!isUsable) drop("trade_not_storable");
        return isUsable;
      });
      for (const chunk of inChunks(usable)) {
        const [row] = await database.query<{ count: number }>(INSERT_TRADES, [
          chunk.map(({ marketKey }) => marketKey),
          chunk.map(({ trade }) => trade.tradeId),
          chunk.map(({ trade }) => storableTime(trade.executedAt)),
          chunk.map(({ trade }) => storablePrice(trade.yesPrice)),
          chunk.map(({ trade }) => trade.size),
          chunk.map(({ trade }) => trade.takerSide),
        ]);
        count += row?.count ?? 0;
      }
      return count;
    },

    async volume24hFromTrades(now) {
      const rows = await database.query<{ market_key: number; volume_usd: number }>(
        `select market_key, sum(size * yes_price / 1000000.0)::float8 as volume_usd from trades
         where executed_at > to_timestamp($1::float8 / 1000) - interval '24 hours'
           and executed_at <= to_timestamp($1::float8 / 1000)
         group by market_key`,
        [now],
      );
      return new Map(rows.map((row) => [row.market_key, row.volume_usd]));
    },
  };
}
