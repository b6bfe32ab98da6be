import type { TakerFee } from "../domain/market.ts";
import { isCrossed, offersOf } from "../domain/order-book.ts";
import { floorNoToGrid, floorToGrid, type PriceRange, type SizeRules, smallestOrder } from "../domain/order-rules.ts";
import { fromMicros, type Side, toMicros } from "../domain/price.ts";
import {
  type Analysis,
  type BookView,
  EDGE_MIN,
  executableEdges,
  formatPercent,
  formatPoints,
  formatPrice,
  type PriceKind,
} from "../engine/index.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../lib/durations.ts";
import { clamp, largestInteger } from "../lib/numbers.ts";
import { takerFee } from "../quant/taker-fee.ts";
import type { Fill, Signal, SizingOptions, TradeCandidate } from "./model.ts";
import { type CandidateSize, sizeCandidate } from "./size-candidate.ts";

/** Minimum validity of a signal. A market that closes earlier gets no trade. */
const VALID_MS_MIN = MINUTE_MS;
const VALID_MS_MAX = DAY_MS;
const WEEKS_FROM_MS = 14 * DAY_MS;
/** Price grid of a market whose grid is unknown: the largest step of all venues. */
const RANGES_DEFAULT: readonly PriceRange[] = [{ from: 0, to: 1, step: 0.01 }];

/** Input of a decision. Times are Unix milliseconds. */
export interface SignalInput {
  /** Time of the decision. */
  readonly now: number;
  readonly analysis: Pick<Analysis, "probability" | "standardError" | "dailyMove" | "confidence" | "riskRating">;
  readonly market: SizeRules & {
    readonly kind: PriceKind;
    /** Whether the venue accepts orders. */
    readonly isOpen: boolean;
    /** Closing time; null if unknown. A time up to `now` counts as unknown, because the market is still open. */
    readonly closeAt: number | null;
    /** Expected resolution time; null if unknown. A time up to `now` counts as unknown. */
    readonly resolutionAt: number | null;
    /** Allowed YES prices of orders; null if unknown. */
    readonly priceRanges: readonly PriceRange[] | null;
    /** Null if unknown. */
    readonly takerFee: TakerFee | null;
  };
  /** Current YES price, in [0, 1]. */
  readonly yesPrice: number;
  /** Null if the market has no order book. */
  readonly book: BookView | null;
}

export interface TradeInput extends Pick<SignalInput, "now" | "market" | "book"> {
  readonly analysis: Pick<Analysis, "probability" | "standardError">;
}

interface SizedTrade extends CandidateSize {
  readonly candidate: TradeCandidate;
  /** Probability of the side minus cost per contract of the order, fee included. */
  readonly executableEdge: number;
}

/** Returns the trade that `decideSignal` recommends, or a sentence with the reason for no trade. */
export function decideTrade(input: TradeInput, sizing: SizingOptions): SizedTrade | string {
  const candidate = findObstacle(input) ?? findTradeCandidate(input);
  if (typeof candidate === "string") return candidate;
  const sized = sizeCandidate(candidate, sizing);
  if (typeof sized === "string") return sized;
  const executableEdge = candidate.probability - sized.fill.costUsd / sized.fill.contracts;
  return { ...sized, candidate, executableEdge };
}

/**
 * Decides which side of a market to buy, the highest price to pay, and the size.
 *
 * The size is the share x of the bankroll with x = min(cap, kelly share * shrinkage * Kelly fraction). The Kelly
 * fraction is computed at the average cost of an order for x, fees included. If less than x is offered up to the target
 * price, the size is the offered amount. The order is rounded down to the contract step of the venue.
 *
 * No trade is recommended if
 * - the market is not open, or closes within a minute,
 * - the order book was not confirmed in the last hour,
 * - no side has an edge of 0.01 after the fee, or
 * - the size is less than the smallest order of the venue.
 *
 * The signal expires after (e / 2 / (m p (1 - p)))^2 days: in this time, a typical price move is half of the edge e. m
 * is the root mean square of the daily move of the log-odds. The validity is at least a minute, at most a day, and ends
 * at the latest at a known closing time.
 */
export function decideSignal(input: SignalInput, sizing: SizingOptions): Signal {
  const trade = decideTrade(input, sizing);
  if (typeof trade === "string") return declineTrade(input, trade);
  const { candidate, fill, sizePct, cappedBy, executableEdge } = trade;
  return {
    ...describeInput(input),
    recommendation: candidate.side === "yes" ? "BUY_YES" : "BUY_NO",
    reason: describeTrade(candidate, fill, executableEdge),
    executableEdge,
    targetPrice: candidate.targetPrice,
    sizePct,
    cappedBy,
    fill,
    expiresAt: expiryOf(input, executableEdge),
  };
}

/** Returns a sentence with the reason why the market cannot be traded; null if it can. */
function findObstacle({ now, market, book }: TradeInput): string | null {
  const { kind, isOpen, takerFee: fee } = market;
  const closeAt = futureOrNull(market.closeAt, now);
  if (kind !== "money") return "The market is not traded with money.";
  if (!isOpen) return "The market is not open for orders.";
  if (closeAt !== null && closeAt - now < VALID_MS_MIN) return "The market closes within a minute.";
  if (fee === null) return "The taker fee of the market is unknown.";
  if (book === null) return "The market has no order book.";
  if (now - book.at > HOUR_MS) return "The order book was last confirmed more than an hour ago.";
  if (isCrossed(book.bids[0]?.price ?? null, book.asks[0]?.price ?? null)) return "The order book is crossed.";
  return null;
}

/**
 * Returns the side of an open market that has an edge, or a sentence with the reason why no side has an edge.
 *
 * @returns  a candidate with at least one offer
 */
export function findTradeCandidate({ now, analysis, market, book }: TradeInput): TradeCandidate | string {
  const { probability, standardError } = analysis;
  const fee = market.takerFee;
  if (book === null || fee === null) return "The market has no order book, or its taker fee is unknown.";
  const [bid = null, ask = null] = [book.bids[0]?.price, book.asks[0]?.price];
  const view = { asOf: now, quote: { at: book.at, bid, ask }, takerFee: fee, kind: market.kind };
  const edges = executableEdges(view, probability);
  const [best] = edges;
  if (best === undefined) return "Nobody offers a side of the market at a current price.";
  const side = best.side;
  const wins = side === "yes" ? probability : 1 - probability;
  const targetPrice = targetPriceOf(side, wins, fee, market.priceRanges);
  const offers = offersOf(book, side).filter(({ price }) => targetPrice !== null && price <= targetPrice);
  if (best.edge < EDGE_MIN || targetPrice === null || offers.length === 0) return describeEdges(edges);
  const variance = (standardError * probability * (1 - probability)) ** 2;
  // Every venue accepts whole contracts.
  const contractStep = market.contractStep ?? 1;
  const minOrderContracts = smallestOrder(market);
  return { side, probability: wins, variance, targetPrice, offers, takerFee: fee, contractStep, minOrderContracts };
}

/**
 * Returns the highest price P of the side's grid with p - P - fee(P) >= 0.01; null if no price has this edge.
 * P + fee(P) must not decrease as P grows, which is true of every fee schedule.
 */
function targetPriceOf(
  side: Side,
  probability: number,
  fee: TakerFee,
  priceRanges: readonly PriceRange[] | null,
): number | null {
  // Floating-point errors must not exclude an edge of exactly the minimum.
  const hasEdge = (micros: number) =>
    probability - fromMicros(micros) - takerFee(fee, fromMicros(micros)) >= EDGE_MIN - Number.EPSILON;
  const floor = side === "yes" ? floorToGrid : floorNoToGrid;
  return floor(priceRanges ?? RANGES_DEFAULT, fromMicros(largestInteger(0, toMicros(1), hasEdge)));
}

function declineTrade(input: SignalInput, reason: string): Signal {
  const { analysis, market } = input;
  const fee = market.takerFee;
  return {
    ...describeInput(input),
    recommendation: "NO_TRADE",
    reason,
    executableEdge: null,
    targetPrice: fee === null ? null : targetPriceOf("yes", analysis.probability, fee, market.priceRanges),
    sizePct: 0,
    cappedBy: null,
    fill: null,
    expiresAt: expiryOf(input, EDGE_MIN),
  };
}

function describeInput({ now, analysis, market, yesPrice }: SignalInput) {
  const { probability, confidence, riskRating } = analysis;
  return {
    probability,
    yesPrice,
    edge: probability - yesPrice,
    confidence,
    riskRating,
    timeHorizon: horizonOf(futureOrNull(market.resolutionAt, now) ?? futureOrNull(market.closeAt, now), now),
    generatedAt: now,
  };
}

function horizonOf(resolutionAt: number | null, now: number): Signal["timeHorizon"] {
  if (resolutionAt === null) return null;
  const rest = resolutionAt - now;
  if (rest < DAY_MS) return "hours";
  return rest < WEEKS_FROM_MS ? "days" : "weeks";
}

function expiryOf({ now, analysis, market }: SignalInput, edge: number): number {
  const { probability, dailyMove } = analysis;
  const moveOfProbability = dailyMove * probability * (1 - probability);
  const days = moveOfProbability > 0 ? (edge / 2 / moveOfProbability) ** 2 : Infinity;
  const expiresAt = now + Math.round(clamp(days * DAY_MS, VALID_MS_MIN, VALID_MS_MAX));
  return Math.min(futureOrNull(market.closeAt, now) ?? Infinity, expiresAt);
}

const futureOrNull = (at: number | null, now: number): number | null => (at !== null && at > now ? at : null);

function describeEdges(edges: ReturnType<typeof executableEdges>): string {
  const sides = edges.map(({ side, edge }) => `${side.toUpperCase()} ${formatPoints(edge)}`).join(", ");
  return `No side has an edge of ${formatPoints(EDGE_MIN)} point after spread and fee (${sides}).`;
}

function describeTrade({ side, probability }: TradeCandidate, fill: Fill, edge: number): string {
  const cost = formatPrice(fill.costUsd / fill.contracts);
  return `${side.toUpperCase()} wins with probability ${formatPercent(probability)}% and costs ${cost} with the fee: an edge of ${formatPoints(edge)} points.`;
}
