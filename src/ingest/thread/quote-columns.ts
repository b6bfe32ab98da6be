import type { BoardMarket } from "../../board/index.ts";

/** Numbers per market. */
const WIDTH = 16;

/** The changing figures of a market. */
export type SentQuote = Pick<BoardMarket, "row" | "quote" | "activity" | "updatedAt" | "priceDayAgo" | "storeKey">;

const encode = (value: number | null): number => value ?? Number.NaN;
const decode = (value: number | undefined): number | null =>
  value === undefined || Number.isNaN(value) ? null : value;

/** Returns a buffer for the figures of `count` markets: `reusable` if it is large enough. */
export const quoteBuffer = (count: number, reusable: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> =>
  reusable.length >= count * WIDTH ? reusable : new Float64Array(count * WIDTH);

/** Writes the figures of a market to position `index` of a buffer. NaN stands for null. */
export function writeQuote(buffer: Float64Array, index: number, market: SentQuote): void {
  const { quote, activity } = market;
  const start = index * WIDTH;
  buffer[start] = market.row;
  buffer[start + 1] = encode(quote.bid);
  buffer[start + 2] = encode(quote.ask);
  buffer[start + 3] = encode(quote.bidSize);
  buffer[start + 4] = encode(quote.askSize);
  buffer[start + 5] = encode(quote.lastPrice);
  buffer[start + 6] = encode(quote.indicativePrice);
  buffer[start + 7] = encode(quote.eventAt);
  buffer[start + 8] = quote.receivedAt;
  buffer[start + 9] = encode(activity.volume24hUsd);
  buffer[start + 10] = encode(activity.volumeTotalUsd);
  buffer[start + 11] = encode(activity.liquidityUsd);
  buffer[start + 12] = encode(activity.openInterestUsd);
  buffer[start + 13] = market.updatedAt;
  buffer[start + 14] = encode(market.priceDayAgo);
  buffer[start + 15] = encode(market.storeKey);
}

export function readQuote(buffer: Float64Array, index: number): SentQuote {
  const start = index * WIDTH;
  return {
    row: buffer[start] ?? 0,
    quote: {
      bid: decode(buffer[start + 1]),
      ask: decode(buffer[start + 2]),
      bidSize: decode(buffer[start + 3]),
      askSize: decode(buffer[start + 4]),
      lastPrice: decode(buffer[start + 5]),
      indicativePrice: decode(buffer[start + 6]),
      eventAt: decode(buffer[start + 7]),
      receivedAt: buffer[start + 8] ?? 0,
    },
    activity: {
      volume24hUsd: decode(buffer[start + 9]),
      volumeTotalUsd: decode(buffer[start + 10]),
      liquidityUsd: decode(buffer[start + 11]),
      openInterestUsd: decode(buffer[start + 12]),
    },
    updatedAt: buffer[start + 13] ?? 0,
    priceDayAgo: decode(buffer[start + 14]),
    storeKey: decode(buffer[start + 15]),
  };
}
