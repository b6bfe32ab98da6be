import type { Activity, EventListing, MarketSnapshot, Quote } from "../domain/market.ts";
import type { Database } from "../ports/database.ts";
import { parseEvent, parseSnapshot } from "./snapshot-codec.ts";
import { toPrice } from "./storable.ts";

const PAGE_ROWS = 2_000;

/** A row of the table `quotes`, with prices in micros. In a left join, `receivedAt` is null if there is no quote. */
export type StoredQuoteRow = Omit<Quote & Activity, "eventAt" | "receivedAt"> & {
  readonly eventAt: Date | null;
  readonly receivedAt: Date | null;
};

/** The columns of `StoredQuoteRow`. */
export const QUOTE_COLUMNS = `quotes.bid, quotes.ask, quotes.bid_size as "bidSize", quotes.ask_size as "askSize",
  quotes.last as "lastPrice", quotes.indicative as "indicativePrice", quotes.volume_24h_usd as "volume24hUsd",
  quotes.volume_total_usd as "volumeTotalUsd", quotes.liquidity_usd as "liquidityUsd",
  quotes.open_interest_usd as "openInterestUsd", quotes.event_at as "eventAt", quotes.updated_at as "receivedAt"`;

/** Converts a `quotes` row to quote and activity. Returns null if the market has no row in `quotes`. */
export function toStoredQuote(row: StoredQuoteRow): Pick<MarketSnapshot, "quote" | "activity"> | null {
  if (row.receivedAt === null) return null;
  const { bidSize, askSize, volume24hUsd, volumeTotalUsd, liquidityUsd, openInterestUsd } = row;
  return {
    quote: {
      bid: toPrice(row.bid),
      ask: toPrice(row.ask),
      bidSize,
      askSize,
      lastPrice: toPrice(row.lastPrice),
      indicativePrice: toPrice(row.indicativePrice),
      eventAt: row.eventAt?.getTime() ?? null,
      receivedAt: row.receivedAt.getTime(),
    },
    activity: { volume24hUsd, volumeTotalUsd, liquidityUsd, openInterestUsd },
  };
}

export interface StoredMarket {
  readonly key: number;
  readonly snapshot: MarketSnapshot;
}

const LOAD_MARKETS = `
select markets.key, markets.snapshot, ${QUOTE_COLUMNS}
from markets left join quotes on quotes.market_key = markets.key and quotes.position > markets.position
where markets.key > $1 and (markets.status <> 'finalized' or markets.updated_at >= to_timestamp($2::float8 / 1000))
order by markets.key limit ${PAGE_ROWS}`;

const LOAD_EVENTS = `
select venue, event_id, listing from events where (venue, event_id) > ($1::text, $2::text)
order by venue, event_id limit ${PAGE_ROWS}`;

type EventKey = { readonly venue: string; readonly event_id: string };

export type StoredMarketRow = StoredQuoteRow & { readonly key: number; readonly snapshot: string };

/** Returns the stored market, with its row of `quotes` if that is newer. Empty if this version cannot read it. */
export function toStoredMarket(row: StoredMarketRow): StoredMarket[] {
  const snapshot = parseSnapshot(row.snapshot);
  return snapshot === null ? [] : [{ key: row.key, snapshot: { ...snapshot, ...toStoredQuote(row) } }];
}

/** Returns the stored event, or an empty array if this version cannot read it. */
export function toStoredEvent({ listing }: { readonly listing: string }): EventListing[] {
  const event = parseEvent(listing);
  return event === null ? [] : [event];
}

/** Implements `MarketStore.loadAll`. */
export async function* loadMarkets(
  database: Database,
  finalizedSinceMs: number,
): AsyncGenerator<readonly StoredMarket[]> {
  const readPage = (after: number) => database.query<StoredMarketRow>(LOAD_MARKETS, [after, finalizedSinceMs]);
  for await (const rows of readAhead(readPage, 0, (row) => row.key)) {
    yield rows.flatMap((row) => toStoredMarket(row));
  }
}

/** Implements `MarketStore.loadEvents`. */
export async function* loadEvents(database: Database): AsyncGenerator<readonly EventListing[]> {
  const readPage = (after: EventKey) =>
    database.query<EventKey & { listing: string }>(LOAD_EVENTS, [after.venue, after.event_id]);
  for await (const rows of readAhead(readPage, { venue: "", event_id: "" }, (row) => row)) {
    yield rows.flatMap((row) => toStoredEvent(row));
  }
}

/** Reads pages with keyset pagination. The next page is requested while the consumer processes the current one. */
async function* readAhead<Row, Key>(
  readPage: (after: Key) => Promise<readonly Row[]>,
  firstKey: Key,
  keyOf: (row: Row) => Key,
): AsyncGenerator<readonly Row[]> {
  for (let nextPage = readPage(firstKey); ; ) {
    const rows = await nextPage;
    const lastRow = rows.at(-1);
    if (lastRow === undefined) return;
    nextPage = readPage(keyOf(lastRow));
    // `await next` rethrows a failure. This handler prevents an unhandled rejection if the consumer stops early.
    nextPage.catch(() => {});
    yield rows;
  }
}
