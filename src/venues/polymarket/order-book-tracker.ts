import type { Quote } from "../../domain/market.ts";
import { isCrossed } from "../../domain/order-book.ts";
import { parseDecimal, parseTradablePrice } from "../../domain/price.ts";
import type { DropCounter, StreamMessage } from "../../ports/venue.ts";
import { LocalBook, type TopOfBook } from "./local-book.ts";
import { parseLevels } from "./parse-book.ts";
import { parseStreamTrade, type TokenPair } from "./parse-trades.ts";
import { millisecondsOf, priceOf } from "./parse-values.ts";
import { isBook, isPriceChangeMessage } from "./wire.ts";

/** A venue's time further ahead of ours than this is a mistake. */
const AHEAD_MS_MAX = 2_000;

/** Why a market's book must be asked for anew; null when all is well. */
export type Trouble = "book_mismatch" | "crossed_book" | null;

/**
 * What the stream tells of one market. The book of the YES token is enough: the other one is its mirror. Trades are told
 * in the token that the taker dealt in, so both tokens are listened to.
 */
export class OrderBookTracker {
  readonly marketId: string;
  readonly tokens: TokenPair;
  readonly #book = new LocalBook();
  readonly #drop: DropCounter;
  #toldAt = 0;
  #told: TopOfBook | null = null;

  constructor(marketId: string, tokens: TokenPair, drop: DropCounter) {
    this.marketId = marketId;
    this.tokens = tokens;
    this.#drop = drop;
  }

  /** After a reconnect nothing we hold can be trusted. */
  forget(): void {
    this.#book.discard();
    this.#toldAt = 0;
    this.#told = null;
  }

  /** A whole book of either token. */
  readBook(message: unknown, receivedAt: number, tell: (message: StreamMessage) => void): Trouble {
    if (!isBook(message)) {
      this.#drop("bad_message");
      return null;
    }
    if (message.asset_id !== this.tokens.tokenYes) return null;
    const eventAt = millisecondsOf(message.timestamp);
    if (this.#isOld(eventAt, receivedAt)) return null;
    this.#book.replace(parseLevels(message.bids, this.#drop), parseLevels(message.asks, this.#drop));
    return this.#tellTop(eventAt, receivedAt, tell, priceOf(message.last_trade_price, this.#drop));
  }

  /** Changed levels, possibly of both tokens; afterwards our top must be the advertised one. */
  readChanges(message: unknown, receivedAt: number, tell: (message: StreamMessage) => void): Trouble {
    if (!isPriceChangeMessage(message)) {
      this.#drop("bad_message");
      return null;
    }
    const eventAt = millisecondsOf(message.timestamp);
    if (!this.#book.isWhole || this.#isOld(eventAt, receivedAt)) return null;
    let advertised: { readonly bid: number | null; readonly ask: number | null } | null = null;
    for (const change of message.price_changes) {
      if (change.asset_id !== this.tokens.tokenYes) continue;
      const price = parseTradablePrice(change.price);
      const size = parseDecimal(change.size);
      if (price === null || size === null || size < 0) {
        this.#drop("price_out_of_range");
        continue;
      }
      this.#book.set(change.side, { price, size });
      if (change.best_bid !== undefined && change.best_ask !== undefined) {
        advertised = { bid: parseTradablePrice(change.best_bid), ask: parseTradablePrice(change.best_ask) };
      }
    }
    const { bid, ask } = this.#book.top();
    const isWrong = !this.#book.isWhole || (advertised !== null && (advertised.bid !== bid || advertised.ask !== ask));
    if (!isWrong) return this.#tellTop(eventAt, receivedAt, tell, null);
    this.forget();
    this.#drop("book_mismatch");
    return "book_mismatch";
  }

  readTrade(message: unknown, receivedAt: number, tell: (message: StreamMessage) => void): void {
    const trade = parseStreamTrade(message, this.tokens, this.#drop);
    if (trade === null) return;
    const { marketId } = this;
    tell({ kind: "trade", marketId, trade, receivedAt });
    tell({ kind: "quote", marketId, quote: { lastPrice: trade.yesPrice, eventAt: trade.executedAt }, receivedAt });
  }

  /** Older than the book we hold: a level's size from before would overwrite the present one. */
  #isOld(eventAt: number | null, receivedAt: number): boolean {
    // A time that has yet to come would make all that follows look old.
    if (eventAt !== null && eventAt > receivedAt + AHEAD_MS_MAX) return false;
    if (eventAt === null || eventAt >= this.#toldAt) {
      this.#toldAt = eventAt ?? this.#toldAt;
      return false;
    }
    this.#drop("out_of_order");
    return true;
  }

  #tellTop(
    eventAt: number | null,
    receivedAt: number,
    tell: (message: StreamMessage) => void,
    lastPrice: number | null,
  ): Trouble {
    const top = this.#book.top();
    if (isCrossed(top.bid, top.ask)) {
      this.forget();
      this.#drop("crossed_book");
      return "crossed_book";
    }
    const told = this.#told;
    const isSame =
      told !== null &&
      told.bid === top.bid &&
      told.ask === top.ask &&
      told.bidSize === top.bidSize &&
      told.askSize === top.askSize;
    if (isSame && lastPrice === null) return null;
    this.#told = top;
    const quote: Partial<Omit<Quote, "receivedAt">> = { ...top, eventAt, ...(lastPrice === null ? {} : { lastPrice }) };
    tell({ kind: "quote", marketId: this.marketId, quote, receivedAt });
    return null;
  }
}
