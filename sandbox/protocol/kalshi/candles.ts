import type { ListedMarket, PricePoint, World, WorldTrade } from "../../world/types.ts";
import { count, dollars } from "./market-json.ts";

/** Quotes and trades of a market in one period. Prices are in [0, 1]. */
export interface Candle {
  /** Unix milliseconds, inclusive. */
  readonly endAt: number;
  readonly bid: Range;
  readonly ask: Range;
  /** Prices of the trades in the period; null without trades. */
  readonly price: (Range & { readonly mean: number }) | null;
  /** Price of the last trade before the period; null if there is none. */
  readonly previous: number | null;
  /** Contracts; null if a recording does not include it. */
  readonly volume: number | null;
  /** Contracts; null if a recording does not include it. */
  readonly openInterest: number | null;
}

interface Range {
  readonly open: number;
  readonly low: number;
  readonly high: number;
  readonly close: number;
}

/**
 * Candles of the periods that ended in [from, to], oldest first. Quotes are taken at the two ends of each period, trades
 * from the whole period.
 * @param intervalMs 1 minute, 1 hour or 1 day
 */
export function candlesOf(world: World, market: ListedMarket, from: number, to: number, intervalMs: number): Candle[] {
  // The period before `from` supplies the opening quotes of the first candle.
  const points = world.priceHistory(market, from - 1 - intervalMs, to, intervalMs);
  const first = points[0];
  const last = points.at(-1);
  if (first === undefined || last === undefined) return [];
  const trades = world.trades(market, first.at - intervalMs + 1, last.at + 1);
  const candles: Candle[] = [];
  let next = 0;
  let previousPoint: PricePoint | null = null;
  let previousPrice = world.trades(market, first.at - intervalMs, first.at - intervalMs + 1).at(-1)?.yesPrice ?? null;
  for (const point of points) {
    const periodTrades: WorldTrade[] = [];
    for (let trade = trades[next]; trade !== undefined && trade.at <= point.at; trade = trades[++next])
      periodTrades.push(trade);
    if (point.at >= from) {
      candles.push({
        endAt: point.at,
        bid: rangeOf([previousPoint?.bid ?? point.bid ?? 0, point.bid ?? 0]),
        ask: rangeOf([previousPoint?.ask ?? point.ask ?? 1, point.ask ?? 1]),
        price: priceOf(periodTrades),
        previous: previousPoint?.lastPrice ?? previousPrice,
        volume: point.volumeContracts,
        openInterest: world.activity(market, point.at).openInterestContracts,
      });
    }
    previousPoint = point;
    previousPrice = periodTrades.at(-1)?.yesPrice ?? previousPrice;
  }
  return candles;
}

function rangeOf(prices: readonly number[]): Range {
  return { open: prices[0] ?? 0, low: Math.min(...prices), high: Math.max(...prices), close: prices.at(-1) ?? 0 };
}

function priceOf(trades: readonly WorldTrade[]): Candle["price"] {
  if (trades.length === 0) return null;
  const size = trades.reduce((sum, trade) => sum + trade.size, 0);
  const value = trades.reduce((sum, trade) => sum + trade.size * trade.yesPrice, 0);
  return { ...rangeOf(trades.map(({ yesPrice }) => yesPrice)), mean: value / size };
}

/** Candle of the live tier: names carry unit suffixes, price fields are absent without trades. */
export function candleJson(candle: Candle): Record<string, unknown> {
  const { price, previous } = candle;
  const range = ({ open, low, high, close }: Range) => ({
    open_dollars: dollars(open),
    low_dollars: dollars(low),
    high_dollars: dollars(high),
    close_dollars: dollars(close),
  });
  return {
    end_period_ts: Math.floor(candle.endAt / 1_000),
    yes_bid: range(candle.bid),
    yes_ask: range(candle.ask),
    price: {
      ...(price === null
        ? {}
        : {
            ...range(price),
            mean_dollars: dollars(price.mean),
            min_dollars: dollars(price.low),
            max_dollars: dollars(price.high),
          }),
      ...(previous === null ? {} : { previous_dollars: dollars(previous) }),
    },
    volume_fp: count(candle.volume),
    open_interest_fp: count(candle.openInterest),
  };
}

/** Candle of the historical tier: names carry no unit suffixes, price fields are null without trades. */
export function historicalCandleJson(candle: Candle): Record<string, unknown> {
  const { price, previous } = candle;
  const range = (of: Range | null) => ({
    open: of === null ? null : dollars(of.open),
    low: of === null ? null : dollars(of.low),
    high: of === null ? null : dollars(of.high),
    close: of === null ? null : dollars(of.close),
  });
  return {
    end_period_ts: Math.floor(candle.endAt / 1_000),
    yes_bid: range(candle.bid),
    yes_ask: range(candle.ask),
    price: {
      ...range(price),
      mean: price === null ? null : dollars(price.mean),
      previous: previous === null ? null : dollars(previous),
    },
    volume: count(candle.volume),
    open_interest: count(candle.openInterest),
  };
}

/**
 * The extra first candle of `include_latest_before_start`: the last period before `from`, moved to the first period end at
 * or after `from`, with the previous price only. Null if there is no earlier period.
 */
export function latestBeforeJson(
  world: World,
  market: ListedMarket,
  from: number,
  intervalMs: number,
): Record<string, unknown> | null {
  const [latest] = candlesOf(world, market, from - intervalMs, from - 1, intervalMs).slice(-1);
  if (latest === undefined) return null;
  const previous = latest.price?.close ?? latest.previous;
  const carriedForward = {
    ...latest,
    endAt: Math.ceil(from / intervalMs) * intervalMs,
    price: null,
    previous,
    volume: 0,
  };
  return candleJson(carriedForward);
}
