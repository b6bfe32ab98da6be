import type { ListedMarket, PastPoint, World, WorldTrade } from "../../world/types.ts";
import { count, dollars } from "./market-json.ts";

/** One period of a market's past. */
export interface Candle {
  /** Unix milliseconds, inclusive. */
  readonly endAt: number;
  readonly bid: Range;
  readonly ask: Range;
  /** Of the trades in the period; null without any. */
  readonly price: (Range & { readonly mean: number }) | null;
  /** Last trade before the period; null before the first. */
  readonly previous: number | null;
  /** Null: not told by a recording. */
  readonly volume: number | null;
  readonly openInterest: number | null;
}

interface Range {
  readonly open: number;
  readonly low: number;
  readonly high: number;
  readonly close: number;
}

/**
 * Periods that ended in [from, to], oldest first. Quotes of a period are told from its two ends, trades exactly.
 * @param intervalMs 1 minute, 1 hour or 1 day
 */
export function candlesOf(world: World, market: ListedMarket, from: number, to: number, intervalMs: number): Candle[] {
  // One period more at the front gives the first candle its opening quotes.
  const points = world.past(market, from - 1 - intervalMs, to, intervalMs);
  const first = points[0];
  const last = points.at(-1);
  if (first === undefined || last === undefined) return [];
  const trades = world.trades(market, first.at - intervalMs + 1, last.at + 1);
  const candles: Candle[] = [];
  let next = 0;
  let before: PastPoint | null = null;
  let previous = world.trades(market, first.at - intervalMs, first.at - intervalMs + 1).at(-1)?.yesPrice ?? null;
  for (const point of points) {
    const done: WorldTrade[] = [];
    for (let trade = trades[next]; trade !== undefined && trade.at <= point.at; trade = trades[++next])
      done.push(trade);
    if (point.at >= from) {
      candles.push({
        endAt: point.at,
        bid: rangeOf([before?.bid ?? point.bid ?? 0, point.bid ?? 0]),
        ask: rangeOf([before?.ask ?? point.ask ?? 1, point.ask ?? 1]),
        price: priceOf(done),
        previous: before?.lastPrice ?? previous,
        volume: point.volumeContracts,
        openInterest: world.activity(market, point.at).openInterestContracts,
      });
    }
    before = point;
    previous = done.at(-1)?.yesPrice ?? previous;
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

/** Candle of the live tier: suffixed names, price parts absent without trades. */
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

/** Candle of the historical tier: the same meaning under unsuffixed names, price parts null without trades. */
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
 * What `include_latest_before_start` puts in front: the last period before the start carried to the first boundary at or
 * after it, with only the previous price told.
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
  const carried = { ...latest, endAt: Math.ceil(from / intervalMs) * intervalMs, price: null, previous, volume: 0 };
  return candleJson(carried);
}
