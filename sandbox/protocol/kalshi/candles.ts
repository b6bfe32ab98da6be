import type { ListedMarket, PricePoint, World } from "../../world/types.ts";
import { formatContracts, formatDollars } from "./market-json.ts";

/** Quotes and trades of a market in one period. Prices are in [0, 1]. */
export interface Candle {
  /** Unix milliseconds, inclusive. */
  readonly endAt: number;
  /** Best bid and ask at the end of the period. */
  readonly bid: number;
  readonly ask: number;
  /** Price of the last trade in the period; null if there are no trades. */
  readonly price: number | null;
  /** Price of the last trade before the period; null if there is none. */
  readonly previous: number | null;
  /** Number of contracts; null if the recording does not include this number. */
  readonly volume: number | null;
}

/**
 * Returns the candles of the periods that end in [from, to], oldest first.
 * @param intervalMs 1 minute, 1 hour or 1 day
 */
export function buildCandles(
  world: World,
  market: ListedMarket,
  from: number,
  to: number,
  intervalMs: number,
): Candle[] {
  // The period before `from` provides the previous price of the first candle.
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
    let price: number | null = null;
    for (let trade = trades[next]; trade !== undefined && trade.at <= point.at; trade = trades[++next])
      price = trade.yesPrice;
    if (point.at >= from) {
      candles.push({
        endAt: point.at,
        bid: point.bid ?? 0,
        ask: point.ask ?? 1,
        price,
        previous: previousPoint?.lastPrice ?? previousPrice,
        volume: point.volumeContracts,
      });
    }
    previousPoint = point;
    previousPrice = price ?? previousPrice;
  }
  return candles;
}

const formatPrice = (price: number | null) => (price === null ? null : formatDollars(price));

/** Presents a candle of the live tier. Field names have unit suffixes; price fields are absent without trades. */
export function presentCandle({ endAt, bid, ask, price, previous, volume }: Candle): Record<string, unknown> {
  return {
    end_period_ts: Math.floor(endAt / 1_000),
    yes_bid: { close_dollars: formatDollars(bid) },
    yes_ask: { close_dollars: formatDollars(ask) },
    price: { close_dollars: formatPrice(price) ?? undefined, previous_dollars: formatPrice(previous) ?? undefined },
    volume_fp: formatContracts(volume),
  };
}

/** Presents a historical candle. Field names have no unit suffixes; price fields are null without trades. */
export function presentHistoricalCandle({ endAt, bid, ask, price, previous, volume }: Candle): Record<string, unknown> {
  return {
    end_period_ts: Math.floor(endAt / 1_000),
    yes_bid: { close: formatDollars(bid) },
    yes_ask: { close: formatDollars(ask) },
    price: { close: formatPrice(price), previous: formatPrice(previous) },
    volume: formatContracts(volume),
  };
}
