/** Converts what an adapter returns to the facts that are compared. */
import {
  type EventListing,
  type MarketSnapshot,
  type Outcome,
  type Quote,
  type TakerFee,
  yesPrice,
} from "../../../src/domain/market.ts";
import type { OrderBook } from "../../../src/domain/order-book.ts";
import type { HistoryPoint, Trade } from "../../../src/domain/trade.ts";
import { type Facts, showTime } from "../expectation.ts";
import { FEE_PRICES } from "../expected/market.ts";

export function marketFacts({ listing, quote, activity }: MarketSnapshot, event: EventListing | null): Facts {
  return {
    event_id: listing.eventId,
    title: listing.title,
    label: listing.outcomeLabel,
    title_and_label: `${listing.title} ${listing.outcomeLabel ?? ""}`,
    category: listing.category,
    status: listing.status,
    paused: listing.paused,
    outcome: showOutcome(listing.outcome),
    ...quoteFacts(quote),
    volume_24h: activity.volume24hUsd,
    volume_total: activity.volumeTotalUsd,
    liquidity: activity.liquidityUsd,
    open_interest: activity.openInterestUsd,
    price_ranges: listing.priceRanges?.map(({ from, to, step }) => [from, to, step]) ?? null,
    min_order_contracts: listing.minOrderContracts,
    taker_delay_ms: listing.takerDelayMs,
    protocol_version: listing.protocolVersion,
    ...Object.fromEntries(FEE_PRICES.map((at) => [`taker_fee_at_${at}`, feeAt(listing.takerFee, at)])),
    open_time: showTime(listing.openAt),
    close_time: showTime(listing.closeAt),
    resolved_time: showTime(listing.resolvedAt),
    event_title: event?.title,
    mutually_exclusive: event?.mutuallyExclusive,
    exhaustive: event?.exhaustive,
  };
}

export function quoteFacts(quote: Omit<Quote, "receivedAt" | "eventAt">): Facts {
  return {
    bid: quote.bid,
    ask: quote.ask,
    bid_size: quote.bidSize,
    ask_size: quote.askSize,
    last_price: quote.lastPrice,
    yes_price: yesPrice(quote),
  };
}

function showOutcome(outcome: Outcome | null): string | null {
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

export function bookTopFacts(book: OrderBook): Facts {
  const [bid, ask] = [book.bids[0], book.asks[0]];
  return quoteFacts({
    bid: bid?.price ?? null,
    ask: ask?.price ?? null,
    bidSize: bid?.size ?? null,
    askSize: ask?.size ?? null,
    lastPrice: book.lastPrice,
    indicativePrice: null,
  });
}

export function tradeFacts(trade: Trade): Facts {
  return {
    at: showTime(trade.executedAt),
    yes_price: trade.yesPrice,
    size: trade.size,
    taker_side: trade.takerSide,
  };
}

export function historyFacts(point: HistoryPoint): Facts {
  return {
    at: showTime(point.endAt),
    yes_price: point.yesPrice,
    bid: point.bid,
    ask: point.ask,
    volume: point.volumeUsd,
  };
}
