import type { BoardChange } from "../board/index.ts";
import { VENUE_CLOCK_AHEAD_MS_MAX } from "../domain/market.ts";
import type { OrderBook } from "../domain/order-book.ts";
import type { StreamMessage, VenueStream } from "../ports/venue.ts";
import type { AnnouncedMarkets } from "./announced-markets.ts";
import { listMostTraded, type VenueContext } from "./context.ts";
import type { RefreshQueue } from "./refresh-queue.ts";

/** Applies the messages of a venue's stream to the board and subscribes the stream to the most traded markets. */
export class StreamReader {
  readonly #context: VenueContext;
  readonly #refreshQueue: RefreshQueue;
  readonly #announced: AnnouncedMarkets;
  readonly #requestResync: () => void;
  #stream: VenueStream | null = null;
  #isUp = false;
  #wasUp = false;

  /** @param requestResync  called when messages were lost or contradict each other */
  constructor(
    context: VenueContext,
    refreshQueue: RefreshQueue,
    announced: AnnouncedMarkets,
    requestResync: () => void,
  ) {
    this.#context = context;
    this.#refreshQueue = refreshQueue;
    this.#announced = announced;
    this.#requestResync = requestResync;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** Opens the stream. Returns false if the venue has none or its key is not configured. */
  open(): boolean {
    const { venue, health, log } = this.#context;
    this.#stream = venue.openStream({
      onMessage: (message) => this.#apply(message),
      onUp: () => {
        // Messages sent during the disconnection are lost, so a sweep must confirm the board.
        if (this.#wasUp && !this.#isUp) this.#requestResync();
        this.#isUp = true;
        this.#wasUp = true;
        health.streamChanged("up");
        log.info({ venue: venue.id }, "stream is up");
      },
      onDown: (reason) => {
        if (this.#isUp) {
          log.warn({ venue: venue.id, reason }, "stream is down and will reconnect");
          health.drop("stream_down");
          this.#requestResync();
        }
        this.#isUp = false;
        health.streamChanged("down");
      },
    });
    if (this.#stream === null) return false;
    health.streamChanged("down");
    return true;
  }

  /** Subscribes to the most traded markets, up to the stream's limit. */
  follow(): void {
    const { board, venue } = this.#context;
    const markets = listMostTraded(board, [venue.id], venue.profile.streamMarketsMax);
    this.#stream?.follow(markets.map(({ listing }) => listing));
  }

  /** Returns the order book that the stream tracks, or null if it tracks none that is current. */
  bookOf(marketId: string): OrderBook | null {
    return this.#stream?.bookOf?.(marketId) ?? null;
  }

  close(): void {
    this.#stream?.close();
    this.#stream = null;
  }

  #apply(message: StreamMessage): void {
    const { health } = this.#context;
    health.succeeded();
    if (message.kind === "changed") this.#refreshQueue.add(message.marketId);
    else if (message.kind === "listed") this.#announced.add(message.marketId);
    else if (message.kind === "quote") this.#applyQuote(message);
    else this.#applyTrade(message);
  }

  #applyQuote(message: Extract<StreamMessage, { kind: "quote" }>): void {
    const { venue, board, health } = this.#context;
    const isAhead = (message.quote.eventAt ?? 0) > message.receivedAt + VENUE_CLOCK_AHEAD_MS_MAX;
    if (isAhead) health.drop("time_ahead");
    // If the board stored a timestamp in the future, it would reject subsequent quotes as out of order.
    const quote = isAhead ? { ...message.quote, eventAt: null } : message.quote;
    const change = board.applyQuote(venue.id, message.marketId, quote, message.receivedAt);
    if (change === "crossed_book") this.#requestResync();
    if (typeof change === "string") health.drop(change);
    else this.#publish(change, change.market.updatedAt);
  }

  #applyTrade({ marketId, trade, lastPrice = trade.yesPrice }: Extract<StreamMessage, { kind: "trade" }>): void {
    const { venue, board, storeWriter, live, health } = this.#context;
    const market = board.find(venue.id, marketId);
    if (market === null) {
      health.drop("unknown_market");
      return;
    }
    storeWriter.queueTrades(market, [trade]);
    live.reportTrades(market, [trade]);
    const change = board.applyTrade(market, { ...trade, yesPrice: lastPrice });
    if (change !== null) this.#publish(change, trade.executedAt);
  }

  /** @param at  venue time of the message, Unix milliseconds */
  #publish(change: BoardChange, at: number): void {
    const { storeWriter, live } = this.#context;
    storeWriter.queueChange(change);
    if (live.reportPrice(change, at)) this.#refreshQueue.add(change.market.listing.marketId);
  }
}
