import { type Quote, VENUE_CLOCK_AHEAD_MS_MAX } from "../../domain/market.ts";
import { isCrossed } from "../../domain/order-book.ts";
import { parseDecimal, parseTradablePrice } from "../../domain/price.ts";
import type { DropCounter, StreamMessage } from "../../ports/venue.ts";
import { LocalBook, type TopOfBook } from "./local-book.ts";
import { parseLevels } from "./parse-book.ts";
import { parseStreamTrade, type TokenPair } from "./parse-trades.ts";
import { millisecondsOf, priceOf } from "./parse-values.ts";
import { isBook, isPriceChangeMessage } from "./wire.ts";

/** Why the local book is inconsistent and needs a new snapshot; null if it is consistent. */
export type BookFault = "book_mismatch" | "crossed_book" | null;

type Emit = (message: StreamMessage) => void;

/**
 * Converts the stream's messages about one market into quotes and trades. Only the book of the YES token is maintained:
 * the NO book mirrors it. Trades are reported for the token that the taker traded, so both tokens are subscribed.
 */
export class OrderBookTracker {
  readonly marketId: string;
  readonly tokens: TokenPair;
  readonly #book = new LocalBook();
  readonly #countDrop: DropCounter;
  #latestEventAt = 0;
  #emittedTop: TopOfBook | null = null;

  constructor(marketId: string, tokens: TokenPair, countDrop: DropCounter) {
    this.marketId = marketId;
    this.tokens = tokens;
    this.#countDrop = countDrop;
  }

  /** Discards the book, for example after a reconnect, until the next snapshot. */
  reset(): void {
    this.#book.discard();
    this.#latestEventAt = 0;
    this.#emittedTop = null;
  }

  /** Reads a book snapshot of either token. */
  readBook(message: unknown, receivedAt: number, emit: Emit): BookFault {
    if (!isBook(message)) {
      this.#countDrop("bad_message");
      return null;
    }
    if (message.asset_id !== this.tokens.tokenYes) return null;
    const eventAt = millisecondsOf(message.timestamp);
    if (this.#isOutOfOrder(eventAt, receivedAt)) return null;
    this.#book.replace(parseLevels(message.bids, this.#countDrop), parseLevels(message.asks, this.#countDrop));
    return this.#emitTop(eventAt, receivedAt, emit, priceOf(message.last_trade_price, this.#countDrop));
  }

  /** Applies changed levels of one or both tokens. The resulting top of book must equal the advertised top of book. */
  readChanges(message: unknown, receivedAt: number, emit: Emit): BookFault {
    if (!isPriceChangeMessage(message)) {
      this.#countDrop("bad_message");
      return null;
    }
    const eventAt = millisecondsOf(message.timestamp);
    if (!this.#book.isComplete || this.#isOutOfOrder(eventAt, receivedAt)) return null;
    let advertised: { readonly bid: number | null; readonly ask: number | null } | null = null;
    for (const change of message.price_changes) {
      if (change.asset_id !== this.tokens.tokenYes) continue;
      const price = parseTradablePrice(change.price);
      const size = parseDecimal(change.size);
      if (price === null || size === null || size < 0) {
        this.#countDrop("price_out_of_range");
        continue;
      }
      this.#book.set(change.side, { price, size });
      if (change.best_bid !== undefined && change.best_ask !== undefined) {
        advertised = { bid: parseTradablePrice(change.best_bid), ask: parseTradablePrice(change.best_ask) };
      }
    }
    const { bid, ask } = this.#book.top();
    const isMismatch = advertised !== null && (advertised.bid !== bid || advertised.ask !== ask);
    if (this.#book.isComplete && !isMismatch) return this.#emitTop(eventAt, receivedAt, emit, null);
    return this.#fault("book_mismatch");
  }

  readTrade(message: unknown, receivedAt: number, emit: Emit): void {
    const trade = parseStreamTrade(message, this.tokens, this.#countDrop);
    if (trade === null) return;
    const { marketId } = this;
    emit({ kind: "trade", marketId, trade, receivedAt });
    emit({ kind: "quote", marketId, quote: { lastPrice: trade.yesPrice, eventAt: trade.executedAt }, receivedAt });
  }

  #fault(fault: "book_mismatch" | "crossed_book"): BookFault {
    this.reset();
    this.#countDrop(fault);
    return fault;
  }

  /** Returns true for messages older than the local book, which would overwrite newer sizes. */
  #isOutOfOrder(eventAt: number | null, receivedAt: number): boolean {
    // A timestamp in the future is not stored, because it would make the following messages appear old.
    if (eventAt === null || eventAt > receivedAt + VENUE_CLOCK_AHEAD_MS_MAX) return false;
    if (eventAt >= this.#latestEventAt) {
      this.#latestEventAt = eventAt;
      return false;
    }
    this.#countDrop("out_of_order");
    return true;
  }

  /** Emits a quote if the top of book changed or a last price is given. */
  #emitTop(eventAt: number | null, receivedAt: number, emit: Emit, lastPrice: number | null): BookFault {
    const top = this.#book.top();
    if (isCrossed(top.bid, top.ask)) return this.#fault("crossed_book");
    const previous = this.#emittedTop;
    const isUnchanged =
      previous !== null &&
      previous.bid === top.bid &&
      previous.ask === top.ask &&
      previous.bidSize === top.bidSize &&
      previous.askSize === top.askSize;
    if (isUnchanged && lastPrice === null) return null;
    this.#emittedTop = top;
    // If there is no last price, the key is omitted to keep the previous last price.
    const quote: Partial<Omit<Quote, "receivedAt">> = { ...top, eventAt, ...(lastPrice === null ? {} : { lastPrice }) };
    emit({ kind: "quote", marketId: this.marketId, quote, receivedAt });
    return null;
  }
}
