import type {
  BookState,
  Level,
  Lifecycle,
  ListedEvent,
  ListedMarket,
  RecordedFee,
  ResolutionStep,
  World,
  WorldOutcome,
} from "../../world/types.ts";
import type { TokenSide } from "./ids.ts";

const MICROS = 1_000_000;

/** Returns the price of the complementary token: 1 - p, rounded to six decimals. */
export const toOppositePrice = (price: number): number => (MICROS - Math.round(price * MICROS)) / MICROS;

/** Formats a price or size as a decimal without exponent or trailing zeros. Returns null for null. */
export function formatDecimal(value: number): string;
export function formatDecimal(value: number | null): string | null;
export function formatDecimal(value: number | null): string | null {
  if (value === null) return null;
  const text = value.toFixed(6);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** Returns the book of one outcome token, best levels first. The NO book mirrors the YES book. */
export function toTokenBook(
  book: BookState,
  side: TokenSide,
): { bids: readonly Level[]; asks: readonly Level[]; lastPrice: number | null } {
  if (side === 0) return { bids: book.bids, asks: book.asks, lastPrice: book.lastPrice };
  const mirror = (levels: readonly Level[]) =>
    levels.map(({ price, size }) => ({ price: toOppositePrice(price), size }));
  return {
    bids: mirror(book.asks),
    asks: mirror(book.bids),
    lastPrice: book.lastPrice === null ? null : toOppositePrice(book.lastPrice),
  };
}

const MID_SPREAD_MICROS_MAX = 100_000;

/**
 * Returns the price that the venue displays: the mid if the spread is at most 0.10, else the last trade, else the mid,
 * else null.
 */
export function computeDisplayedPrice(bid: number | null, ask: number | null, lastPrice: number | null): number | null {
  const hasMid = bid !== null && ask !== null;
  const mid = hasMid ? Math.round((Math.round(bid * MICROS) + Math.round(ask * MICROS)) / 2) / MICROS : null;
  if (hasMid && Math.round(ask * MICROS) - Math.round(bid * MICROS) <= MID_SPREAD_MICROS_MAX) return mid;
  return lastPrice ?? mid;
}

/** Returns the payouts of the two tokens. The venue has no refunds: both tokens of a void market pay half. */
export function payoutsOf(outcome: WorldOutcome): readonly [number, number] {
  if (outcome.kind === "yes") return [1, 0];
  if (outcome.kind === "no") return [0, 1];
  const value = outcome.kind === "partial" ? outcome.value : 0.5;
  return [value, toOppositePrice(value)];
}

/** State of the oracle in the values of the market list (`uma…`) and of the resolutions endpoint (`status`). */
export interface OracleState {
  readonly umaResolutionStatus: "" | "proposed" | "disputed" | "resolved";
  readonly umaResolutionStatuses: readonly string[];
  readonly status: "posed" | "proposed" | "disputed" | "reproposed" | "resolved";
}

/** Derives the oracle's state. A dispute lasts half of the time to settlement; then the result is proposed again. */
function deriveOracleState(
  market: ListedMarket,
  { phase, since }: Lifecycle,
  planted: ResolutionStep | null,
  now: number,
): OracleState {
  if (planted !== null) return oracleStateOfStep(planted);
  const steps = market.disputed ? ["proposed", "disputed", "proposed"] : ["proposed"];
  if (phase === "finalized") {
    return { umaResolutionStatus: "resolved", umaResolutionStatuses: [...steps, "resolved"], status: "resolved" };
  }
  if (phase === "determined")
    return { umaResolutionStatus: "proposed", umaResolutionStatuses: ["proposed"], status: "proposed" };
  if (phase === "disputed") {
    const isProposedAgain = now >= since + (market.finalizeAt - since) / 2;
    return isProposedAgain
      ? { umaResolutionStatus: "proposed", umaResolutionStatuses: steps, status: "reproposed" }
      : { umaResolutionStatus: "disputed", umaResolutionStatuses: ["proposed", "disputed"], status: "disputed" };
  }
  return { umaResolutionStatus: "", umaResolutionStatuses: [], status: "posed" };
}

function oracleStateOfStep(step: ResolutionStep): OracleState {
  if (step === "past_end_date") return { umaResolutionStatus: "", umaResolutionStatuses: [], status: "posed" };
  if (step === "final")
    return { umaResolutionStatus: "resolved", umaResolutionStatuses: ["proposed", "resolved"], status: "resolved" };
  if (step === "proposed" || step === "proposed_trading")
    return { umaResolutionStatus: "proposed", umaResolutionStatuses: ["proposed"], status: "proposed" };
  const umaResolutionStatuses = ["proposed", "disputed"];
  return step === "proposed_again"
    ? {
        umaResolutionStatus: "proposed",
        umaResolutionStatuses: [...umaResolutionStatuses, "proposed"],
        status: "reproposed",
      }
    : { umaResolutionStatus: "disputed", umaResolutionStatuses, status: "disputed" };
}

export interface MarketState {
  readonly market: ListedMarket;
  readonly lifecycle: Lifecycle;
  readonly book: BookState;
  readonly oracle: OracleState;
  readonly isClosed: boolean;
  readonly acceptsOrders: boolean;
  /** Displayed prices of both tokens, or their payouts after settlement. */
  readonly prices: readonly [number, number];
}

/** Returns whether the venue has closed the market. This may happen before the result is final. */
export function isMarketClosed(world: World, market: ListedMarket, now: number): boolean {
  const step = world.plantedResolution?.(market, now)?.step ?? null;
  return step === null ? now >= market.finalizeAt : step === "final" || step === "closed_disputed";
}

export function computeMarketState(world: World, market: ListedMarket, now: number): MarketState {
  const lifecycle = world.lifecycle(market, now);
  const book = world.book(market, now);
  const step = world.plantedResolution?.(market, now)?.step ?? null;
  const isClosed = isMarketClosed(world, market, now);
  const displayed =
    computeDisplayedPrice(book.bids[0]?.price ?? null, book.asks[0]?.price ?? null, book.lastPrice) ?? 0.5;
  return {
    market,
    lifecycle,
    book,
    oracle: deriveOracleState(market, lifecycle, step, now),
    isClosed,
    acceptsOrders: lifecycle.phase === "active",
    prices:
      isClosed && lifecycle.outcome !== null ? payoutsOf(lifecycle.outcome) : [displayed, toOppositePrice(displayed)],
  };
}

/**
 * Returns whether at most one market of the event resolves YES. A NO token of one market can then be converted to YES
 * tokens of all others.
 */
export function isNegRisk(event: ListedEvent): boolean {
  return event.mutuallyExclusive && (event.recorded !== undefined || event.markets.length > 1);
}

/** Returns whether the event has an "Other" market for outcomes that are not listed. */
export const isAugmented = (event: ListedEvent): boolean => isNegRisk(event) && !event.exhaustive;

export function outcomeNamesOf(market: ListedMarket): readonly [string, string] {
  const { isRound, sides } = market.event;
  return sides ?? (isRound ? ["Up", "Down"] : ["Yes", "No"]);
}

/** Returns the recorded fee of the event's markets, or null if the fee is unknown or the world is simulated. */
export function recordedFeeOf(event: ListedEvent): RecordedFee | null {
  return event.markets.find(({ recorded }) => recorded?.takerFee)?.recorded?.takerFee ?? null;
}

const FEE_RATES: Readonly<Record<string, number>> = { Crypto: 0.07, Sports: 0.03, Politics: 0.04, Tech: 0.04 };
const FEE_RATE_DEFAULT = 0.05;
export const FEE_REBATE_RATE = 0.25;

/** Returns the taker fee rate, in [0, 1]. Events tagged "World" have no fee. */
export function feeRateOf(event: ListedEvent): number {
  if (event.recorded !== undefined) {
    const fee = recordedFeeOf(event);
    return fee?.kind === "quadratic" ? fee.rate : 0;
  }
  return event.tags.includes("World") ? 0 : (FEE_RATES[event.category] ?? FEE_RATE_DEFAULT);
}

export const ORDER_SIZE_MIN = 5;
const REWARDED_MARKET_INTERVAL = 3;

/** Returns the liquidity rewards of a market, or null if it has none. */
export function rewardsOf(market: ListedMarket): { dailyRate: number; minSize: number; maxSpread: number } | null {
  if (market.recorded !== undefined || market.event.isRound || market.index % REWARDED_MARKET_INTERVAL !== 0)
    return null;
  return { dailyRate: 5 + (market.index % 10) * 5, minSize: 50, maxSpread: 3.5 };
}
