import type { BoardChange } from "../board/index.ts";
import { VENUE_CLOCK_AHEAD_MS_MAX } from "../domain/market.ts";
import type { OrderBook } from "../domain/order-book.ts";
import type { StreamMessage, VenueStream } from "../ports/venue.ts";
import type { AnnouncedMarkets } from "./announced-markets.ts";
import { listMostTraded, type VenueContext } from "./context.ts";
import type { RefreshQueue } from "./refresh-queue.ts";

export type StreamReader = ReturnType<typeof createStreamReader>;

/**
 * Applies the messages of a venue's stream to the board and subscribes the stream to the most traded markets.
 *
 * @param requestResync  called when messages were lost or contradict each other
 */
export function createStreamReader(
  { venue, board, storeWriter, live, health, log }: VenueContext,
  refreshQueue: RefreshQueue,
  announced: AnnouncedMarkets,
  requestResync: () => void,
) {
  let stream: VenueStream | null = null;
  let isUp = false;
  let wasUp = false;

  /** @param at  venue time of the message, Unix milliseconds */
  const publish = (change: BoardChange, at: number) => {
    storeWriter.queueChange(change);
    if (live.reportPrice(change, at)) refreshQueue.add(change.market.listing.marketId);
  };

  const applyQuote = (message: Extract<StreamMessage, { kind: "quote" }>) => {
    const isAhead = (message.quote.eventAt ?? 0) > message.receivedAt + VENUE_CLOCK_AHEAD_MS_MAX;
    if (isAhead) health.drop("time_ahead");
    // With a time in the future on the board, subsequent quotes would be rejected as out of order.
    const quote = isAhead ? { ...message.quote, eventAt: null } : message.quote;
    const change = board.applyQuote(venue.id, message.marketId, quote, message.receivedAt);
    if (change === "crossed_book") requestResync();
    if (typeof change === "string") health.drop(change);
    else publish(change, change.market.updatedAt);
  };

  const applyTrade = ({ marketId, trade, lastPrice = trade.yesPrice }: Extract<StreamMessage, { kind: "trade" }>) => {
    const market = board.find(venue.id, marketId);
    if (market === null) return health.drop("unknown_market");
    storeWriter.queueTrades(market, [trade]);
    live.reportTrades(market, [trade]);
    const change = board.applyTrade(market, { ...trade, yesPrice: lastPrice });
    if (change !== null) publish(change, trade.executedAt);
  };

  return {
    get isUp() {
      return isUp;
    },
    /** Opens the stream. Returns false if the venue has none or its key is not configured. */
    open(): boolean {
      stream = venue.openStream({
        onMessage(message) {
          health.succeeded();
          if (message.kind === "changed") refreshQueue.add(message.marketId);
          else if (message.kind === "listed") announced.add(message.marketId);
          else if (message.kind === "quote") applyQuote(message);
          else applyTrade(message);
        },
        onUp() {
          // Messages sent during the disconnection are lost, so a sweep must confirm the board.
          if (wasUp && !isUp) requestResync();
          isUp = true;
          wasUp = true;
          health.streamChanged("up");
          log.info({ venue: venue.id }, "stream is up");
        },
        onDown(reason) {
          if (isUp) {
            log.warn({ venue: venue.id, reason }, "stream is down and will reconnect");
            health.drop("stream_down");
            requestResync();
          }
          isUp = false;
          health.streamChanged("down");
        },
      });
      if (stream === null) return false;
      health.streamChanged("down");
      return true;
    },
    /** Subscribes to the most traded markets, up to the stream's limit. */
    follow(): void {
      const markets = listMostTraded(board, [venue.id], venue.profile.streamMarketsMax);
      stream?.follow(markets.map(({ listing }) => listing));
    },
    /** Returns the order book tracked by the stream; null if the stream has no current order book. */
    bookOf: (marketId: string): OrderBook | null => stream?.bookOf?.(marketId) ?? null,
    close(): void {
      stream?.close();
      stream = null;
    },
  };
}
