import type { Level, ListedMarket, World } from "./types.ts";

/** Maximum spread at which the mid is used as the price. */
const MID_SPREAD_MAX_MICROS = 100_000;
const MICROS = 1_000_000;

/** Prices and trades of a market in an interval. Prices are in [0, 1]. */
export interface WorldCandle {
  /** Unix milliseconds. The interval is startAt < at <= endAt. */
  readonly startAt: number;
  readonly endAt: number;
  /** The price after the first change in the interval, or at its start if nothing changes. */
  readonly open: number;
  /** Extremes of open, close and the price after each change in the interval. */
  readonly high: number;
  readonly low: number;
  /** The price at `endAt`. */
  readonly close: number;
  readonly tradeCount: number;
  readonly volumeContracts: number;
  /** Sum of size times YES price. */
  readonly volumeUsd: number;
}

/**
 * Returns the price of a market at `at`: the mid if the spread is at most 0.10, otherwise the last trade price, limited
 * to the range from bid to ask. The price of an automated market maker is its probability. Null before the first quote
 * or trade.
 */
export function priceAt(world: World, market: ListedMarket, at: number): number | null {
  if (market.mechanism === "amm") return world.probability(market, at);
  const { bids, asks, lastPrice } = world.book(market, at);
  const mid = narrowMid(bids, asks);
  if (mid !== null || lastPrice === null) return mid;
  return Math.max(bids[0]?.price ?? 0, Math.min(lastPrice, asks[0]?.price ?? 1));
}

/** Returns the mid of the best bid and ask if their spread is at most 0.10, otherwise null. */
export function narrowMid([bid]: readonly Level[], [ask]: readonly Level[]): number | null {
  if (bid === undefined || ask === undefined) return null;
  const [bidMicros, askMicros] = [Math.round(bid.price * MICROS), Math.round(ask.price * MICROS)];
  return askMicros - bidMicros <= MID_SPREAD_MAX_MICROS ? Math.round((bidMicros + askMicros) / 2) / MICROS : null;
}

/**
 * Returns the candles of the intervals that start in [from, to), oldest first, without those before the first price.
 * The last interval ends at `to` at the latest.
 */
export function worldCandles(
  world: World,
  market: ListedMarket,
  { from, to, intervalMs }: { readonly from: number; readonly to: number; readonly intervalMs: number },
): WorldCandle[] {
  const candles: WorldCandle[] = [];
  for (let startAt = from; startAt < to; startAt += intervalMs) {
    const endAt = Math.min(startAt + intervalMs, to);
    const close = priceAt(world, market, endAt);
    if (endAt < market.openAt || close === null) continue;
    const observed: number[] = [];
    for (let at = world.nextChangeAt(market, startAt); at <= endAt; at = world.nextChangeAt(market, at)) {
      const price = priceAt(world, market, at);
      if (price !== null) observed.push(price);
    }
    const open = observed[0] ?? close;
    const trades = world.trades(market, startAt + 1, endAt + 1);
    candles.push({
      startAt,
      endAt,
      open,
      high: Math.max(open, close, ...observed),
      low: Math.min(open, close, ...observed),
      close,
      tradeCount: trades.length,
      volumeContracts: trades.reduce((sum, { size }) => sum + size, 0),
      volumeUsd: trades.reduce((sum, { size, yesPrice }) => sum + size * yesPrice, 0),
    });
  }
  return candles;
}
