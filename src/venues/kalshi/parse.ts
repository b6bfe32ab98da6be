import type { Activity, MarketListing, MarketSnapshot, MarketStatus, Outcome, Quote } from "../../domain/market.ts";
import { yesPrice } from "../../domain/market.ts";
import { isCrossed } from "../../domain/order-book.ts";
import { parseDecimal, parseTradablePrice } from "../../domain/price.ts";
import type { DropCounter } from "../../ports/venue.ts";
import { type EventFacts, takerFeeOf } from "./parse-event.ts";
import { parsePrice, parseSize, parseTime, valueInUsd } from "./parse-scalars.ts";
import { isPriceRange, type MarketWire } from "./wire.ts";

const TEXT_LENGTH_MAX = 50_000;
const TITLE_LENGTH_MAX = 1_000;

const STATUSES: Readonly<Record<string, MarketStatus>> = {
  initialized: "pending",
  active: "active",
  inactive: "active",
  closed: "closed",
  determined: "determined",
  disputed: "determined",
  amended: "determined",
  finalized: "finalized",
};

/** Smallest step of the price grids that are known by name. */
const TICKS: Readonly<Record<string, number>> = { linear_cent: 0.01, deci_cent: 0.001, tapered_deci_cent: 0.001 };

/** What `Quote` and the ticker channel have in common. A crossed top of book is a torn read: neither side counts. */
export function parseTop(
  row: Pick<MarketWire, "yes_bid_dollars" | "yes_bid_size_fp" | "yes_ask_dollars" | "yes_ask_size_fp">,
  drop: DropCounter,
): Pick<Quote, "bid" | "ask" | "bidSize" | "askSize"> {
  const bid = parsePrice(row.yes_bid_dollars, drop);
  const ask = parsePrice(row.yes_ask_dollars, drop);
  if (isCrossed(bid, ask)) {
    drop("crossed_book");
    return { bid: null, ask: null, bidSize: null, askSize: null };
  }
  return {
    bid,
    ask,
    bidSize: bid === null ? null : parseSize(row.yes_bid_size_fp),
    askSize: ask === null ? null : parseSize(row.yes_ask_size_fp),
  };
}

/** `result` may be visible as soon as the market is determined, and change until it is finalized. */
function parseOutcome(row: MarketWire, status: MarketStatus, drop: DropCounter): Outcome | null {
  if (status !== "determined" && status !== "finalized") return null;
  if (row.result === "yes" || row.result === "no") return { kind: row.result };
  if (row.result === "scalar") {
    const value = parseDecimal(row.settlement_value_dollars);
    if (value !== null && value >= 0 && value <= 1) return { kind: "partial", value };
    drop("outcome_without_value");
  }
  return null;
}

function parseTick(row: MarketWire): number | null {
  const steps = (row.price_ranges ?? [])
    .map((range) => (isPriceRange(range) ? parseTradablePrice(range.step) : null))
    .filter((step) => step !== null);
  return steps.length > 0 ? Math.min(...steps) : (TICKS[row.price_level_structure ?? ""] ?? null);
}

function parseActivity(row: MarketWire, quote: Quote): Activity {
  const price = yesPrice(quote);
  return {
    volume24hUsd: valueInUsd(row.volume_24h_fp, price),
    volumeTotalUsd: valueInUsd(row.volume_fp, price),
    liquidityUsd: null,
    openInterestUsd: valueInUsd(row.open_interest_fp, price),
  };
}

/** Name of the outcome inside its event, null where the question stands alone. */
function labelOf(row: MarketWire, event: EventFacts | null): string | null {
  const label = row.yes_sub_title?.trim() ?? "";
  return label === "" || label === "Yes" || label === event?.listing.title ? null : label.slice(0, TITLE_LENGTH_MAX);
}

/** The market's own title is deprecated: the question is the event's title and the outcome's name. */
function titleOf(row: MarketWire, event: EventFacts | null, label: string | null): string {
  const question = event?.listing.title ?? row.title?.trim() ?? "";
  const title = [question, event === null && question !== "" ? "" : (label ?? "")]
    .filter((part) => part !== "")
    .join(" — ");
  return (title === "" ? row.ticker : title).slice(0, TITLE_LENGTH_MAX);
}

export interface MarketContext {
  readonly venue: string;
  /** The event it belongs to, null when the venue did not tell. */
  readonly event: EventFacts | null;
  /** When the answer arrived, Unix milliseconds. */
  readonly receivedAt: number;
  readonly drop: DropCounter;
}

/** One row of a listing in our words, or null (counted) when it cannot be used. */
export function parseMarket(row: MarketWire, context: MarketContext): MarketSnapshot | null {
  const { event, receivedAt, drop } = context;
  // A word of tomorrow: the market is there, but nobody may take it for one that can be traded.
  const status = Object.hasOwn(STATUSES, row.status) ? (STATUSES[row.status] ?? "closed") : "closed";
  if (typeof row.mve_collection_ticker === "string" && row.mve_collection_ticker !== "") {
    drop("combo_market");
    return null;
  }
  const label = labelOf(row, event);
  const waivedUntil = parseTime(row.fee_waiver_expiration_time);
  const rules = [row.rules_primary, row.rules_secondary]
    .map((part) => part?.trim() ?? "")
    .filter((part) => part !== "");
  const listing: MarketListing = {
    venue: context.venue,
    marketId: row.ticker,
    eventId: row.event_ticker,
    title: titleOf(row, event, label),
    outcomeLabel: label,
    url: event?.listing.url ?? null,
    category: event?.listing.category ?? null,
    status,
    paused: row.status === "inactive",
    outcome: parseOutcome(row, status, drop),
    rules: rules.length === 0 ? null : rules.join("\n\n").slice(0, TEXT_LENGTH_MAX),
    openAt: parseTime(row.open_time),
    closeAt: parseTime(row.close_time),
    expectedResolutionAt: parseTime(row.expected_expiration_time) ?? parseTime(row.latest_expiration_time),
    resolvedAt: status === "finalized" ? parseTime(row.settlement_ts) : null,
    tickSize: parseTick(row),
    takerFee: waivedUntil !== null && receivedAt < waivedUntil ? { kind: "none" } : takerFeeOf(event),
    venueKeys: event === null ? {} : { series: event.seriesTicker },
  };
  const quote: Quote = {
    ...parseTop(row, drop),
    lastPrice: parsePrice(row.last_price_dollars, drop),
    indicativePrice: null,
    // `updated_time` tells of changes other than trading, so when the quote was true is not said.
    eventAt: null,
    receivedAt,
  };
  return { listing, quote, activity: parseActivity(row, quote) };
}
