import { midOfBook, yesPrice } from "../domain/market.ts";
import { HOUR_MS } from "../lib/durations.ts";
import { usdScale } from "../quant/liquidity.ts";
import { formatPercent, formatPrice } from "./format.ts";
import { toLogOdds, toProbability } from "./log-odds.ts";
import type { EngineCoefficients, MarketView, Prior, QuotePoint } from "./model.ts";

/**
 * Maximum range of the probability that a one-sided quote may leave open to count as a price. Equal to the maximum
 * spread whose mid is a price.
 */
const OPEN_RANGE_MAX = 0.1;
/** Assumed spread of a market without a two-sided book. */
export const UNKNOWN_SPREAD = 0.1;
/** A spread of this width, or a quote of this age, lowers the confidence by half. Larger values add nothing. */
const WIDE_SPREAD = 0.2;
const OLD_QUOTE_MS = 24 * HOUR_MS;

/** Displayed price (`yesPrice`) of the quote, else the last of the prices; null if there is none. */
export function currentPrice({ quote, prices }: Pick<MarketView, "quote" | "prices">): number | null {
  return (quote === null ? null : yesPrice(quote)) ?? prices.at(-1)?.yesPrice ?? null;
}

export type PriceView = Pick<MarketView, "asOf" | "quote" | "activity">;

/**
 * The prior: the mid of a two-sided order book, moved by a fitted share towards the microprice; else the displayed
 * price. A wide, one-sided or old order book and a thin market lower the confidence, not the price.
 *
 * @param price  from `currentPrice`
 *
 * microprice = (bid * ask_size + ask * bid_size) / (bid_size + ask_size);  prior = mid + share * (microprice - mid)
 *
 * @see Stoikov (2018), "The micro-price: a high-frequency estimator of future prices", Quantitative Finance 18(12)
 */
export function computePrior(
  view: PriceView,
  price: number,
  coefficients: Pick<EngineCoefficients, "micropriceShare">,
): Prior {
  const { quote } = view;
  const spread = positiveSpreadOf(quote);
  const figures = priorFigures(view, price, coefficients);
  const evidence =
    spread === null || quote === null
      ? `Price: ${formatPrice(price)}; there is no two-sided order book.`
      : `Order book: bid ${formatPrice(quote.bid)}, ask ${formatPrice(quote.ask)}, spread ${formatPercent(spread)} points.`;
  const claim = `The market's price implies ${formatPercent(figures.probability)}%.`;
  return { ...figures, claim, evidence: [evidence] };
}

/** Same as `computePrior`, without the sentence. */
export function priorFigures(
  { quote, asOf, activity }: PriceView,
  price: number,
  coefficients: Pick<EngineCoefficients, "micropriceShare">,
): Omit<Prior, "claim" | "evidence"> {
  const spread = positiveSpreadOf(quote);
  const probability = price + coefficients.micropriceShare * micropriceShift(quote);
  const bounded = toProbability(toLogOdds(probability));
  const ageMs = quote === null ? OLD_QUOTE_MS : Math.max(0, asOf - quote.at);
  const spreadLoss = 0.5 * Math.min(1, (spread ?? UNKNOWN_SPREAD) / WIDE_SPREAD);
  const ageLoss = 0.5 * Math.min(1, ageMs / OLD_QUOTE_MS);
  return {
    probability: bounded,
    logOdds: toLogOdds(bounded),
    standardError: logOddsError(bounded, spread),
    confidence: (1 - spreadLoss) * (1 - ageLoss) * (1 - thinLoss(activity)),
  };
}

/**
 * Standard error of a price's log-odds: half of the spread divided by the slope dp/dL = p (1 - p), at most 1.
 *
 * @param spread  ask minus bid; null without a two-sided book, for which 0.1 is assumed
 * @returns  in [0, 1]
 */
export function logOddsError(probability: number, spread: number | null): number {
  const halfSpread = (spread ?? UNKNOWN_SPREAD) / 2;
  return halfSpread === 0 ? 0 : halfSpread / Math.max(probability * (1 - probability), halfSpread);
}

/**
 * Returns a thin market's reduction of the confidence: 0.5 without liquidity and volume, 0 from $1,000,000 of either.
 */
function thinLoss(activity: MarketView["activity"]): number {
  const usd = Math.max(0, activity?.liquidityUsd ?? 0, activity?.volume24hUsd ?? 0);
  return 0.5 * (1 - usdScale(usd));
}

/** Returns ask minus bid if it is positive; null without both, or if the book is crossed or locked. */
export function positiveSpreadOf(quote: Pick<QuotePoint, "bid" | "ask"> | null): number | null {
  if (quote === null || quote.bid === null || quote.ask === null || quote.bid >= quote.ask) return null;
  return quote.ask - quote.bid;
}

/**
 * Whether a quote only bounds the probability: one side is missing, and the other side leaves a range of more than
 * 0.10. An ask of 0.02 without a bid leaves [0, 0.02] and is nearly a price; an ask of 0.99 has almost no information.
 */
export function isBound({ bid, ask }: Pick<QuotePoint, "bid" | "ask">): boolean {
  if ((bid === null) === (ask === null)) return false;
  return (ask ?? 1) - (bid ?? 0) > OPEN_RANGE_MAX;
}

/** Microprice minus mid; 0 for a one-sided or too wide order book, or without known sizes. */
function micropriceShift(quote: QuotePoint | null): number {
  if (quote === null || quote.bid === null || quote.ask === null) return 0;
  const { bid, ask, bidSize, askSize } = quote;
  if (midOfBook(bid, ask) === null) return 0;
  if (bidSize === null || askSize === null || bidSize + askSize <= 0) return 0;
  return ((ask - bid) / 2) * ((bidSize - askSize) / (bidSize + askSize));
}
