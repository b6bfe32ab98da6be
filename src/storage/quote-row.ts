import type { Activity, MarketSnapshot, Quote } from "../domain/market.ts";
import { toPrice } from "./storable.ts";

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
