/** What the frames of Polymarket's market channel mean. */
import { type Expected, oneOf, price } from "../expectation.ts";
import { isObject, type JsonObject, listOf, numberOf, objectOf, textOf } from "../json.ts";
import type { Level } from "./data.ts";
import { expectedPolymarketTrade, levelsOf, type TokenPair } from "./polymarket-data.ts";
import { isCrossed, tradablePrice } from "./price.ts";
import {
  type ExpectedFrame,
  type ExpectedSignal,
  type ExpectedStream,
  type ExpectedStreamTrade,
  parseFrame,
  QuoteStates,
  recordedFramesOf,
  type StreamQuote,
} from "./stream.ts";

const MARKET_ID_PATTERN = /^[1-9]\d{0,18}$/;
/** Only `new_market` and `market_resolved` state the id of a market. */
const FIRST_INVENTED_ID = 9_000_000;
const MILLISECONDS_BEFORE_FIRST_CHANGE = 1_000;
const ANY = { text: "any value", matches: () => true };
const UNKNOWN_QUOTE: Expected = { bid: ANY, ask: ANY, bid_size: ANY, ask_size: ANY, last_price: ANY, yes_price: ANY };

export interface StreamMarket {
  readonly marketId: string;
  readonly conditionId: string;
  readonly tokens: TokenPair;
}

/** Messages of a frame, which is one message or a list of messages. */
function messagesOf(frame: unknown): JsonObject[] {
  const parsed = parseFrame(frame);
  return (Array.isArray(parsed) ? parsed : [parsed]).filter(isObject);
}

function tokensOfMessage(message: JsonObject): string[] {
  const changes = listOf(message.price_changes).map((change) => textOf(objectOf(change).asset_id));
  const listed = listOf(message.assets_ids).map(textOf);
  return [...listed, textOf(message.asset_id), ...changes].filter((token) => token !== null);
}

/**
 * Finds the markets of the frames. The frames do not say which token is YES: it is the first of `assets_ids`, else the
 * token of the first book, else the first token.
 */
export function marketsOfFrames(payload: unknown): StreamMarket[] {
  const messages = recordedFramesOf(payload).flatMap(({ frame }) => messagesOf(frame));
  const conditions = [...new Set(messages.flatMap((message) => textOf(message.market) ?? []))];
  return conditions.map((conditionId, index) => {
    const own = messages.filter((message) => message.market === conditionId);
    const byList = own.find((message) => listOf(message.assets_ids).length === 2);
    const book = own.find(({ event_type }) => event_type === "book");
    const tokens = [...(byList === undefined ? [] : tokensOfMessage(byList)), ...own.flatMap(tokensOfMessage)];
    const yes = (byList === undefined ? textOf(book?.asset_id) : null) ?? tokens[0] ?? "1";
    const no = tokens.find((token) => token !== yes) ?? `${FIRST_INVENTED_ID + index}`;
    const stated = own.map((message) => String(message.id)).find((id) => MARKET_ID_PATTERN.test(id));
    return { marketId: stated ?? String(FIRST_INVENTED_ID + index), conditionId, tokens: { yes, no } };
  });
}

/** The book of one YES token, with the best prices that the venue's messages state. */
class Book {
  readonly #bids = new Map<number, number>();
  readonly #asks = new Map<number, number>();

  replace(bids: readonly Level[], asks: readonly Level[]): void {
    this.#bids.clear();
    this.#asks.clear();
    for (const { price: at, size } of bids) this.#bids.set(at, size);
    for (const { price: at, size } of asks) this.#asks.set(at, size);
  }

  change(side: unknown, at: number, size: number): void {
    const levels = side === "BUY" ? this.#bids : this.#asks;
    if (size > 0) levels.set(at, size);
    else levels.delete(at);
  }

  /** Removes levels that are better than the stated best prices: messages that remove them are still to come. */
  believe(bid: number | null, ask: number | null): void {
    for (const at of [...this.#bids.keys()]) if (bid === null || at > bid) this.#bids.delete(at);
    for (const at of [...this.#asks.keys()]) if (ask === null || at < ask) this.#asks.delete(at);
  }

  get top() {
    const bid = this.#bids.size === 0 ? null : Math.max(...this.#bids.keys());
    const ask = this.#asks.size === 0 ? null : Math.min(...this.#asks.keys());
    return { bid, ask };
  }

  sizeOf(side: "bid" | "ask", at: number | null): number | null | undefined {
    return at === null ? null : (side === "bid" ? this.#bids : this.#asks).get(at);
  }
}

/** Reads frames in order. One instance reads one recording. */
class FrameReader {
  readonly states = new QuoteStates();
  /** Number of changes after which the local book lacks the stated best level: a message is missing. */
  unexplainedTops = 0;
  readonly #marketByToken: ReadonlyMap<string, StreamMarket>;
  readonly #books = new Map<string, Book>();
  readonly #latestAt = new Map<string, number>();
  readonly #listedIds = new Set<string>();
  readonly #tradeKeys = new Set<string>();

  constructor(markets: readonly StreamMarket[]) {
    this.#marketByToken = new Map(
      markets.flatMap((market) => [
        [market.tokens.yes, market],
        [market.tokens.no, market],
      ]),
    );
  }

  hasBook(marketId: string): boolean {
    return this.#books.has(marketId);
  }

  /** Applies a message. Returns why it has no effect, or null if it has one. */
  read(message: JsonObject, trades: ExpectedStreamTrade[], signals: ExpectedSignal[]): string | null {
    const market = tokensOfMessage(message)
      .map((token) => this.#marketByToken.get(token))
      .find(Boolean);
    switch (message.event_type) {
      case "book":
        return market === undefined ? "market_not_followed" : this.#readBook(message, market);
      case "price_change":
        return market === undefined ? "market_not_followed" : this.#readChanges(message, market);
      case "last_trade_price":
        return market === undefined ? "market_not_followed" : this.#readTrade(message, market, trades);
      case "best_bid_ask":
        return market === undefined ? "market_not_followed" : this.#readBest(message, market);
      case "market_resolved":
        if (market === undefined) return "market_not_followed";
        signals.push({ text: `changed ${market.marketId}`, isRequired: true });
        return null;
      case "tick_size_change":
        if (market === undefined) return "market_not_followed";
        signals.push({ text: `changed ${market.marketId}`, isRequired: false });
        return null;
      case "new_market":
        return this.#readNewMarket(message, signals);
      default:
        return "message_not_used";
    }
  }

  #readBook(message: JsonObject, market: StreamMarket): string | null {
    // The book of the NO token mirrors the book of the YES token.
    if (message.asset_id !== market.tokens.yes) return "mirrored_book";
    if (this.#isOutOfOrder(message, market)) return "out_of_order";
    const book = new Book();
    this.#books.set(market.marketId, book);
    book.replace(levelsOf(message.bids), levelsOf(message.asks));
    const last = tradablePrice(message.last_trade_price);
    if (isCrossed(book.top)) {
      this.unexplainedTops += 1;
      this.#books.delete(market.marketId);
      return "crossed_book";
    }
    // The last price of a book may be older than the last trade, so an adapter may keep the one that it has.
    const previous = this.states.get(market.marketId);
    const otherLasts = [...new Set([previous.last, ...(previous.otherLasts ?? [])])];
    this.#updateTop(market, book, last === null ? {} : { last, otherLasts });
    return null;
  }

  #readChanges(message: JsonObject, market: StreamMarket): string | null {
    const changes = listOf(message.price_changes)
      .map(objectOf)
      .filter((change) => change.asset_id === market.tokens.yes);
    if (changes.length === 0) return "mirrored_book";
    if (this.#isOutOfOrder(message, market)) return "out_of_order";
    const book = this.#books.get(market.marketId) ?? new Book();
    this.#books.set(market.marketId, book);
    for (const change of changes) {
      const at = tradablePrice(change.price);
      const size = numberOf(change.size);
      if (at !== null && size !== null) book.change(change.side, at, size);
    }
    const stated = changes.findLast((change) => change.best_bid !== undefined && change.best_ask !== undefined);
    if (stated === undefined) {
      this.#updateTop(market, book, {});
      return null;
    }
    const [bid, ask] = [tradablePrice(stated.best_bid), tradablePrice(stated.best_ask)];
    book.believe(bid, ask);
    const isExplained = book.top.bid === bid && book.top.ask === ask;
    const isSet = (side: string, best: number | null) =>
      changes.some(
        (change) => change.side === side && tradablePrice(change.price) === best && numberOf(change.size) !== 0,
      );
    // The size of a best level that the message does not set may be changed by a message still to come.
    const sizes = { mayLackBidSize: !isSet("BUY", bid), mayLackAskSize: !isSet("SELL", ask) };
    this.#updateTop(market, book, { bid, ask, ...sizes });
    if (isExplained) return null;
    // The best level was never sent, so the book is unknown until the next complete one.
    this.unexplainedTops += 1;
    this.states.update(market.marketId, { alternatives: UNKNOWN_QUOTE });
    return "book_mismatch";
  }

  #updateTop(market: StreamMarket, book: Book, fields: Partial<StreamQuote>): void {
    const top = { ...book.top, ...fields };
    this.states.update(market.marketId, {
      mayLackBidSize: false,
      mayLackAskSize: false,
      ...top,
      bidSize: book.sizeOf("bid", top.bid),
      askSize: book.sizeOf("ask", top.ask),
    });
  }

  #readTrade(message: JsonObject, market: StreamMarket, trades: ExpectedStreamTrade[]): string | null {
    const milliseconds = numberOf(message.timestamp);
    const row = { ...message, asset: message.asset_id, timestamp: milliseconds === null ? null : milliseconds / 1_000 };
    const item = expectedPolymarketTrade(row, market.tokens);
    if (item.leftOut !== null) return item.leftOut;
    // An equal message of the same transaction cannot be told from a repetition.
    const { asset_id, price: at, size, side, timestamp, transaction_hash } = message;
    const key = JSON.stringify([asset_id, at, size, side, timestamp, transaction_hash]);
    if (this.#tradeKeys.has(key)) return "repeated_message";
    this.#tradeKeys.add(key);
    trades.push({ marketId: market.marketId, item });
    const isYes = message.asset_id === market.tokens.yes;
    const tokenPrice = tradablePrice(message.price) ?? 0;
    this.states.update(market.marketId, { last: isYes ? tokenPrice : Math.round((1 - tokenPrice) * 1e6) / 1e6 });
    return null;
  }

  /** The message repeats what a book says, so it may be ignored; if it is used, it must be used as stated. */
  #readBest(message: JsonObject, market: StreamMarket): string | null {
    if (message.asset_id !== market.tokens.yes) return "mirrored_book";
    const previous = this.states.get(market.marketId);
    const [bid, ask] = [tradablePrice(message.best_bid), tradablePrice(message.best_ask)];
    const alternatives: Expected = {
      bid: oneOf(price(previous.bid), price(bid)),
      ask: oneOf(price(previous.ask), price(ask)),
      yes_price: ANY,
    };
    this.states.update(market.marketId, { alternatives });
    return "message_not_used";
  }

  #readNewMarket(message: JsonObject, signals: ExpectedSignal[]): string | null {
    const id = textOf(message.id);
    if (id === null || this.#listedIds.has(id)) return "repeated_message";
    this.#listedIds.add(id);
    signals.push({ text: `listed ${id}`, isRequired: true });
    return null;
  }

  #isOutOfOrder(message: JsonObject, { marketId }: StreamMarket): boolean {
    const at = numberOf(message.timestamp);
    if (at === null) return false;
    const latestAt = this.#latestAt.get(marketId) ?? 0;
    this.#latestAt.set(marketId, Math.max(at, latestAt));
    return at < latestAt;
  }
}

/**
 * A subscription returns the book of each token. If the recording starts with a change, this is the book before it. If
 * the change sets a best level, the other side still has that level, as after a match that a later message removes.
 */
function bookBefore(message: JsonObject, market: StreamMarket): JsonObject | null {
  const change = listOf(message.price_changes)
    .map(objectOf)
    .find((each) => each.asset_id === market.tokens.yes);
  const at = tradablePrice(change?.price);
  if (change === undefined || at === null) return null;
  const [bid, ask] = [tradablePrice(change.best_bid), tradablePrice(change.best_ask)];
  const isRemoval = numberOf(change.size) === 0;
  let bids = [bid];
  let asks = [ask];
  if (change.side === "BUY") {
    if (isRemoval) bids = ask === null || at < ask ? [bid, at] : bids;
    else if (at === bid) [bids, asks] = [[], [at, ask]];
  } else if (isRemoval) asks = bid === null || at > bid ? [ask, at] : asks;
  else if (at === ask) [bids, asks] = [[bid, at], []];
  const rows = (prices: readonly (number | null)[]) =>
    [...new Set(prices)].filter((each) => each !== null).map((each) => ({ price: String(each), size: "100" }));
  return {
    event_type: "book",
    market: market.conditionId,
    asset_id: market.tokens.yes,
    timestamp: String((numberOf(message.timestamp) ?? 0) - MILLISECONDS_BEFORE_FIRST_CHANGE),
    hash: "",
    bids: rows(bids),
    asks: rows(asks),
  };
}

export function expectedPolymarketStream(
  payload: unknown,
  markets: readonly StreamMarket[],
  capturedAt: number,
): ExpectedStream {
  const reader = new FrameReader(markets);
  const frames: ExpectedFrame[] = [];
  const add = (frame: unknown, receivedAt: number | null, isRecorded: boolean) => {
    const trades: ExpectedStreamTrade[] = [];
    const signals: ExpectedSignal[] = [];
    const messages = messagesOf(frame);
    const reasons = messages.map((message) => reader.read(message, trades, signals));
    const ignoredBecause =
      messages.length === 0
        ? "control_frame"
        : reasons.every((reason) => reason !== null)
          ? (reasons[0] ?? null)
          : null;
    const latestAt = Math.max(capturedAt, ...messages.map((message) => numberOf(message.timestamp) ?? 0));
    frames.push({
      frame,
      receivedAt: receivedAt ?? latestAt,
      isRecorded,
      ignoredBecause,
      quotes: reader.states.takeUpdated(),
      trades,
      signals,
    });
  };
  for (const { frame, receivedAt } of recordedFramesOf(payload)) {
    for (const message of messagesOf(frame)) {
      const market = markets.find(({ conditionId }) => conditionId === message.market);
      if (message.event_type !== "price_change" || market === undefined || reader.hasBook(market.marketId)) continue;
      const book = bookBefore(message, market);
      if (book !== null) add(book, receivedAt, false);
    }
    add(typeof frame === "string" ? frame : parseFrame(frame), receivedAt, true);
  }
  return { frames, resubscriptionsMax: reader.unexplainedTops };
}
