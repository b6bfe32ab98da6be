import type { ListedMarket, PricePoint, World, WorldTrade } from "../../world/types.ts";
import { formatContracts, formatDollars } from "./market-json.ts";

/** Quotes and trades of a market in one period. Prices are in [0, 1]. */
export interface Candle {
  /** Unix milliseconds, inclusive. */
  readonly endAt: number;
  readonly bid: PriceRange;
  readonly ask: PriceRange;
  /** Prices of the trades in the period; null if there are no trades. */
  readonly price: (PriceRange & { readonly mean: number }) | null;
  /** Price of the last trade before the period; null if there is none. */
  readonly previous: number | null;
  /** Number of contracts; null if the recording does not include this number. */
  readonly volume: number | null;
  /** Number of contracts; null if the recording does not include this number. */
  readonly openInterest: number | null;
}

interface PriceRange {
  readonly open: number;
  readonly low: number;
  readonly high: number;
  readonly close: number;
}

/**
 * Returns the candles of the periods that end in [from, to], oldest first. Each candle has the quotes at the start and
 * end of its period and all trades of the period.
 * @param intervalMs 1 minute, 1 hour or 1 day
 */
export function buildCandles(
  world: World,
  market: ListedMarket,
  from: number,
  to: number,
  intervalMs: number,
): Candle[] {
  // The period before `from` provides the opening quotes of the first candle.
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
        bid: toPriceRange([previousPoint?.bid ?? point.bid ?? 0, point.bid ?? 0]),
        ask: toPriceRange([previousPoint?.ask ?? point.ask ?? 1, point.ask ?? 1]),
        price: summariseTrades(periodTrades),
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

function toPriceRange(prices: readonly number[]): PriceRange {
  return { open: prices[0] ?? 0, low: Math.min(...prices), high: Math.max(...prices), close: prices.at(-1) ?? 0 };
}

function summariseTrades(trades: readonly WorldTrade[]): Candle["price"] {
  if (trades.length === 0) return null;
  const size = trades.reduce((sum, trade) => sum + trade.size, 0);
  const value = trades.reduce((sum, trade) => sum + trade.size * trade.yesPrice, 0);
  return { ...toPriceRange(trades.map(({ yesPrice }) => yesPrice)), mean: value / size };
}

/** Candle of the live tier. Field names have unit suffixes; price fields are absent if there are no trades. */
export function presentCandle(candle: Candle): Record<string, unknown> {
  const { price, previous } = candle;
  const range = ({ open, low, high, close }: PriceRange) => ({
    open_dollars: formatDollars(open),
    low_dollars: formatDollars(low),
    high_dollars: formatDollars(high),
    close_dollars: formatDollars(close),
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
            mean_dollars: formatDollars(price.mean),
          }),
      ...(previous === null ? {} : { previous_dollars: formatDollars(previous) }),
    },
    volume_fp: formatContracts(candle.volume),
    open_interest_fp: formatContracts(candle.openInterest),
  };
}

/** Candle of the historical tier. Field names have no unit suffixes; price fields are null if there are no trades. */
export function presentHistoricalCandle(candle: Candle): Record<string, unknown> {
  const { price, previous } = candle;
  const range = (prices: PriceRange | null) => ({
    open: prices === null ? null : formatDollars(prices.open),
    low: prices === null ? null : formatDollars(prices.low),
    high: prices === null ? null : formatDollars(prices.high),
    close: prices === null ? null : formatDollars(prices.close),
  });
  return {
    end_period_ts: Math.floor(candle.endAt / 1_000),
    yes_bid: range(candle.bid),
    yes_ask: range(candle.ask),
    price: {
      ...range(price),
      mean: price === null ? null : formatDollars(price.mean),
      previous: previous === null ? null : formatDollars(previous),
    },
    volume: formatContracts(candle.volume),
    open_interest: formatContracts(candle.openInterest),
  };
}

/**
 * Returns the additional first candle for `include_latest_before_start`: the last candle before `from`, with its end
 * moved to the first period end at or after `from` and only the previous price. Returns null if there is no candle
 * before `from`.
 */
export function presentLatestBefore(
  world: World,
  market: ListedMarket,
  from: number,
  intervalMs: number,
): Record<string, unknown> | null {
  const [latest] = buildCandles(world, market, from - intervalMs, from - 1, intervalMs).slice(-1);
  if (latest === undefined) return null;
  const previous = latest.price?.close ?? latest.previous;
  const carriedForward = {
    ...latest,
    endAt: Math.ceil(from / intervalMs) * intervalMs,
    price: null,
    previous,
    volume: 0,
  };
  return presentCandle(carriedForward);
}
