/** What an adapter returns, as flat rows that are compared. Texts of venues are replaced by their hashes. */
import { createHash } from "node:crypto";
import {
  type EventListing,
  type MarketSnapshot,
  type Outcome,
  type Quote,
  type TakerFee,
  yesPrice,
} from "../../src/domain/market.ts";
import type { BookLevel, OrderBook } from "../../src/domain/order-book.ts";
import type { HistoryPoint, Trade } from "../../src/domain/trade.ts";

export type Row = Readonly<Record<string, string | number | boolean | null>>;

/** Prices at which taker fees are compared. They are points of Limitless' fee table. */
const FEE_PRICES = [0.5, 0.75, 0.95] as const;

export const NO_QUOTE = {
  bid: null,
  ask: null,
  bidSize: null,
  askSize: null,
  lastPrice: null,
  indicativePrice: null,
} as Omit<Quote, "receivedAt" | "eventAt">;

export const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 8);
const hashed = (text: string | null | undefined) => (text == null ? null : `#${hashOf(text)}`);
const timeText = (at: number | null) => (at === null ? null : new Date(at).toISOString());

export function marketRow({ listing, quote, activity }: MarketSnapshot, event: EventListing | null): Row {
  const ranges = listing.priceRanges?.map(({ from, to, step }) => `${from}-${to}/${step}`);
  return {
    event: listing.eventId,
    title: hashed(listing.title),
    label: hashed(listing.outcomeLabel),
    event_title: hashed(event?.title),
    category: listing.category,
    status: listing.status,
    paused: listing.paused,
    outcome: outcomeText(listing.outcome),
    ...quoteRow(quote),
    volume_24h: activity.volume24hUsd,
    volume_total: activity.volumeTotalUsd,
    liquidity: activity.liquidityUsd,
    open_interest: activity.openInterestUsd,
    price_ranges: ranges?.join(" ") ?? null,
    min_order_contracts: listing.minOrderContracts,
    taker_delay_ms: listing.takerDelayMs,
    protocol_version: listing.protocolVersion,
    ...Object.fromEntries(FEE_PRICES.map((at) => [`taker_fee_at_${at}`, feeAt(listing.takerFee, at)])),
    open_time: timeText(listing.openAt),
    close_time: timeText(listing.closeAt),
    resolved_time: timeText(listing.resolvedAt),
    mutually_exclusive: event?.mutuallyExclusive ?? null,
    exhaustive: event?.exhaustive ?? null,
  };
}

export function quoteRow(quote: Omit<Quote, "receivedAt" | "eventAt">): Row {
  return {
    bid: quote.bid,
    ask: quote.ask,
    bid_size: quote.bidSize,
    ask_size: quote.askSize,
    last_price: quote.lastPrice,
    yes_price: yesPrice(quote),
  };
}

function outcomeText(outcome: Outcome | null): string | null {
  if (outcome === null) return null;
  return "value" in outcome && outcome.value !== null ? `${outcome.kind} ${outcome.value}` : outcome.kind;
}

/** Returns the fee per contract at a price, or null if it is unknown. */
function feeAt(fee: TakerFee | null, at: number): number | null {
  if (fee === null) return null;
  if (fee.kind === "none") return 0;
  if (fee.kind === "flat_value") return fee.rate * at;
  if (fee.kind === "quadratic") return fee.rate * (at * (1 - at)) ** fee.exponent;
  const share = fee.buyPoints.find(([point]) => point === at)?.[1];
  return share === undefined ? null : (at * share) / (1 - share);
}

/** The best levels, and number, total size, total value and hash of all levels. */
export function bookRow(book: OrderBook | null): Row {
  if (book === null) return { exists: false };
  const sideOf = (name: string, levels: readonly BookLevel[]): Row => ({
    [name]: levels[0]?.price ?? null,
    [`${name}_size`]: levels[0]?.size ?? null,
    [`${name}s`]: levels.length,
    [`${name}s_size`]: levels.reduce((sum, { size }) => sum + size, 0),
    [`${name}s_value`]: levels.reduce((sum, { price, size }) => sum + price * size, 0),
    [`${name}s_hash`]: hashOf(JSON.stringify(levels.map(({ price, size }) => [price, size]))),
  });
  return { ...sideOf("bid", book.bids), ...sideOf("ask", book.asks), last_price: book.lastPrice };
}

export function tradeRow(trade: Trade): Row {
  return {
    at: timeText(trade.executedAt),
    yes_price: trade.yesPrice,
    size: trade.size,
    taker_side: trade.takerSide,
  };
}

export function historyRow(point: HistoryPoint): Row {
  return {
    at: timeText(point.endAt),
    yes_price: point.yesPrice,
    bid: point.bid,
    ask: point.ask,
    volume: point.volumeUsd,
  };
}
