import type { MarketListing } from "../../domain/market.ts";
import { isCrossed, type OrderBook } from "../../domain/order-book.ts";
import type { KalshiPorts } from "./client.ts";
import { expectShape, type KalshiClient } from "./client.ts";
import { parseTop } from "./parse.ts";
import { parseBook } from "./parse-book.ts";
import { parsePrice } from "./parse-scalars.ts";
import { isMarket, isOneMarket, isOrderbook } from "./wire.ts";

/** Whether books need a key is unsettled at the venue: after a refusal the top of the book does for this long. */
const REFUSED_MS = 10 * 60_000;
/** A crossed book is a torn read; the second look is nearly always whole. */
const READS_MAX = 2;

/** Reads order books, or the top of them where the venue wants a key for more and none is configured. */
export class BookReader {
  readonly #client: KalshiClient;
  readonly #ports: Pick<KalshiPorts, "clock" | "drop" | "detectors">;
  #refusedUntil = 0;

  constructor(client: KalshiClient, ports: Pick<KalshiPorts, "clock" | "drop" | "detectors">) {
    this.#client = client;
    this.#ports = ports;
  }

  /** Null for settled markets and such that the live tier does not know. */
  async get(listing: Pick<MarketListing, "marketId" | "status">, signal: AbortSignal): Promise<OrderBook | null> {
    if (listing.status === "finalized") return null;
    const path = `/markets/${encodeURIComponent(listing.marketId)}`;
    if (this.#ports.clock.now() < this.#refusedUntil) return this.#top(path, signal);
    let receivedAt = 0;
    for (let read = 0; read < READS_MAX; read++) {
      const answer = await this.#client.get(`${path}/orderbook`, {}, signal, [401, 403, 404]);
      if (answer.status === 404) return null;
      if (answer.status === 401 || answer.status === 403) {
        this.#ports.drop("book_needs_key");
        this.#refusedUntil = this.#ports.clock.now() + REFUSED_MS;
        return this.#top(path, signal);
      }
      receivedAt = answer.receivedAt;
      this.#ports.detectors.book.check(answer.json, isOrderbook);
      const book = parseBook(expectShape(answer.json, isOrderbook, path), this.#ports.drop);
      if (!isCrossed(book.bids[0]?.price ?? null, book.asks[0]?.price ?? null)) {
        return { ...book, lastPrice: null, eventAt: null, receivedAt };
      }
      this.#ports.drop("crossed_book");
    }
    return { bids: [], asks: [], lastPrice: null, eventAt: null, receivedAt };
  }

  async #top(path: string, signal: AbortSignal): Promise<OrderBook | null> {
    const answer = await this.#client.get(path, {}, signal, [404]);
    if (answer.status === 404) return null;
    const { market } = expectShape(answer.json, isOneMarket, path);
    if (!this.#ports.detectors.market.check(market, isMarket)) {
      this.#ports.drop("bad_market");
      return null;
    }
    const { bid, bidSize, ask, askSize } = parseTop(market, this.#ports.drop);
    return {
      bids: bid === null || bidSize === null ? [] : [{ price: bid, size: bidSize }],
      asks: ask === null || askSize === null ? [] : [{ price: ask, size: askSize }],
      lastPrice: parsePrice(market.last_price_dollars, this.#ports.drop),
      eventAt: null,
      receivedAt: answer.receivedAt,
    };
  }
}
