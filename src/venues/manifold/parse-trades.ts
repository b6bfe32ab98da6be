import { fromMicros, parseTradablePrice, toMicros } from "../../domain/price.ts";
import type { HistoryPoint, Trade } from "../../domain/trade.ts";
import type { DropCounter } from "../../ports/venue.ts";
import { parseTime } from "./parse-market.ts";
import { type BetWire, isBetPoint } from "./wire.ts";
import type { ManifoldWatches } from "./wire-shapes.ts";

/** A limit order's later fills belong to whoever took them and stand in those bets. */
const OWN_FILL_MS_MAX = 1_000;

/**
 * A bet as a trade, or null when nobody took anything: redemptions, automatic rebalancing between answers, orders that
 * rest unfilled. The price is the average one of the bet (mana paid by shares got), told from the YES side.
 */
export function parseTrade(bet: BetWire, drop: DropCounter): Trade | null {
  if (bet.isRedemption === true || bet.isRebalance === true) return null;
  const { amount, shares } = takenAtOnce(bet);
  if (amount === 0 || shares === 0) return null;
  const sidePrice = amount / shares;
  const yes = bet.outcome === "YES";
  const yesPrice = parseTradablePrice(yes ? sidePrice : 1 - sidePrice);
  const executedAt = parseTime(bet.createdTime);
  if ((!yes && bet.outcome !== "NO") || executedAt === null || !Number.isFinite(shares)) {
    drop("bad_bet");
    return null;
  }
  if (yesPrice === null) {
    drop("price_out_of_range");
    return null;
  }
  const buys = amount > 0;
  return {
    tradeId: bet.id,
    executedAt,
    yesPrice,
    size: fromMicros(toMicros(Math.abs(shares))),
    // Selling YES is buying NO.
    takerSide: yes === buys ? "yes" : "no",
  };
}

function takenAtOnce(bet: BetWire): { amount: number; shares: number } {
  if (bet.limitProb === undefined || bet.limitProb === null || !bet.fills) return bet;
  const own = bet.fills.filter((fill) => fill.timestamp <= bet.createdTime + OWN_FILL_MS_MAX);
  return {
    amount: own.reduce((sum, fill) => sum + fill.amount, 0),
    shares: own.reduce((sum, fill) => sum + fill.shares, 0),
  };
}

/** A moment after which the probability was `price` until the next one. */
export interface PricePoint {
  readonly at: number;
  readonly before: number | null;
  readonly price: number;
}

/** Bets or bet points as prices, oldest first; unreadable rows are counted. */
export function parsePricePoints(
  rows: readonly unknown[],
  answerId: string | null,
  { drop, watch }: { readonly drop: DropCounter; readonly watch: ManifoldWatches },
): PricePoint[] {
  const points: PricePoint[] = [];
  for (const row of rows) {
    if (!watch.bet_point.check(row, isBetPoint)) {
      drop("bad_bet");
      continue;
    }
    if (answerId !== null && row.answerId !== undefined && row.answerId !== null && row.answerId !== answerId) continue;
    const at = parseTime(row.createdTime);
    const price = parseTradablePrice(row.probAfter);
    if (at === null || price === null) drop("price_out_of_range");
    else points.push({ at, before: parseTradablePrice(row.probBefore), price });
  }
  return points.sort((a, b) => a.at - b.at);
}

/**
 * Prices on the grid of multiples of `intervalMs` inside [fromMs, toMs): each interval has the last price before its
 * end, the first known one reaches back to `fromMs` where the venue says what it was. At most `pointsMax`, the latest.
 */
export function binPrices(
  points: readonly PricePoint[],
  range: { readonly fromMs: number; readonly toMs: number; readonly intervalMs: number },
  pointsMax: number,
): HistoryPoint[] {
  const { intervalMs } = range;
  const lastEnd = Math.floor(range.toMs / intervalMs) * intervalMs;
  const firstStart = Math.max(Math.ceil(range.fromMs / intervalMs) * intervalMs, lastEnd - pointsMax * intervalMs);
  const bins: HistoryPoint[] = [];
  let price = points[0]?.before ?? null;
  let next = 0;
  for (let startAt = firstStart; startAt + intervalMs <= lastEnd; startAt += intervalMs) {
    const endAt = startAt + intervalMs;
    for (let point = points[next]; point !== undefined && point.at < endAt; point = points[++next]) price = point.price;
    if (price !== null) bins.push({ startAt, endAt, yesPrice: price, bid: null, ask: null, volumeUsd: null });
  }
  return bins;
}
