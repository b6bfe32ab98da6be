import { midOfBook, VENUE_CLOCK_AHEAD_MS_MAX } from "../../domain/market.ts";
import { isCrossed, type OrderBook } from "../../domain/order-book.ts";
import { complement, parseDecimal, parseTradablePrice, toMicros } from "../../domain/price.ts";
import type { Clock } from "../../ports/clock.ts";
import type { DropCounter, StreamMessage } from "../../ports/venue.ts";
import { type BestPrices, LocalBook, type TopOfBook } from "./local-book.ts";
import { parseLevels } from "./parse-book.ts";
import { parseStreamFill, type TokenPair, TransactionTotals } from "./parse-trades.ts";
import { parseMs, parseQuotedPrice } from "./parse-values.ts";
import { isBook, isPriceChangeMessage, type PriceChange } from "./wire.ts";

/** Why the local order book is inconsistent and needs a new snapshot; null if it is consistent. */
export type BookFault = "book_mismatch" | "crossed_book" | null;

/** Maximum time between two frames of one burst. The longest observed time is 270 ms. */
export const BURST_PAUSE_MS_MAX = 500;

interface TrackerPorts {
  readonly clock: Pick<Clock, "monotonic">;
  readonly countDrop: DropCounter;
  readonly emit: (message: StreamMessage) => void;
}

/**
 * The frames caused by one match: one frame per changed level, all with the same timestamp and with the best prices
 * after the match.
 */
interface Burst {
  readonly eventAt: number | null;
  readonly best: BestPrices;
  /** Size at the best price if a frame of the burst has set it; otherwise the size may still change. */
  readonly bidSize: number | null;
  readonly askSize: number | null;
  readonly receivedAt: number;
  /** Monotonic time of the last frame. */
  readonly lastFrameAt: number;
}

/**
 * Converts the stream's messages about one market into quotes and trades. Only the order book of the YES token is
 * maintained, because the NO order book is equivalent. The venue reports a trade for the token that the taker traded,
 * so both tokens are subscribed.
 *
 * The best prices of quotes come from the frames; the local order book only provides the sizes. During a burst it may
 * still contain levels that the match has removed, so it is compared with the best prices only after the burst.
 */
export class OrderBookTracker {
  readonly marketId: string;
  readonly tokens: TokenPair;
  readonly #ports: TrackerPorts;
  readonly #book = new LocalBook();
  readonly #totals = new TransactionTotals();
  #latestEventAt = 0;
  #burst: Burst | null = null;
  #emittedTop: TopOfBook | null = null;

  constructor(marketId: string, tokens: TokenPair, ports: TrackerPorts) {
    this.marketId = marketId;
    this.tokens = tokens;
    this.#ports = ports;
  }

  /** True while a burst may be running. `settle` must then be called later. */
  get isUnsettled(): boolean {
    return this.#burst !== null;
  }

  /** True if the order book is complete. False after a fault until the next snapshot. */
  get hasBook(): boolean {
    return this.#book.isComplete;
  }

  /**
   * Returns the order book without the levels that the running burst has removed. Returns null if the order book is
   * incomplete or lacks one of the burst's best prices. `lastPrice` is null, because trades are received separately.
   */
  currentBook(receivedAt: number): OrderBook | null {
    if (!this.#book.isComplete) return null;
    const best = this.#burst?.best ?? null;
    const { bids, asks } = this.#book.sides(best);
    const [bid, ask] = [bids[0]?.price ?? null, asks[0]?.price ?? null];
    if (best !== null && (bid !== best.bid || ask !== best.ask)) return null;
    if (isCrossed(bid, ask)) return null;
    const eventAt = this.#latestEventAt === 0 ? null : this.#latestEventAt;
    return { bids, asks, lastPrice: null, eventAt, receivedAt };
  }

  /** Discards the book, for example after a reconnect, until the next snapshot. */
  reset(): void {
    this.#book.discard();
    this.#latestEventAt = 0;
    this.#burst = null;
    this.#emittedTop = null;
  }

  /** Reads a book snapshot of either token. */
  readBook(message: unknown, receivedAt: number): BookFault {
    const { countDrop } = this.#ports;
    if (!isBook(message)) {
      countDrop("bad_message");
      return null;
    }
    if (message.asset_id !== this.tokens.tokenYes) return null;
    const eventAt = parseMs(message.timestamp);
    // A snapshot for an incomplete book may be older than the frames that arrived before it.
    const isOlder = this.#isOutOfOrder(eventAt, receivedAt);
    if (isOlder && this.#book.isComplete) {
      countDrop("out_of_order");
      return null;
    }
    this.#book.replace(parseLevels(message.bids, countDrop), parseLevels(message.asks, countDrop));
    if (!this.#book.isComplete) {
      this.#book.discard();
      countDrop("book_too_large");
      return null;
    }
    if (isOlder) return this.#endBurst();
    this.#burst = null;
    const top = this.#book.top();
    const lastPrice = lastPriceOf(parseQuotedPrice(message.last_trade_price, countDrop), top);
    return this.#emitTop(top, eventAt, receivedAt, lastPrice);
  }

  /** Applies the changed levels of one or both tokens, and emits the best prices of the message. */
  readChanges(message: unknown, receivedAt: number): BookFault {
    const { countDrop, clock } = this.#ports;
    if (!isPriceChangeMessage(message)) {
      countDrop("bad_message");
      return null;
    }
    const eventAt = parseMs(message.timestamp);
    if (this.#isOutOfOrder(eventAt, receivedAt)) {
      countDrop("out_of_order");
      return null;
    }
    const fault = this.#burst !== null && this.#burst.eventAt !== eventAt ? this.#endBurst() : null;
    for (const change of message.price_changes) {
      if (change.asset_id !== this.tokens.tokenYes) continue;
      const price = parseTradablePrice(change.price);
      const size = parseDecimal(change.size);
      if (price === null || size === null || size < 0) {
        countDrop("price_out_of_range");
        continue;
      }
      const level = { price, size };
      if (this.#book.isComplete) this.#book.set(change.side, level);
      const best = this.#bestPricesOf(change);
      if (best === null) continue;
      const previous = this.#burst;
      const sizeOf = (side: "BUY" | "SELL", key: "bid" | "ask") => {
        if (change.side === side && price === best[key] && size > 0) return size;
        return previous?.best[key] === best[key] ? previous[`${key}Size`] : null;
      };
      const sizes = { bidSize: sizeOf("BUY", "bid"), askSize: sizeOf("SELL", "ask") };
      this.#burst = { eventAt, best, ...sizes, receivedAt, lastFrameAt: clock.monotonic() };
    }
    if (this.#burst !== null) return this.#emitBurst(this.#burst) ?? fault;
    // Without best prices, the local book is the only source.
    return this.#book.isComplete ? this.#emitTop(this.#book.top(), eventAt, receivedAt) : fault;
  }

  /** Reads a fill of a trade, and emits the trade with all its fills so far. */
  readTrade(message: unknown, receivedAt: number): void {
    const { countDrop, clock, emit } = this.#ports;
    const fill = parseStreamFill(message, this.tokens, countDrop);
    const trade = fill === null ? null : this.#totals.add(fill, clock.monotonic());
    if (fill === null || trade === null) return;
    const { marketId } = this;
    const { yesPrice: lastPrice } = fill;
    emit({ kind: "trade", marketId, trade, lastPrice, receivedAt });
    // The quote has no timestamp, because trades and books are not sent in the order of their timestamps.
    emit({ kind: "quote", marketId, quote: { lastPrice }, receivedAt });
  }

  /** Checks the book if the burst has ended. */
  settle(): BookFault {
    const { clock } = this.#ports;
    const hasEnded = this.#burst !== null && clock.monotonic() - this.#burst.lastFrameAt >= BURST_PAUSE_MS_MAX;
    return hasEnded ? this.#endBurst() : null;
  }

  /**
   * Compares the local order book with the best prices of the ended burst. Better levels no longer exist and are
   * removed. If there is no level at a best price, a message was lost.
   */
  #endBurst(): BookFault {
    const burst = this.#burst;
    this.#burst = null;
    if (burst === null || !this.#book.isComplete) return null;
    const removed = this.#book.removeBetterThan(burst.best);
    if (removed > 0) this.#ports.countDrop("stale_level", removed);
    const top = this.#book.top();
    if (top.bid !== burst.best.bid || top.ask !== burst.best.ask) return this.#fault("book_mismatch");
    return this.#emitTop(top, burst.eventAt, burst.receivedAt);
  }

  /** Returns the best prices of a change; null if they are absent or invalid. */
  #bestPricesOf({ best_bid, best_ask }: PriceChange): BestPrices | null {
    if (best_bid === undefined || best_ask === undefined) return null;
    const bid = bestPriceOf(best_bid);
    const ask = bestPriceOf(best_ask);
    if (bid !== undefined && ask !== undefined) return { bid, ask };
    this.#ports.countDrop("price_out_of_range");
    return null;
  }

  #fault(fault: "book_mismatch" | "crossed_book"): BookFault {
    this.#book.discard();
    this.#burst = null;
    // The next quote must not keep the sizes of the discarded book.
    this.#emittedTop = null;
    this.#ports.countDrop(fault);
    return fault;
  }

  /** Returns true for messages older than the latest message, which would overwrite newer sizes. */
  #isOutOfOrder(eventAt: number | null, receivedAt: number): boolean {
    // A timestamp in the future is not stored, because it would make the following messages appear old.
    if (eventAt === null || eventAt > receivedAt + VENUE_CLOCK_AHEAD_MS_MAX) return false;
    if (eventAt < this.#latestEventAt) return true;
    this.#latestEventAt = eventAt;
    return false;
  }

  /**
   * Emits the best prices of a burst. A size that the burst has not set is omitted if the price is unchanged, otherwise
   * null.
   */
  #emitBurst({ best, bidSize, askSize, eventAt, receivedAt }: Burst): BookFault {
    const sizes = {
      ...(bidSize === null && this.#emittedTop?.bid === best.bid ? {} : { bidSize }),
      ...(askSize === null && this.#emittedTop?.ask === best.ask ? {} : { askSize }),
    };
    return this.#emitTop({ ...best, ...sizes }, eventAt, receivedAt);
  }

  /** Emits a quote if the top of book changed or a last price is given. Omitted sizes are unchanged. */
  #emitTop(
    top: BestPrices & Partial<TopOfBook>,
    eventAt: number | null,
    receivedAt: number,
    lastPrice: number | null = null,
  ): BookFault {
    if (isCrossed(top.bid, top.ask)) return this.#fault("crossed_book");
    const next = { ...(this.#emittedTop ?? { bidSize: null, askSize: null }), ...top };
    if (this.#emittedTop !== null && isSameTop(next, this.#emittedTop) && lastPrice === null) return null;
    this.#emittedTop = next;
    // If there is no last price, the key is omitted to keep the previous last price.
    const quote = { ...top, eventAt, ...(lastPrice === null ? {} : { lastPrice }) };
    this.#ports.emit({ kind: "quote", marketId: this.marketId, quote, receivedAt });
    return null;
  }
}

/**
 * Returns the last price of an order book if it is that of the YES token. The venue sends the same value in the order
 * books of both tokens, and 0.5 without a trade. So the value is used only if it is closer to the mid than its
 * complement.
 */
function lastPriceOf(lastPrice: number | null, { bid, ask }: BestPrices): number | null {
  const mid = midOfBook(bid, ask);
  if (lastPrice === null || mid === null) return null;
  const distanceOf = (price: number) => Math.abs(toMicros(price) - toMicros(mid));
  return distanceOf(lastPrice) < distanceOf(complement(lastPrice)) ? lastPrice : null;
}

function isSameTop(a: TopOfBook, b: TopOfBook): boolean {
  return a.bid === b.bid && a.ask === b.ask && a.bidSize === b.bidSize && a.askSize === b.askSize;
}

/** Returns null for an empty side ("", 0 or 1) and undefined for an invalid price. */
function bestPriceOf(value: unknown): number | null | undefined {
  if (value === null || value === "") return null;
  const parsed = parseDecimal(value);
  return parsed === 0 || parsed === 1 ? null : (parseTradablePrice(value) ?? undefined);
}
