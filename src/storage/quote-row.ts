import type { MarketSnapshot } from "../domain/market.ts";
import { toPrice } from "./storable.ts";

/** A row of the table `quotes`. In a left join, `quote_updated_at` is null if the market has no quote. */
export interface StoredQuoteRow extends Record<string, unknown> {
  readonly bid: number | null;
  readonly ask: number | null;
  readonly bid_size: number | null;
  readonly ask_size: number | null;
  readonly last: number | null;
  readonly indicative: number | null;
  readonly quote_volume_24h_usd: number | null;
  readonly volume_total_usd: number | null;
  readonly liquidity_usd: number | null;
  readonly open_interest_usd: number | null;
  readonly event_at: Date | null;
  readonly quote_updated_at: Date | null;
}

/** The columns of `StoredQuoteRow`. */
export const QUOTE_COLUMNS = `quotes.bid, quotes.ask, quotes.bid_size, quotes.ask_size, quotes.last, quotes.indicative,
  quotes.volume_24h_usd as quote_volume_24h_usd, quotes.volume_total_usd, quotes.liquidity_usd, quotes.open_interest_usd,
  quotes.event_at, quotes.updated_at as quote_updated_at`;

/** Converts a `quotes` row to quote and activity. Returns null if the market has no row in `quotes`. */
export function toStoredQuote(row: StoredQuoteRow): Pick<MarketSnapshot, "quote" | "activity"> | null {
  if (row.quote_updated_at === null) return null;
  return {
    quote: {
      bid: toPrice(row.bid),
      ask: toPrice(row.ask),
      bidSize: row.bid_size,
      askSize: row.ask_size,
      lastPrice: toPrice(row.last),
      indicativePrice: toPrice(row.indicative),
      eventAt: row.event_at?.getTime() ?? null,
      receivedAt: row.quote_updated_at.getTime(),
    },
    activity: {
      volume24hUsd: row.quote_volume_24h_usd,
      volumeTotalUsd: row.volume_total_usd,
      liquidityUsd: row.liquidity_usd,
      openInterestUsd: row.open_interest_usd,
    },
  };
}
