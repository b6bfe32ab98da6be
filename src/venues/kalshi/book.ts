import type { MarketListing } from "../../domain/market.ts";
import { isCrossed, type OrderBook } from "../../domain/order-book.ts";
import { parsePrice } from "../shared/parse-values.ts";
import { BOOK_BODY_BYTES_MAX } from "../shared/venue-client.ts";
import { expectShape, type KalshiClient, type KalshiPorts } from "./client.ts";
import { parseBook } from "./parse-book.ts";
import { parseTopOfBook } from "./parse-market.ts";
import { isMarket, isOneMarket, isOrderbook } from "./wire.ts";

/** How long only the top of book is read after Kalshi refuses an unsigned request for a book. */
const TOP_OF_BOOK_ONLY_MS = 10 * 60_000;
/** Maximum reads of a crossed book, which is an inconsistent read. The second read is nearly always consistent. */
const READS_MAX = 2;

/** Reads order books. If the venue requires a key and none is configured, reads the top of book from the market row. */
export class BookReader {
  readonly #client: KalshiClient;
  readonly #ports: Pick<KalshiPorts, "clock" | "countDrop" | "driftDetectors">;
  #refusedUntil = 0;

  constructor(client: KalshiClient, ports: Pick<KalshiPorts, "clock" | "countDrop" | "driftDetectors">) {
    this.#client = client;
    this.#ports = ports;
  }

  /**
   * Returns null for settled markets. For unknown markets and markets settled since, the venue returns an empty book,
   * so an empty book does not mean that the market exists.
   */
  async getBook(listing: Pick<MarketListing, "marketId" | "status">, signal: AbortSignal): Promise<OrderBook | null> {
    if (listing.status === "finalized") return null;
    const path = `/markets/${encodeURIComponent(listing.marketId)}`;
    if (this.#ports.clock.now() < this.#refusedUntil) return this.#getTop(path, signal);
    let receivedAt = 0;
    for (let read = 0; read < READS_MAX; read++) {
      const response = await this.#client.get(`${path}/orderbook`, {}, signal, [401, 403, 404], BOOK_BODY_BYTES_MAX);
      if (response.status === 404) return null;
      if (response.status === 401 || response.status === 403) {
        this.#ports.countDrop("book_needs_key");
        this.#refusedUntil = this.#ports.clock.now() + TOP_OF_BOOK_ONLY_MS;
        return this.#getTop(path, signal);
      }
      receivedAt = response.receivedAt;
      this.#ports.driftDetectors.book.check(response.json, isOrderbook);
      const book = parseBook(expectShape(response.json, isOrderbook, path), this.#ports.countDrop);
      if (!isCrossed(book.bids[0]?.price ?? null, book.asks[0]?.price ?? null)) {
        return { ...book, lastPrice: null, eventAt: null, receivedAt };
      }
      this.#ports.countDrop("crossed_book");
    }
    return { bids: [], asks: [], lastPrice: null, eventAt: null, receivedAt };
  }

  async #getTop(path: string, signal: AbortSignal): Promise<OrderBook | null> {
    const response = await this.#client.get(path, {}, signal, [404]);
    if (response.status === 404) return null;
    const { market } = expectShape(response.json, isOneMarket, path);
    if (!this.#ports.driftDetectors.market.check(market, isMarket)) {
      this.#ports.countDrop("bad_market");
      return null;
    }
    const { bid, bidSize, ask, askSize } = parseTopOfBook(market, this.#ports.countDrop);
    return {
      bids: bid === null || bidSize === null ? [] : [{ price: bid, size: bidSize }],
      asks: ask === null || askSize === null ? [] : [{ price: ask, size: askSize }],
      lastPrice: parsePrice(market.last_price_dollars, this.#ports.countDrop),
      eventAt: null,
      receivedAt: response.receivedAt,
    };
  }
}
