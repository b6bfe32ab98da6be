import type { MarketStatus } from "../../../domain/market.ts";
import type { ExecutionFigures, ExecutionObstacle, Recommendation } from "./model.ts";

/** A spread is unusually wide if it reaches both this percentile and this multiple of the mean. */
const WIDE_PERCENTILE_MIN = 90;
const WIDE_RATIO_MIN = 1.5;
/** Maximum spread for recommending a market order, unless one tick is larger. */
const MARKET_ORDER_SPREAD_MAX = 0.01;
const MARKET_ORDER_SLIPPAGE_PERCENT_MAX = 1;

interface Advice {
  readonly recommendation: Recommendation;
  readonly rationale: string;
}

/**
 * Recommends how to trade. The first rule that applies decides:
 *
 * 1. `WAIT` if the market accepts no orders, or if its book lacks a side.
 * 2. `WAIT` if the spread is unusually wide: percentile >= 90 and at least 1.5 times the mean of 48 hours.
 * 3. `MARKET_ORDER` if the spread is at most 0.01 or one tick, and the slippage is known and at most 1%.
 * 4. `LIMIT_ORDER` otherwise.
 *
 * The rationale states the figures that decided.
 */
export function adviseExecution(
  figures: ExecutionFigures,
  obstacle: ExecutionObstacle | null,
  status: MarketStatus,
): Advice {
  const { spread, bid, ask } = figures;
  if (obstacle !== null || spread === null || bid === null || ask === null) {
    const reason = describeObstacle(obstacle ?? "empty_book", status);
    return { recommendation: "WAIT", rationale: joinSentences([reason, describeEvent(figures)]) };
  }
  const { recommendation, conclusion } = decide(figures, spread);
  const rationale = joinSentences([
    `The spread is ${format(spread)} (bid ${format(bid)}, ask ${format(ask)}).`,
    describeHistory(figures),
    describeSlippage(figures),
    conclusion,
    describeEvent(figures),
  ]);
  return { recommendation, rationale };
}

function decide(figures: ExecutionFigures, spread: number): { recommendation: Recommendation; conclusion: string } {
  const { spreadPercentile, averageSpread, slippagePercent, limitPrice, tick } = figures;
  if (
    spreadPercentile !== null &&
    averageSpread !== null &&
    spreadPercentile >= WIDE_PERCENTILE_MIN &&
    spread >= WIDE_RATIO_MIN * averageSpread
  )
    return { recommendation: "WAIT", conclusion: "The spread is unusually wide, so wait until it narrows." };
  if (
    spread <= Math.max(MARKET_ORDER_SPREAD_MAX, tick ?? 0) &&
    slippagePercent !== null &&
    slippagePercent <= MARKET_ORDER_SLIPPAGE_PERCENT_MAX
  )
    return { recommendation: "MARKET_ORDER", conclusion: "A limit order has little to gain, so take the best price." };
  const conclusion =
    limitPrice === null
      ? "A limit order avoids paying the spread."
      : `A limit order to buy YES at ${format(limitPrice)} avoids paying the spread.`;
  return { recommendation: "LIMIT_ORDER", conclusion };
}

function describeObstacle(obstacle: ExecutionObstacle, status: MarketStatus): string {
  switch (obstacle) {
    case "not_open":
      return `The market is ${status} and accepts no orders.`;
    case "paused":
      return "The venue currently accepts no orders for this market.";
    case "no_book":
      return "The market has no order book, so its spread and slippage are unknown.";
    case "no_bids":
      return "The order book has no bids, so there is no spread.";
    case "no_asks":
      return "The order book has no asks, so there is no spread.";
    case "empty_book":
      return "The order book is empty, so there is no spread.";
    case "crossed_book":
      return "The order book is inconsistent: its best bid is not below its best ask.";
  }
}

function describeHistory({ averageSpread, spreadPercentile, spreadTrend }: ExecutionFigures): string {
  if (averageSpread === null) return "No quote with both sides is stored for the last 48 h.";
  const mean = `The mean of the last 48 h is ${format(averageSpread)}`;
  if (spreadPercentile === null) return `${mean}, from less than an hour of quotes.`;
  const trend = spreadTrend === null ? "" : ` The trend is ${spreadTrend}.`;
  return `${mean}; the current spread is at percentile ${format(spreadPercentile)} of it.${trend}`;
}

function describeSlippage({ slippagePercent, sizeUsd }: ExecutionFigures): string {
  const order = `an order of $${format(sizeUsd)}`;
  if (slippagePercent === null) return `The book cannot fill ${order} on both sides.`;
  if (slippagePercent === 0) return `The best level of each side can fill ${order}.`;
  return `A market order of $${format(sizeUsd)} for YES or NO pays up to ${format(slippagePercent)}% more than the best price.`;
}

function describeEvent({ nextEvent }: ExecutionFigures): string | null {
  return nextEvent === null ? null : `Next event: ${nextEvent.label} in ${format(nextEvent.hours)} h.`;
}

const joinSentences = (sentences: readonly (string | null)[]) =>
  sentences.filter((sentence) => sentence !== null).join(" ");

/** Formats a number like JSON, so that the rationale has the same digits as the response fields. */
const format = (value: number): string => String(value);
