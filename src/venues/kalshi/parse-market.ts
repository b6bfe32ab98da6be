import type {
  Activity,
  FeeRounding,
  MarketListing,
  MarketSnapshot,
  MarketStatus,
  Outcome,
  Quote,
} from "../../domain/market.ts";
import { isCrossed } from "../../domain/order-book.ts";
import { isPriceGrid } from "../../domain/order-rules.ts";
import { parseDecimal } from "../../domain/price.ts";
import type { DropCounter } from "../../ports/venue.ts";
import { parsePrice } from "../shared/parse-values.ts";
import { type ParsedEvent, takerFeeOf } from "./parse-event.ts";
import { contractsToUsd, parseSize, parseTime } from "./parse-values.ts";
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

/** Step of order sizes in markets with fractional trading, in contracts. */
const FRACTION_OF_CONTRACT = 0.01;

/** Parses the top of book of a market row or a ticker message. If it is crossed, both sides are null. */
export function parseTopOfBook(
  row: Pick<MarketWire, "yes_bid_dollars" | "yes_bid_size_fp" | "yes_ask_dollars" | "yes_ask_size_fp">,
  countDrop: DropCounter,
): Pick<Quote, "bid" | "ask" | "bidSize" | "askSize"> {
  const bid = parsePrice(row.yes_bid_dollars, countDrop);
  const ask = parsePrice(row.yes_ask_dollars, countDrop);
  if (isCrossed(bid, ask)) {
    countDrop("crossed_book");
    return { bid: null, ask: null, bidSize: null, askSize: null };
  }
  return {
    bid,
    ask,
    bidSize: bid === null ? null : parseSize(row.yes_bid_size_fp),
    askSize: ask === null ? null : parseSize(row.yes_ask_size_fp),
  };
}

/** `result` appears when the market is determined and may change until it is finalized. */
function parseOutcome(row: MarketWire, status: MarketStatus, countDrop: DropCounter): Outcome | null {
  if (status !== "determined" && status !== "finalized") return null;
  if (row.result === "yes" || row.result === "no") return { kind: row.result };
  if (row.result === "scalar") {
    const value = parseDecimal(row.settlement_value_dollars);
    if (value !== null && value >= 0 && value <= 1) return { kind: "partial", value };
    countDrop("outcome_without_value");
  }
  return null;
}

/** Returns null for a market without price ranges, or with an invalid one. The price structure's name is not read. */
function parsePriceRanges(rows: readonly unknown[] | null | undefined, countDrop: DropCounter) {
  if (rows === null || rows === undefined || rows.length === 0) return null;
  const ranges = rows.flatMap((row) => {
    if (!isPriceRange(row)) return [];
    const [from, to, step] = [parseDecimal(row.start), parseDecimal(row.end), parseDecimal(row.step)];
    return from === null || to === null || step === null ? [] : [{ from, to, step }];
  });
  if (ranges.length === rows.length && isPriceGrid(ranges)) return ranges;
  countDrop("bad_price_range");
  return null;
}

function parseActivity(row: MarketWire): Activity {
  return {
    volume24hUsd: contractsToUsd(row.volume_24h_fp),
    volumeTotalUsd: contractsToUsd(row.volume_fp),
    liquidityUsd: null,
    openInterestUsd: contractsToUsd(row.open_interest_fp),
  };
}

/** Returns the name of the outcome within its event, or null if the event has only this question. */
function labelOf(row: MarketWire, event: ParsedEvent | null): string | null {
  const label = row.yes_sub_title?.trim() ?? "";
  return label === "" || label === "Yes" || label === event?.listing.title ? null : label.slice(0, TITLE_LENGTH_MAX);
}

/**
 * Returns the event's title and the outcome's name. Uses the market's deprecated title only if the event is unknown.
 */
function titleOf(row: MarketWire, event: ParsedEvent | null, label: string | null): string {
  const question = event?.listing.title ?? row.title?.trim() ?? "";
  const title = [question, event === null && question !== "" ? "" : (label ?? "")]
    .filter((part) => part !== "")
    .join(" — ");
  return (title === "" ? row.ticker : title).slice(0, TITLE_LENGTH_MAX);
}

/** Returns whether the row is a combo (multivariate event): it has a collection or a list of combined markets. */
function isCombo({ mve_collection_ticker, mve_selected_legs }: MarketWire): boolean {
  return Boolean(mve_collection_ticker) || (mve_selected_legs?.length ?? 0) > 0;
}

export interface MarketContext {
  readonly venue: string;
  /** The event of the market; null if it could not be read. */
  readonly event: ParsedEvent | null;
  /** Time at which the response was received, Unix milliseconds. */
  readonly receivedAt: number;
  readonly countDrop: DropCounter;
  readonly feeRounding: FeeRounding;
}

/** Parses a row of a listing. Returns null for a combo and counts it. */
export function parseMarket(row: MarketWire, context: MarketContext): MarketSnapshot | null {
  const { event, receivedAt, countDrop } = context;
  // A market with an unknown status is listed as closed.
  const status = Object.hasOwn(STATUSES, row.status) ? (STATUSES[row.status] ?? "closed") : "closed";
  if (isCombo(row)) {
    countDrop("combo_market");
    return null;
  }
  const label = labelOf(row, event);
  const contractStep = row.fractional_trading_enabled === false ? 1 : FRACTION_OF_CONTRACT;
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
    outcome: parseOutcome(row, status, countDrop),
    rules: rules.length === 0 ? null : rules.join("\n\n").slice(0, TEXT_LENGTH_MAX),
    openAt: parseTime(row.open_time),
    closeAt: parseTime(row.close_time),
    expectedResolutionAt: parseTime(row.expected_expiration_time) ?? parseTime(row.latest_expiration_time),
    resolvedAt: status === "finalized" ? parseTime(row.settlement_ts) : null,
    priceRanges: parsePriceRanges(row.price_ranges, countDrop),
    minOrderContracts: contractStep,
    contractStep,
    takerDelayMs: null,
    protocolVersion: null,
    takerFee:
      waivedUntil !== null && receivedAt < waivedUntil ? { kind: "none" } : takerFeeOf(event, context.feeRounding),
    venueKeys: event === null ? {} : { series: event.seriesTicker },
  };
  const quote: Quote = {
    ...parseTopOfBook(row, countDrop),
    lastPrice: parsePrice(row.last_price_dollars, countDrop),
    indicativePrice: null,
    // `updated_time` covers changes other than trading, so the time of the quote is unknown.
    eventAt: null,
    receivedAt,
  };
  return { listing, quote, activity: parseActivity(row) };
}
