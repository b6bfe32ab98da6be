import type { EventListing, MarketSnapshot, VenueId } from "../domain/market.ts";
import { chunksOf } from "../lib/chunks.ts";
import { columnsOf } from "../lib/columns-of.ts";
import type { Database } from "../ports/database.ts";
import { fenceParameters, heldFencesSql } from "./lease-fence.ts";
import {
  QUOTE_COLUMNS,
  type StoredMarket,
  type StoredMarketRow,
  type StoredQuoteRow,
  toStoredEvent,
  toStoredMarket,
  toStoredQuote,
} from "./load-markets.ts";
import type { VenueFence } from "./model.ts";
import { toStorableAmount, toStorablePrice, toStorableTime } from "./storable.ts";

const ROWS_PER_STATEMENT_MAX = 2_000;
/** Maximum rows that one read returns per venue and table. */
const CHANGES_PER_READ_MAX = 2_000;

type ChangeTable = "events" | "markets" | "quotes";
/** Position up to which a venue's changes have been read, for each table. */
export type ChangeCursor = Readonly<Record<ChangeTable, number>>;

export interface CurrentQuote extends Pick<MarketSnapshot, "quote" | "activity"> {
  readonly marketKey: number;
  readonly venue: VenueId;
  /** When the quote was last confirmed, Unix milliseconds. */
  readonly updatedAt: number;
}

/** A stored quote whose `receivedAt` is the time it was last confirmed. */
interface QuoteChange extends Pick<MarketSnapshot, "quote" | "activity"> {
  readonly venue: VenueId;
  readonly marketId: string;
}

interface Changes {
  readonly events: readonly EventListing[];
  readonly quotes: readonly QuoteChange[];
  /** Changed markets with their current quotes, which are at least as recent as those in `quotes`. Apply them last. */
  readonly markets: readonly StoredMarket[];
  /** Cursors for the next read, by venue. */
  readonly cursors: ReadonlyMap<VenueId, ChangeCursor>;
  /** Whether more changes can be read immediately. */
  readonly hasMore: boolean;
}

const SAVE_QUOTES = `
with held as materialized (${heldFencesSql("$14", "$15")})
insert into quotes (market_key, venue, position, bid, ask, bid_size, ask_size, last, indicative, volume_24h_usd,
  volume_total_usd, liquidity_usd, open_interest_usd, event_at, updated_at)
select market_key, venue, nextval('market_changes'), bid, ask, bid_size, ask_size, last, indicative, volume_24h,
  volume_total, liquidity, open_interest, to_timestamp(event_ms / 1000), to_timestamp(updated_ms / 1000)
from unnest($1::int4[], $2::text[], $3::int4[], $4::int4[], $5::float8[], $6::float8[], $7::int4[], $8::int4[],
    $9::float8[], $10::float8[], $11::float8[], $12::float8[], $13::float8[], $16::float8[])
  as quote (market_key, venue, bid, ask, bid_size, ask_size, last, indicative, volume_24h, volume_total, liquidity,
    open_interest, event_ms, updated_ms)
where venue in (select venue from held)
on conflict (market_key) do update set
  position = excluded.position, bid = excluded.bid, ask = excluded.ask, bid_size = excluded.bid_size,
  ask_size = excluded.ask_size, last = excluded.last, indicative = excluded.indicative,
  volume_24h_usd = excluded.volume_24h_usd, volume_total_usd = excluded.volume_total_usd,
  liquidity_usd = excluded.liquidity_usd, open_interest_usd = excluded.open_interest_usd,
  event_at = excluded.event_at, updated_at = excluded.updated_at`;

/** Returns SQL for the next rows of a table after each venue's cursor. Parameters: `$1` venues, `$2` cursors. */
const nextRowsSql = (table: ChangeTable, columns: string, join = "", condition = "") => `
select next.venue, next.position, ${columns}
from unnest($1::text[], $2::int8[]) as cursor (venue, after)
cross join lateral (
  select * from ${table}
  where ${table}.venue = cursor.venue and ${table}.position > cursor.after ${condition}
  order by ${table}.position limit ${CHANGES_PER_READ_MAX}
) as next ${join}
order by next.position`;

const NEXT_EVENTS = nextRowsSql("events", "next.listing");
const NEXT_MARKETS = nextRowsSql(
  "markets",
  `next.key, next.snapshot, ${QUOTE_COLUMNS}`,
  "left join quotes on quotes.market_key = next.key and quotes.position > next.position",
  "and (markets.status <> 'finalized' or markets.updated_at >= to_timestamp($3::float8 / 1000))",
);
const NEXT_QUOTES = nextRowsSql(
  "quotes",
  `markets.market_id as "marketId", ${QUOTE_COLUMNS.replaceAll("quotes.", "next.")}`,
  "join markets on markets.key = next.market_key",
);

type ChangeRow = { readonly venue: VenueId; readonly position: number };
type QuoteChangeRow = ChangeRow & StoredQuoteRow & { readonly marketId: string };

export type ChangeStore = ReturnType<typeof createChangeStore>;

/**
 * Change feed of the store, per venue, for nodes that do not hold the venue's lease.
 *
 * Each change has a position from one sequence, assigned by the writing statement. A venue has one writer at a time,
 * which runs its statements sequentially, and a takeover waits for the running statement. Positions of a venue
 * therefore become visible in ascending order, and a reader that has read one position has read all lower ones.
 */
export function createChangeStore(database: Database) {
  return {
    /** Stores the current quotes of venues whose fence still matches the lease; ignores other quotes. */
    async saveQuotes(quotes: readonly CurrentQuote[], fences: readonly VenueFence[]): Promise<void> {
      for (const rows of chunksOf(quotes, ROWS_PER_STATEMENT_MAX)) {
        await database.query(SAVE_QUOTES, [
          ...columnsOf(rows, "marketKey", "venue"),
          rows.map(({ quote }) => toStorablePrice(quote.bid)),
          rows.map(({ quote }) => toStorablePrice(quote.ask)),
          rows.map(({ quote }) => toStorableAmount(quote.bidSize)),
          rows.map(({ quote }) => toStorableAmount(quote.askSize)),
          rows.map(({ quote }) => toStorablePrice(quote.lastPrice)),
          rows.map(({ quote }) => toStorablePrice(quote.indicativePrice)),
          rows.map(({ activity }) => toStorableAmount(activity.volume24hUsd)),
          rows.map(({ activity }) => toStorableAmount(activity.volumeTotalUsd)),
          rows.map(({ activity }) => toStorableAmount(activity.liquidityUsd)),
          rows.map(({ activity }) => toStorableAmount(activity.openInterestUsd)),
          rows.map(({ quote }) => toStorableTime(quote.eventAt)),
          ...fenceParameters(fences),
          rows.map(({ updatedAt }) => toStorableTime(updatedAt) ?? 0),
        ]);
      }
    },

    /** Returns the latest positions of these venues. Read them before loading the store, or changes may be missed. */
    async latestCursors(venues: readonly VenueId[]): Promise<Map<VenueId, ChangeCursor>> {
      const rows = await database.query<{ venue: VenueId } & ChangeCursor>(
        `select venue,
           coalesce((select max(position) from events where events.venue = requested.venue), 0) as events,
           coalesce((select max(position) from markets where markets.venue = requested.venue), 0) as markets,
           coalesce((select max(position) from quotes where quotes.venue = requested.venue), 0) as quotes
         from unnest($1::text[]) as requested (venue)`,
        [venues],
      );
      return new Map(rows.map(({ venue, ...cursor }) => [venue, cursor]));
    },

    /** Returns the changes after the cursors, without finalized markets last updated before `finalizedSinceMs`. */
    async read(cursors: ReadonlyMap<VenueId, ChangeCursor>, finalizedSinceMs: number): Promise<Changes> {
      const venues = [...cursors.keys()];
      const parameters = (table: ChangeTable) => [venues, [...cursors.values()].map((cursor) => cursor[table])];
      // Markets are read after quotes and include their current quote. Otherwise the follower would lose a quote of a
      // market that it has not read yet.
      const quotes = await database.query<QuoteChangeRow>(NEXT_QUOTES, parameters("quotes"));
      const markets = await database.query<ChangeRow & StoredMarketRow>(NEXT_MARKETS, [
        ...parameters("markets"),
        finalizedSinceMs,
      ]);
      const events = await database.query<ChangeRow & { listing: string }>(NEXT_EVENTS, parameters("events"));
      const nextCursors = new Map(cursors);
      let hasMore = false;
      const rowsByTable: Record<ChangeTable, readonly ChangeRow[]> = { events, markets, quotes };
      for (const [table, rows] of Object.entries(rowsByTable)) {
        const counts = new Map<VenueId, number>();
        for (const { venue, position } of rows) {
          const cursor = nextCursors.get(venue);
          if (cursor !== undefined) nextCursors.set(venue, { ...cursor, [table]: position });
          counts.set(venue, (counts.get(venue) ?? 0) + 1);
        }
        hasMore ||= [...counts.values()].some((count) => count >= CHANGES_PER_READ_MAX);
      }
      return {
        events: events.flatMap(toStoredEvent),
        markets: markets.flatMap(toStoredMarket),
        quotes: quotes.flatMap((row) => {
          const storedQuote = toStoredQuote(row);
          return storedQuote === null ? [] : [{ venue: row.venue, marketId: row.marketId, ...storedQuote }];
        }),
        cursors: nextCursors,
        hasMore,
      };
    },
  };
}
