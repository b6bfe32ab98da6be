import { fromMicros, parseTradablePrice, toMicros } from "../../domain/price.ts";
import type { Trade } from "../../domain/trade.ts";
import type { DropCounter } from "../../ports/venue.ts";
import { parseTime } from "./parse-values.ts";
import type { BetWire } from "./wire.ts";

/**
 * Fills of a limit order within this time are part of the order's trade. Later fills are also reported as bets of the
 * takers.
 */
const IMMEDIATE_FILL_MS_MAX = 1_000;

/** Maximum difference between probabilities that count as equal. */
const PROBABILITY_ERROR_MAX = 1e-9;

/**
 * Returns whether the row only converts shares to mana. Such a row does not change the probability and may contain an
 * outdated one. The conversion of a full set of answers of a numeric contract is not marked as a redemption but as a
 * sale to the pool. A real sale to the pool changes the probability.
 */
export function isConversion(bet: BetWire): boolean {
  const { probBefore, probAfter, fills } = bet;
  const isMarked = bet.isRedemption === true || bet.isRebalance === true;
  if (probBefore === undefined || probBefore === null) return isMarked;
  if (Math.abs(probAfter - probBefore) > PROBABILITY_ERROR_MAX) return false;
  const isSaleToPool = fills?.every(({ isSale, matchedBetId }) => isSale === true && matchedBetId === null) === true;
  return isMarked || (isSaleToPool && bet.shares !== 0);
}

/**
 * Converts a bet to a trade. Returns null for redemptions, automatic rebalancing between answers, other conversions of
 * shares and unfilled limit orders. The price is the average price of the bet (mana paid per share), converted to YES.
 */
export function parseTrade(bet: BetWire, countDrop: DropCounter): Trade | null {
  if (bet.isRedemption === true || bet.isRebalance === true || isConversion(bet)) return null;
  const { amount, shares } = immediateFill(bet);
  if (amount === 0 || shares === 0) return null;
  const sidePrice = amount / shares;
  const isYes = bet.outcome === "YES";
  const yesPrice = parseTradablePrice(isYes ? sidePrice : 1 - sidePrice);
  const executedAt = parseTime(bet.createdTime);
  if ((!isYes && bet.outcome !== "NO") || executedAt === null || !Number.isFinite(shares)) {
    countDrop("bad_bet");
    return null;
  }
  if (yesPrice === null) {
    countDrop("price_out_of_range");
    return null;
  }
  const isBuy = amount > 0;
  return {
    tradeId: bet.id,
    executedAt,
    yesPrice,
    size: fromMicros(toMicros(Math.abs(shares))),
    // Selling YES is buying NO.
    takerSide: isYes === isBuy ? "yes" : "no",
  };
}

/** Returns the mana and the shares that were filled when the bet was placed. */
function immediateFill(bet: BetWire): { amount: number; shares: number } {
  if (bet.limitProb === undefined || bet.limitProb === null || !bet.fills) return bet;
  const fills = bet.fills.filter((fill) => fill.timestamp <= bet.createdTime + IMMEDIATE_FILL_MS_MAX);
  return {
    amount: fills.reduce((sum, fill) => sum + fill.amount, 0),
    shares: fills.reduce((sum, fill) => sum + fill.shares, 0),
  };
}
