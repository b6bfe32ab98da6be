import type { MarketListing } from "../../domain/market.ts";
import type { OrderBook } from "../../domain/order-book.ts";
import { deleteOldest } from "../../lib/delete-oldest.ts";
import type { StreamHandlers } from "../../ports/venue.ts";
import type { LimitlessContext } from "./client.ts";
import { isAmm, slugOf } from "./ids.ts";
import { type PartialQuote, parseBookFrame, parsePriceFrame, quoteOfBook } from "./parse-book.ts";
import { parseTime } from "./parse-values.ts";
import { isBookFrame, isLifecycleFrame, isPriceFrame } from "./wire.ts";

/** Maximum number of stored slugs of resolved markets, so that a repeated `marketResolved` frame is ignored. */
const RESOLVED_MAX = 5_000;
/** Maximum time by which a frame's timestamp may be in the future. A later timestamp is invalid. */
const FRAME_AHEAD_MS_MAX = 60_000;

export type FrameListener = (payload: unknown, receivedAt: number) => void;

export interface FrameListenerOptions extends Pick<LimitlessContext, "countDrop" | "driftDetectors"> {
  readonly followed: FollowedMarkets;
  readonly onMessage: StreamHandlers["onMessage"];
  /** Called for every book or price frame of a followed market. */
  readonly onMarketData: () => void;
  /** Called for the book of every frame that is not outdated. */
  readonly onBook: (market: FollowedMarket, book: OrderBook) => void;
}

/** Creates listeners, by Socket.IO event name, that convert frames to stream messages. */
export function createFrameListeners(options: FrameListenerOptions): Readonly<Record<string, FrameListener>> {
  const { followed, onMessage, countDrop, driftDetectors } = options;
  const resolvedSlugs = new Set<string>();

  const deliverQuote = (
    market: FollowedMarket | undefined,
    timestamp: unknown,
    receivedAt: number,
    parse: (market: FollowedMarket) => PartialQuote | null,
  ) => {
    if (market === undefined) return countDrop("stream_frame_not_followed");
    options.onMarketData();
    if (isOutdated(market, timestamp, receivedAt)) return countDrop("stream_frame_overtaken");
    const quote = parse(market);
    if (quote === null) return;
    const isAhead = typeof quote.eventAt === "number" && quote.eventAt > receivedAt + FRAME_AHEAD_MS_MAX;
    if (isAhead) {
      countDrop("stream_time_ahead");
      market.book = null;
    }
    onMessage({
      kind: "quote",
      marketId: market.marketId,
      quote: isAhead ? { ...quote, eventAt: null } : quote,
      receivedAt,
    });
  };

  return {
    orderbookUpdate(payload, receivedAt) {
      if (!driftDetectors.stream_book.check(payload, isBookFrame)) return countDrop("bad_stream_frame");
      const market = followed.findBySlug(payload.marketSlug);
      deliverQuote(market, payload.timestamp, receivedAt, (followedMarket) => {
        const book = parseBookFrame(payload, receivedAt, countDrop);
        options.onBook(followedMarket, book);
        return quoteOfBook(book);
      });
    },
    newPriceData(payload, receivedAt) {
      if (!driftDetectors.stream_price.check(payload, isPriceFrame)) return countDrop("bad_stream_frame");
      const market = followed.findByAddress(payload.marketAddress);
      deliverQuote(market, payload.timestamp, receivedAt, () => parsePriceFrame(payload, countDrop));
    },
    marketResolved(payload, receivedAt) {
      if (!driftDetectors.stream_lifecycle.check(payload, isLifecycleFrame)) return countDrop("bad_stream_frame");
      if (resolvedSlugs.has(payload.slug)) return;
      resolvedSlugs.add(payload.slug);
      deleteOldest(resolvedSlugs, RESOLVED_MAX);
      const market = followed.findBySlug(payload.slug);
      if (market !== undefined) market.book = null;
      const marketId = market?.marketId ?? payload.slug;
      onMessage({ kind: "changed", marketId, receivedAt });
    },
    marketCreated(payload, receivedAt) {
      if (!driftDetectors.stream_lifecycle.check(payload, isLifecycleFrame)) return countDrop("bad_stream_frame");
      onMessage({ kind: "listed", marketId: payload.slug, receivedAt });
    },
  };
}

/**
 * Returns whether a newer frame was already delivered, and records the frame's time if not. An invalid future time is
 * not recorded, because it would make the following frames outdated.
 */
function isOutdated(market: FollowedMarket, timestamp: unknown, receivedAt: number): boolean {
  const eventAt = parseTime(timestamp);
  if (eventAt === null || eventAt > receivedAt + FRAME_AHEAD_MS_MAX) return false;
  if (eventAt < market.eventAt) return true;
  market.eventAt = eventAt;
  return false;
}

export interface FollowedMarket {
  readonly marketId: string;
  /** Venue time of the newest frame delivered, Unix milliseconds; 0 before the first. */
  eventAt: number;
  /** Order book of the newest frame, received at monotonic `receivedAt`; null if the frame was unusable. */
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

  /** Discards the order books, for example because frames were lost. */
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
