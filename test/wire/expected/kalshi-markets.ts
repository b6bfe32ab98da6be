/** What Kalshi's market, event and series rows mean. */
import { containing, type Expected, exactly, oneOf } from "../expectation.ts";
import { isoTimeOf, type JsonObject, listOf, numberOf, objectOf, textOf } from "../json.ts";
import {
  activityFacts,
  type ExpectedMarket,
  type ExpectedStatus,
  leftOutMarket,
  outcome,
  quoteFacts,
  settledAt,
  takerFee,
  timeFact,
} from "./market.ts";
import { displayedPrice, isCrossed, tradablePrice } from "./price.ts";

const STATUSES: Readonly<Record<string, ExpectedStatus>> = {
  initialized: "pending",
  active: "active",
  inactive: "active",
  closed: "closed",
  determined: "determined",
  disputed: "determined",
  amended: "determined",
  finalized: "finalized",
};
/** The venue's `dollar_volume` and `dollar_open_interest` are half the number of contracts. */
const DOLLARS_PER_CONTRACT = 0.5;
const FEE_RATE = 0.07;

export const isKalshiMarket = (row: JsonObject): boolean =>
  typeof row.ticker === "string" && typeof row.event_ticker === "string";
export const isKalshiEvent = (row: JsonObject): boolean =>
  typeof row.event_ticker === "string" && typeof row.series_ticker === "string" && row.ticker === undefined;
export const isKalshiSeries = (row: JsonObject): boolean =>
  typeof row.ticker === "string" && row.event_ticker === undefined && ("fee_type" in row || "category" in row);

/** A combo joins markets of several events; it is no question of its own. */
export function isCombo(row: JsonObject): boolean {
  return textOf(row.mve_collection_ticker) !== null || listOf(row.mve_selected_legs).length > 0;
}

export interface KalshiRelated {
  readonly event: JsonObject | null;
  readonly series: JsonObject | null;
  /** Unix milliseconds of the capture. */
  readonly capturedAt: number;
}

export function expectedKalshiMarket(row: JsonObject, related: KalshiRelated): ExpectedMarket {
  const id = String(row.ticker);
  if (isCombo(row)) return leftOutMarket(id, row, "combo_market");
  const status = STATUSES[String(row.status)] ?? "closed";
  const rawTop = { bid: tradablePrice(row.yes_bid_dollars), ask: tradablePrice(row.yes_ask_dollars) };
  const top = isCrossed(rawTop) ? { bid: null, ask: null } : rawTop;
  const quote = {
    ...top,
    bidSize: top.bid === null ? null : sizeOf(row.yes_bid_size_fp),
    askSize: top.ask === null ? null : sizeOf(row.yes_ask_size_fp),
    last: tradablePrice(row.last_price_dollars),
  };
  return {
    id,
    raw: row,
    leftOut: null,
    isListed: status === "active" || status === "pending",
    isUnpriced: displayedPrice(quote) === null,
    facts: {
      event_id: exactly(row.event_ticker),
      ...nameFacts(row, related.event),
      status: exactly(status),
      paused: exactly(row.status === "inactive"),
      outcome: outcomeOf(row, status),
      ...quoteFacts(quote),
      ...activityFacts({
        volume24h: dollarsOf(row.volume_24h_fp),
        volumeTotal: dollarsOf(row.volume_fp),
        liquidity: null,
        openInterest: dollarsOf(row.open_interest_fp),
      }),
      price_ranges: exactly(priceRangesOf(row)),
      ...feeFacts(row, related),
      open_time: timeFact(isoTimeOf(row.open_time)),
      close_time: timeFact(isoTimeOf(row.close_time)),
      resolved_time: timeFact(status === "finalized" ? isoTimeOf(row.settlement_ts) : null),
      ...eventFacts(related),
    },
  };
}

/** The question is the event's title; without the event it is the market's own title. The label is the YES outcome. */
function nameFacts(row: JsonObject, event: JsonObject | null): Expected {
  const question = textOf(event?.title) ?? textOf(row.title);
  const yesName = textOf(row.yes_sub_title);
  const parts = [question, yesName === "Yes" ? null : yesName].filter((part) => part !== null);
  return { title_and_label: containing(...parts) };
}

function outcomeOf(row: JsonObject, status: ExpectedStatus) {
  if (status !== "determined" && status !== "finalized") return outcome(null);
  if (row.result === "yes" || row.result === "no") return outcome(row.result);
  const value = numberOf(row.settlement_value_dollars);
  return row.result === "scalar" && value !== null && value >= 0 && value <= 1
    ? oneOf(settledAt(value), exactly(`partial ${value}`))
    : outcome(null);
}

export function dollarsOf(contracts: unknown): number | null {
  const count = numberOf(contracts);
  return count === null ? null : count * DOLLARS_PER_CONTRACT;
}

export function sizeOf(contracts: unknown): number | null {
  const size = numberOf(contracts);
  return size !== null && size > 0 ? size : null;
}

/** Start, end and step of each range. The names of the grids are an open set, so only ranges count. */
function priceRangesOf(row: JsonObject): readonly (readonly number[])[] | null {
  const ranges = listOf(row.price_ranges).map(objectOf);
  return ranges.length === 0 ? null : ranges.map(({ start, end, step }) => [start, end, step].map(Number));
}

/** All quadratic fee types charge takers the same. The amount of a `flat` fee is not published. */
function feeFacts(row: JsonObject, { event, series, capturedAt }: KalshiRelated): Expected {
  const waivedUntil = isoTimeOf(row.fee_waiver_expiration_time);
  if (waivedUntil !== null && capturedAt < waivedUntil) return takerFee(() => 0);
  const type = textOf(event?.fee_type_override) ?? textOf(series?.fee_type);
  const multiplier = numberOf(event?.fee_multiplier_override) ?? numberOf(series?.fee_multiplier);
  if (type?.startsWith("quadratic") !== true || multiplier === null) return takerFee(null);
  return takerFee((at) => FEE_RATE * multiplier * at * (1 - at));
}

function eventFacts({ event, series }: KalshiRelated): Expected {
  if (event === null) return {};
  return {
    category: exactly(textOf(series?.category) ?? textOf(event.category)),
    event_title: containing(String(event.title)),
    mutually_exclusive: exactly(event.mutually_exclusive === true),
    // The venue never promises that the markets of an event cover every outcome.
    exhaustive: exactly(false),
  };
}
