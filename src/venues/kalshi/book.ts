import { isCrossed, type OrderBook } from "../../domain/order-book.ts";
import type { VenueAdapter } from "../../ports/venue.ts";
import { parsePrice } from "../shared/parse-values.ts";
import { BOOK_BODY_BYTES_MAX } from "../shared/venue-client.ts";
import { expectShape, type KalshiContext } from "./client.ts";
import { parseBook } from "./parse-book.ts";
import { parseTopOfBook } from "./parse-market.ts";
import { isMarket, isMarketResponse, isOrderbook } from "./wire.ts";

/** Time for which only the top of book is read after Kalshi has rejected an unsigned request for an order book. */
const TOP_OF_BOOK_ONLY_MS = 10 * 60_000;
/** Maximum number of reads if the order book is crossed. A second read nearly always returns a consistent one. */
const READS_MAX = 2;

/**
 * Returns a function that reads order books. If the venue requires a key and none is configured, the function reads the
 * top of book from the market row.
 *
 * The function returns null for settled markets. For unknown and recently settled markets, the venue returns an empty
 * order book, so an empty order book does not mean that the market exists.
 */
export function createBookReader(context: KalshiContext): VenueAdapter["getBook"] {
  const { client, clock, countDrop, driftDetectors } = context;
  let refusedUntil = 0;
  return async (listing, signal) => {
    if (listing.status === "finalized") return null;
    const path = `/markets/${encodeURIComponent(listing.marketId)}`;
    if (clock.now() < refusedUntil) return readTop(context, path, signal);
    let receivedAt = 0;
    for (let read = 0; read < READS_MAX; read++) {
      const response = await client.fetchJson(`${path}/orderbook`, {
        signal,
        accept: [401, 403, 404],
        maxBodyBytes: BOOK_BODY_BYTES_MAX,
      });
      if (response.status === 404) return null;
      if (response.status === 401 || response.status === 403) {
        countDrop("book_needs_key");
        refusedUntil = clock.now() + TOP_OF_BOOK_ONLY_MS;
        return readTop(context, path, signal);
      }
      receivedAt = response.receivedAt;
      driftDetectors.book.check(response.json, isOrderbook);
      const book = parseBook(expectShape(response.json, isOrderbook, path), countDrop);
      if (!isCrossed(book.bids[0]?.price ?? null, book.asks[0]?.price ?? null)) {
        return { ...book, lastPrice: null, eventAt: null, receivedAt };
      }
      countDrop("crossed_book");
    }
    return { bids: [], asks: [], lastPrice: null, eventAt: null, receivedAt };
  };
}

async function readTop(
  { client, countDrop, driftDetectors }: KalshiContext,
  path: string,
  signal: AbortSignal,
): Promise<OrderBook | null> {
  const response = await client.fetchJson(path, { signal, accept: [404] });
  if (response.status === 404) return null;
  const { market } = expectShape(response.json, isMarketResponse, path);
  if (!driftDetectors.market.check(market, isMarket)) {
    countDrop("bad_market");
    return null;
  }
  const { bid, bidSize, ask, askSize } = parseTopOfBook(market, countDrop);
  return {
    bids: bid === null || bidSize === null ? [] : [{ price: bid, size: bidSize }],
    asks: ask === null || askSize === null ? [] : [{ price: ask, size: askSize }],
    lastPrice: parsePrice(market.last_price_dollars, countDrop),
    eventAt: null,
    receivedAt: response.receivedAt,
  };
}
