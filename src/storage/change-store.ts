import type { Activity, EventListing, Quote, VenueId } from "../domain/market.ts";
import { chunksOf } from "../lib/chunks.ts";
import type { Database } from "../ports/database.ts";
import { fenceColumns, heldFencesSql } from "./lease-fence.ts";
import type { StoredMarket } from "./load-markets.ts";
import type { VenueFence } from "./model.ts";
import { QUOTE_COLUMNS, type StoredQuoteRow, withStoredQuote } from "./quote-row.ts";
import { parseEvent, parseSnapshot } from "./snapshot-codec.ts";
import { type StoreDrop, storableAmount, storablePrice, storableTime } from "./storable.ts";

const ROWS_PER_STATEMENT_MAX = 2_000;
/** Rows of one venue and one kind that a single read gives. */
const CHANGES_PER_READ_MAX = 2_000;

/** How far a venue's changes have been read, by table. */
export interface ChangeCursor {
  readonly events: number;
  readonly markets: number;
  readonly quotes: number;
}

export interface CurrentQuote {
  readonly marketKey: number;
  readonly venue: VenueId;
  readonly quote: Quote;
  readonly activity: Activity;
  /** When the quote was last confirmed, Unix milliseconds. */
  readonly updatedAt: number;
}

export interface QuoteChange {
  readonly venue: VenueId;
  readonly marketId: string;
  /** `receivedAt` is when it was last confirmed. */
  readonly quote: Quote;
  readonly activity: Activity;
}

export interface Changes {
  readonly events: readonly EventListing[];
  readonly quotes: readonly QuoteChange[];
  /** With their present quotes, which are never older than those above: apply them last. */
  readonly markets: readonly StoredMarket[];
  /** Where each venue's next read begins. */
  readonly cursors: ReadonlyMap<VenueId, ChangeCursor>;
  /** There is more to read at once. */
  readonly isMore: boolean;
}

/**
 * What changed in the store, venue by venue, for nodes that follow it.
 *
 * Positions are drawn from one sequence inside the writing statement. A venue has one writer at a time, which writes one
 * statement after the other, and a take-over waits for what is being written: so a venue's positions are committed in
 * their order, and a reader who has seen one has seen all before it.
 */
export interface ChangeStore {
  /** Stores present quotes, of venues whose leases still hold. */
  saveQuotes(quotes: readonly CurrentQuote[], claims: readonly VenueFence[]): Promise<void>;
  /** The last positions of these venues; take them before loading everything, and nothing is missed after it. */
  latest(venues: readonly VenueId[]): Promise<Map<VenueId, ChangeCursor>>;
  /** The next changes behind the cursors; without markets finalized and last seen before `finalizedSinceMs`. */
  read(cursors: ReadonlyMap<VenueId, ChangeCursor>, finalizedSinceMs: number): Promise<Changes>;
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

/** The next rows of a table behind each venue's cursor, in order; `$1` are the venues and `$2` their cursors. */
const nextRows = (table: "events" | "markets" | "quotes", columns: string, join = "", condition = "") => `
select next.venue, next.position, ${columns}
from unnest($1::text[], $2::int8[]) as cursor (venue, after)
cross join lateral (
  select * from ${table}
  where ${table}.venue = cursor.venue and ${table}.position > cursor.after ${condition}
  order by ${table}.position limit ${CHANGES_PER_READ_MAX}
) as next ${join}
order by next.position`;

const NEXT_EVENTS = nextRows("events", "next.listing");
const NEXT_MARKETS = nextRows(
  "markets",
  `next.key, next.snapshot, ${QUOTE_COLUMNS}`,
  "left join quotes on quotes.market_key = next.key and quotes.position > next.position",
  "and (markets.status <> 'finalized' or markets.updated_at >= to_timestamp($3::float8 / 1000))",
);
const NEXT_QUOTES = nextRows(
  "quotes",
  `markets.market_id, ${QUOTE_COLUMNS.replaceAll("quotes.", "next.")}`,
  "join markets on markets.key = next.market_key",
);

interface ChangeRow extends Record<string, unknown> {
  readonly venue: string;
  readonly position: number;
}

/** @param drop  told of every row that could not be read back */
export function createChangeStore(database: Database, drop: StoreDrop = () => {}): ChangeStore {
  return {
    async saveQuotes(quotes, claims) {
      for (const rows of chunksOf(quotes, ROWS_PER_STATEMENT_MAX)) {
        await database.query(SAVE_QUOTES, [
          rows.map(({ marketKey }) => marketKey),
          rows.map(({ venue }) => venue),
          rows.map(({ quote }) => storablePrice(quote.bid)),
          rows.map(({ quote }) => storablePrice(quote.ask)),
          rows.map(({ quote }) => storableAmount(quote.bidSize)),
          rows.map(({ quote }) => storableAmount(quote.askSize)),
          rows.map(({ quote }) => storablePrice(quote.lastPrice)),
          rows.map(({ quote }) => storablePrice(quote.indicativePrice)),
          rows.map(({ activity }) => storableAmount(activity.volume24hUsd)),
          rows.map(({ activity }) => storableAmount(activity.volumeTotalUsd)),
          rows.map(({ activity }) => storableAmount(activity.liquidityUsd)),
          rows.map(({ activity }) => storableAmount(activity.openInterestUsd)),
          rows.map(({ quote }) => storableTime(quote.eventAt)),
          ...fenceColumns(claims),
          rows.map(({ updatedAt }) => storableTime(updatedAt) ?? 0),
        ]);
      }
    },

    async latest(venues) {
      const rows = await database.query<{ venue: string; events: number; markets: number; quotes: number }>(
        `select venue,
           coalesce((select max(position) from events where events.venue = wanted.venue), 0) as events,
           coalesce((select max(position) from markets where markets.venue = wanted.venue), 0) as markets,
           coalesce((select max(position) from quotes where quotes.venue = wanted.venue), 0) as quotes
         from unnest($1::text[]) as wanted (venue)`,
        [venues],
      );
      return new Map(rows.map(({ venue, ...cursor }) => [venue, cursor]));
    },

    async read(cursors, finalizedSinceMs) {
      const venues = [...cursors.keys()];
      const after = (table: keyof ChangeCursor) => [venues, [...cursors.values()].map((cursor) => cursor[table])];
      // Markets come with their present quotes and are read after them: a quote whose market is not known yet is with it.
      const quotes = await database.query<ChangeRow & { market_id: string } & StoredQuoteRow>(
        NEXT_QUOTES,
        after("quotes"),
      );
      const markets = await database.query<ChangeRow & { key: number; snapshot: string } & StoredQuoteRow>(
        NEXT_MARKETS,
        [...after("markets"), finalizedSinceMs],
      );
      const events = await database.query<ChangeRow & { listing: string }>(NEXT_EVENTS, after("events"));
      const next = new Map(cursors);
      let isMore = false;
      for (const [table, rows] of Object.entries({ events, markets, quotes } satisfies Record<
        keyof ChangeCursor,
        readonly ChangeRow[]
      >)) {
        const counts = new Map<VenueId, number>();
        for (const { venue, position } of rows) {
          const cursor = next.get(venue);
          if (cursor !== undefined) next.set(venue, { ...cursor, [table]: position });
          counts.set(venue, (counts.get(venue) ?? 0) + 1);
        }
        isMore ||= [...counts.values()].some((count) => count >= CHANGES_PER_READ_MAX);
      }
      return {
        events: events.flatMap(({ listing }) => parseEvent(listing) ?? dropped(drop, "stored_event_unreadable")),
        markets: markets.flatMap((row) => {
          const snapshot = parseSnapshot(row.snapshot);
          if (snapshot === null) return dropped(drop, "stored_market_unreadable");
          return { key: row.key, snapshot: withStoredQuote(snapshot, row) };
        }),
        quotes: quotes.map((row) => ({
          venue: row.venue,
          marketId: row.market_id,
          ...withStoredQuote(UNKNOWN, row),
        })),
        cursors: next,
        isMore,
      };
    },
  };
}

function dropped(drop: StoreDrop, reason: string): [] {
  drop(reason);
  return [];
}

const UNKNOWN: Pick<QuoteChange, "quote" | "activity"> = {
  quote: {
    ...{ bid: null, ask: null, bidSize: null, askSize: null, lastPrice: null, indicativePrice: null },
    ...{ eventAt: null, receivedAt: 0 },
  },
  activity: { volume24hUsd: null, volumeTotalUsd: null, liquidityUsd: null, openInterestUsd: null },
};
