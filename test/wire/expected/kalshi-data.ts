/** What Kalshi's books, candles and trades mean. */
import { amount, price, time } from "../expectation.ts";
import { isObject, isoTimeOf, type JsonObject, listOf, numberOf, objectOf, textOf } from "../json.ts";
import { type ExpectedBook, type ExpectedItem, type Level, leftOutItem, orderedBook, tradeItem } from "./data.ts";
import { dollarsOf, sizeOf } from "./kalshi-markets.ts";
import { complementOf, displayedPrice, isCrossed, tradablePrice } from "./price.ts";

const SECOND_MS = 1_000;

/** Both ladders are bids: a NO bid at q is a YES ask at 1 - q. */
export function expectedKalshiBook(ladders: JsonObject): ExpectedBook {
  const asks = levelsOf(ladders.no_dollars).map((level) => ({ ...level, price: complementOf(level.price) }));
  return orderedBook(levelsOf(ladders.yes_dollars), asks, null);
}

function levelsOf(rows: unknown): Level[] {
  return listOf(rows).flatMap((row) => {
    const [first, second] = listOf(row);
    const levelPrice = tradablePrice(first);
    const size = sizeOf(second);
    return levelPrice === null || size === null ? [] : [{ price: levelPrice, size }];
  });
}

/**
 * Candles oldest first. Bid and ask are the closing quotes. Without a trade in the period the last price is the previous
 * one, which the candle names or an earlier candle has.
 */
export function expectedCandles(candles: readonly JsonObject[]): ExpectedItem[] {
  let carriedPrice: number | null = null;
  const sorted = candles.toSorted((a, b) => (numberOf(a.end_period_ts) ?? 0) - (numberOf(b.end_period_ts) ?? 0));
  return sorted.map((candle) => {
    const rawTop = { bid: closeOf(candle.yes_bid), ask: closeOf(candle.yes_ask) };
    const { bid, ask } = isCrossed(rawTop) ? { bid: null, ask: null } : rawTop;
    const prices = objectOf(candle.price);
    const previous = tradablePrice(prices.previous_dollars ?? prices.previous);
    const last = closeOf(candle.price) ?? previous ?? carriedPrice;
    carriedPrice = last;
    return {
      raw: candle,
      leftOut: null,
      at: (numberOf(candle.end_period_ts) ?? 0) * SECOND_MS,
      facts: {
        at: time((numberOf(candle.end_period_ts) ?? 0) * SECOND_MS),
        yes_price: price(displayedPrice({ bid, ask, last })),
        bid: price(bid),
        ask: price(ask),
        volume: amount(dollarsOf(candle.volume_fp ?? candle.volume)),
      },
    };
  });
}

/** The historical tier omits the suffix `_dollars`. */
function closeOf(side: unknown): number | null {
  const { close_dollars, close } = objectOf(side);
  return tradablePrice(close_dollars ?? close);
}

export function expectedKalshiTrade(row: JsonObject): ExpectedItem {
  // Block trades are negotiated outside the book.
  if (row.is_block_trade === true) return leftOutItem(row, "block_trade");
  const yesPrice = tradablePrice(row.yes_price_dollars);
  const size = sizeOf(row.count_fp);
  const at = isoTimeOf(row.created_time) ?? numberOf(row.ts_ms);
  if (yesPrice === null || size === null || at === null) return leftOutItem(row, "price_out_of_range");
  const side = textOf(row.taker_outcome_side) ?? textOf(row.taker_side);
  return tradeItem(row, { at, yesPrice, size, takerSide: side === "yes" || side === "no" ? side : null });
}

export interface LadderState {
  /** The ladders as the order book endpoint would return them. */
  readonly ladders: JsonObject;
  /** A level whose size fell below zero, described for the report; null if there is none. */
  readonly negativeLevel: string | null;
}

/** Rebuilds the books of an `orderbook_delta` channel: a snapshot replaces a book, a delta changes one level. */
export class LadderReplay {
  readonly #books = new Map<string, { readonly yes: Map<string, number>; readonly no: Map<string, number> }>();

  /** Applies a frame. Returns the market's book after it, or null if the frame is not about a known book. */
  apply(frame: JsonObject): { readonly ticker: string; readonly state: LadderState } | null {
    const message = objectOf(frame.msg);
    const ticker = textOf(message.market_ticker);
    if (ticker === null) return null;
    if (frame.type === "orderbook_snapshot") {
      this.#books.set(ticker, { yes: ladderOf(message.yes_dollars_fp), no: ladderOf(message.no_dollars_fp) });
      return { ticker, state: this.#stateOf(ticker, null) };
    }
    const book = this.#books.get(ticker);
    const delta = numberOf(message.delta_fp);
    if (frame.type !== "orderbook_delta" || book === undefined || delta === null) return null;
    const ladder = message.side === "no" ? book.no : book.yes;
    const levelPrice = String(message.price_dollars);
    const size = Math.round(((ladder.get(levelPrice) ?? 0) + delta) * 100) / 100;
    if (size > 0) ladder.set(levelPrice, size);
    else ladder.delete(levelPrice);
    return { ticker, state: this.#stateOf(ticker, size < 0 ? `${message.side} ${levelPrice}: ${size}` : null) };
  }

  #stateOf(ticker: string, negativeLevel: string | null): LadderState {
    const book = this.#books.get(ticker);
    const rows = (ladder: ReadonlyMap<string, number> | undefined) =>
      [...(ladder ?? [])]
        .sort(([a], [b]) => Number(a) - Number(b))
        .map(([levelPrice, size]) => [levelPrice, size.toFixed(2)]);
    return { ladders: { yes_dollars: rows(book?.yes), no_dollars: rows(book?.no) }, negativeLevel };
  }
}

function ladderOf(rows: unknown): Map<string, number> {
  return new Map(
    listOf(rows).map((row): [string, number] => {
      const [levelPrice, size] = listOf(row);
      return [String(levelPrice), numberOf(size) ?? 0];
    }),
  );
}

export interface NamedLadders {
  readonly ticker: string;
  readonly ladders: JsonObject;
}

/** Finds the books of a response for one market or for several. */
export function kalshiBooksOf(payload: unknown): NamedLadders[] {
  if (Array.isArray(payload)) return payload.flatMap(kalshiBooksOf);
  if (!isObject(payload)) return [];
  if (isObject(payload.orderbook_fp)) {
    return [{ ticker: textOf(payload.ticker) ?? "RECORDED-MARKET", ladders: payload.orderbook_fp }];
  }
  return Object.values(payload).flatMap((value) =>
    Array.isArray(value) || isObject(value) ? kalshiBooksOf(value) : [],
  );
}
