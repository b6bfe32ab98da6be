import type { MarketListing } from "../../domain/market.ts";
import type { OrderBook } from "../../domain/order-book.ts";
import { isAmm, slugOf } from "./ids.ts";

export interface FollowedMarket {
  readonly marketId: string;
  /** Venue time of the newest frame delivered, Unix milliseconds; 0 before the first. */
  eventAt: number;
  /** Book of the newest frame, and when it was received in monotonic milliseconds; null without a usable one. */
  book: { readonly levels: OrderBook; readonly receivedAt: number } | null;
}

/** The markets that a stream is subscribed to, indexed by the ids that frames contain. */
export class FollowedMarkets {
  #byId = new Map<string, FollowedMarket>();
  #bySlug = new Map<string, FollowedMarket>();
  /** Markets by contract address in lower case. */
  #byAddress = new Map<string, FollowedMarket>();
  #clobSlugs = new Set<string>();
  #ammAddresses: string[] = [];

  get isEmpty(): boolean {
    return this.#byId.size === 0;
  }

  /** Replaces the followed markets. Markets that remain keep the time of their newest frame. */
  replace(markets: readonly MarketListing[]): void {
    const previous = this.#byId;
    this.#byId = new Map();
    this.#bySlug = new Map();
    this.#byAddress = new Map();
    this.#clobSlugs = new Set();
    this.#ammAddresses = [];
    for (const market of markets) {
      const { marketId } = market;
      const followed = previous.get(marketId) ?? { marketId, eventAt: 0, book: null };
      const slug = slugOf(market);
      this.#byId.set(marketId, followed);
      this.#bySlug.set(slug, followed);
      if (isAmm(market)) {
        this.#byAddress.set(marketId.toLowerCase(), followed);
        this.#ammAddresses.push(marketId);
      } else this.#clobSlugs.add(slug);
    }
  }

  findById(marketId: string): FollowedMarket | undefined {
    return this.#byId.get(marketId);
  }

  /** Forgets the books, for example because frames were lost. */
  forgetBooks(): void {
    for (const market of this.#byId.values()) market.book = null;
  }

  findBySlug(slug: string): FollowedMarket | undefined {
    return this.#bySlug.get(slug);
  }

  findByAddress(address: string): FollowedMarket | undefined {
    return this.#byAddress.get(address.toLowerCase());
  }

  /** Payload of `subscribe_market_prices`: order-book markets by slug, AMM markets by address. */
  get subscription(): { marketSlugs: string[]; marketAddresses: string[] } {
    return { marketSlugs: [...this.#clobSlugs], marketAddresses: [...this.#ammAddresses] };
  }
}
