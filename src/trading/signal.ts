import type { TakerFee } from "../domain/market.ts";
import { isCrossed } from "../domain/order-book.ts";
import { complement, fromMicros, toMicros } from "../domain/price.ts";
import {
  type Analysis,
  EDGE_MIN,
  executableEdges,
  formatPercent,
  formatPoints,
  formatPrice,
  type PriceKind,
} from "../engine/index.ts";
import { edgeShrinkage, kellyFraction, positionShare } from "../quant/kelly.ts";
import { takerFee } from "../quant/taker-fee.ts";
import { buyForUsd, buyWithin } from "./fill.ts";
import type { Fill, Offer, Side, Signal, SizingOptions } from "./model.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Until the close, a signal must be valid for this time at least. */
const VALID_MS_MIN = MINUTE_MS;
const VALID_MS_MAX = DAY_MS;
const WEEKS_FROM_MS = 14 * DAY_MS;
/** Step of target prices if the market's tick is unknown: the widest of all venues. */
const TICK_DEFAULT = 0.01;
const ROOT_STEPS = 60;

/** What a signal is decided from. Times are Unix milliseconds. */
export interface SignalInput {
  /** Time of the decision. */
  readonly now: number;
  readonly analysis: Pick<Analysis, "probability" | "standardError" | "dailyMove" | "confidence" | "riskRating">;
  readonly market: {
    readonly kind: PriceKind;
    /** Whether the venue accepts orders. */
    readonly isOpen: boolean;
    /** Null if unknown. */
    readonly closeAt: number | null;
    /** Expected time of the result; null if unknown. */
    readonly resolutionAt: number | null;
    /** Null if unknown. */
    readonly tickSize: number | null;
    /** Null if unknown. */
    readonly takerFee: TakerFee | null;
  };
  /** Current YES price, in [0, 1]. */
  readonly yesPrice: number;
  /** Bids highest first, asks lowest first, and when they were last confirmed; null if the market has no order book. */
  readonly book: { readonly at: number; readonly bids: readonly Offer[]; readonly asks: readonly Offer[] } | null;
}

/** A side that can be bought with an edge: everything that its size depends on. */
export interface Candidate {
  readonly side: Side;
  /** Probability that the side wins, in (0, 1). */
  readonly probability: number;
  /** Variance of that probability as an estimate. */
  readonly variance: number;
  /** Highest price with the required edge, on the tick. */
  readonly targetPrice: number;
  /** Offers at the target price or below, best first. */
  readonly offers: readonly Offer[];
  readonly takerFee: TakerFee;
}

/**
 * Decides what to do in a market: which side to buy, at most at which price, and how much.
 *
 * The size is the share x of the bankroll with x = min(cap, kelly share * shrinkage * Kelly fraction) at the average cost
 * that buying for x has, fees included. No trade is recommended if the market is not open or closes within a minute, if the
 * order book was not confirmed for an hour, if no side has an edge of 0.01 after the fee, or if the book cannot take the
 * size at the target price.
 *
 * The signal expires when the market's usual moves would cover half of the edge e: after (e / 2 / (m p (1 - p)))^2 days, for
 * daily moves m of the log-odds; after a minute at the earliest, a day at the latest, and never after the close.
 */
export function decideSignal(input: SignalInput, sizing: SizingOptions): Signal {
  const obstacle = findObstacle(input);
  const candidate = obstacle === null ? findCandidate(input) : obstacle;
  if (typeof candidate === "string") return declineTrade(input, candidate);
  const sized = sizeCandidate(candidate, sizing);
  if (typeof sized === "string") return declineTrade(input, sized);
  const { fill, sizePct } = sized;
  const executableEdge = candidate.probability - fill.costUsd / fill.contracts;
  return {
    ...describeInput(input),
    recommendation: candidate.side === "yes" ? "BUY_YES" : "BUY_NO",
    reason: describeTrade(candidate, fill, executableEdge),
    executableEdge,
    targetPrice: candidate.targetPrice,
    sizePct,
    fill,
    expiresAt: expiryOf(input, executableEdge),
  };
}

/** Returns why nothing can be bought in a market; null if nothing prevents it. */
function findObstacle({ now, market, book }: SignalInput): string | null {
  const { kind, isOpen, closeAt, takerFee: fee } = market;
  if (kind !== "money") return "The market is not traded with money.";
  if (!isOpen || (closeAt !== null && closeAt <= now)) return "The market is not open for orders.";
  if (closeAt !== null && closeAt - now < VALID_MS_MIN) return "The market closes within a minute.";
  if (fee === null) return "The taker fee of the market is unknown.";
  if (book === null) return "The market has no order book.";
  if (now - book.at > HOUR_MS) return "The order book was last confirmed more than an hour ago.";
  if (isCrossed(book.bids[0]?.price ?? null, book.asks[0]?.price ?? null)) return "The order book is crossed.";
  return null;
}

/**
 * Returns the side of an open market that has an edge, or a sentence that says why no side has.
 *
 * @returns  a candidate with at least one offer
 */
export function findCandidate({ now, analysis, market, book }: SignalInput): Candidate | string {
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
  const targetPrice = targetPriceOf(wins, fee, market.tickSize);
  const offers = offersOf(book, side).filter(({ price }) => targetPrice !== null && price <= targetPrice);
  if (best.edge < EDGE_MIN || targetPrice === null || offers.length === 0) return describeEdges(edges);
  const variance = (standardError * probability * (1 - probability)) ** 2;
  return { side, probability: wins, variance, targetPrice, offers, takerFee: fee };
}

/** Offers of a side: asks sell YES; a bid for YES at p sells NO at 1 - p. */
export function offersOf(
  { bids, asks }: { readonly bids: readonly Offer[]; readonly asks: readonly Offer[] },
  side: Side,
): Offer[] {
  if (side === "yes") return [...asks];
  return bids.map(({ price, size }) => ({ price: complement(price), size }));
}

/**
 * Highest price P on the tick with p - P - fee(P) >= 0.01; null if none has this edge. Price and fee together must not
 * decrease with the price, which is true of every fee schedule.
 */
function targetPriceOf(probability: number, fee: TakerFee, tickSize: number | null): number | null {
  // A tick below the grid of prices would be rounded to 0.
  const tick = Math.max(1, toMicros(tickSize ?? TICK_DEFAULT));
  const priceAt = (ticks: number) => fromMicros(ticks * tick);
  // Rounding errors of a double must not exclude an edge of exactly the minimum.
  const hasEdge = (ticks: number) =>
    probability - priceAt(ticks) - takerFee(fee, priceAt(ticks)) >= EDGE_MIN - Number.EPSILON;
  let low = 0;
  let high = Math.ceil(toMicros(1) / tick);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (hasEdge(middle)) low = middle;
    else high = middle;
  }
  return low === 0 ? null : priceAt(low);
}

/** Size of a candidate: its share of the bankroll and its order, or a sentence that says why it has none. */
function sizeCandidate(
  candidate: Candidate,
  sizing: SizingOptions,
): { readonly sizePct: number; readonly fill: Fill } | string {
  const { bankrollUsd, kellyShare, positionMax } = sizing;
  const { probability, variance, offers, takerFee: fee } = candidate;
  const shareAt = (usd: number): number => {
    const { averageCost } = buyForUsd(offers, fee, usd);
    if (averageCost >= 1) return 0;
    return positionShare({ probability, variance, cost: averageCost }, { kellyShare, positionMax });
  };
  const usd = solveSize(shareAt, bankrollUsd, positionMax);
  const { isComplete, spentUsd } = buyForUsd(offers, fee, usd);
  if (!isComplete)
    return `The order book cannot take the size: ${formatUsd(usd)} are needed at ${formatPrice(candidate.targetPrice)} or less, and ${formatUsd(spentUsd)} are offered.`;
  const fill = buyWithin(offers, fee, usd);
  if (fill === null)
    return `The size of ${formatUsd(usd)}, for a bankroll of ${formatUsd(bankrollUsd)}, is less than one contract.`;
  if (probability - fill.costUsd / fill.contracts < EDGE_MIN)
    return "The fee of an order of this size, which the venue rounds up, leaves no edge.";
  return { sizePct: usd / bankrollUsd, fill };
}

/** The amount x in USD with x = share(x) * bankroll. The share does not increase with x, because deeper offers cost more. */
function solveSize(shareAt: (usd: number) => number, bankrollUsd: number, positionMax: number): number {
  let low = 0;
  let high = positionMax * bankrollUsd;
  if (shareAt(high) >= positionMax) return high;
  for (let step = 0; step < ROOT_STEPS; step++) {
    const middle = (low + high) / 2;
    if (shareAt(middle) * bankrollUsd >= middle) low = middle;
    else high = middle;
  }
  return low;
}

/**
 * Probability towards which a portfolio sizes a candidate: c + kelly share * shrinkage * (p - c), for the cost c. A bet that
 * is sized by the full Kelly fraction at this probability has the size of the fractional Kelly bet at p.
 *
 * @returns  in [0, 1]; the cost without an edge
 */
export function shadedProbability(
  { probability, variance }: Pick<Candidate, "probability" | "variance">,
  cost: number,
  kellyShare: number,
): number {
  if (kellyFraction(probability, cost) === 0) return cost;
  const edge = probability - cost;
  return cost + kellyShare * edgeShrinkage(edge, variance) * edge;
}

function declineTrade(input: SignalInput, reason: string): Signal {
  const { analysis, market } = input;
  const fee = market.takerFee;
  return {
    ...describeInput(input),
    recommendation: "NO_TRADE",
    reason,
    executableEdge: null,
    targetPrice: fee === null ? null : targetPriceOf(analysis.probability, fee, market.tickSize),
    sizePct: 0,
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
    timeHorizon: horizonOf(market.resolutionAt ?? market.closeAt, now),
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
  const expiresAt = now + Math.round(Math.max(VALID_MS_MIN, Math.min(VALID_MS_MAX, days * DAY_MS)));
  return market.closeAt === null ? expiresAt : Math.min(market.closeAt, expiresAt);
}

function describeEdges(edges: ReturnType<typeof executableEdges>): string {
  const sides = edges.map(({ side, edge }) => `${side.toUpperCase()} ${formatPoints(edge)}`).join(", ");
  return `No side has an edge of ${formatPoints(EDGE_MIN)} point after spread and fee (${sides}).`;
}

function describeTrade({ side, probability }: Candidate, fill: Fill, edge: number): string {
  const cost = formatPrice(fill.costUsd / fill.contracts);
  return `${side.toUpperCase()} wins with probability ${formatPercent(probability)}% and costs ${cost} with the fee: an edge of ${formatPoints(edge)} points.`;
}

const formatUsd = (usd: number): string => `$${usd.toFixed(2)}`;
