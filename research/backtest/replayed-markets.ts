/** The state of all markets at the current time of a replay. */
import { type BoardMarket, MarketBoard } from "../../src/board/index.ts";
import { EMPTY_ACTIVITY, EMPTY_QUOTE, type VenueId } from "../../src/domain/market.ts";
import type { OrderBook } from "../../src/domain/order-book.ts";
import type { Trade } from "../../src/domain/trade.ts";
import type { PricePoint, TradePoint } from "../../src/engine/index.ts";
import { DAY_MS, HOUR_MS } from "../../src/lib/durations.ts";
import type { Fact } from "../../src/recording/index.ts";

const PRICES_MS = 8 * DAY_MS;
const TRADES_MS = DAY_MS;
/** Maximum number of trades kept per market, as in the service. The oldest trades are removed first. */
const TRADES_MAX = 1_000;
/** Maximum time for which an unchanged quote is assumed to be valid. A recording contains only changes of quotes. */
export const QUOTE_AGE_MS_MAX = DAY_MS;

/** Market data and listings at the current time of the replay. Facts must be applied in time order. */
export class ReplayedMarkets {
  readonly board: MarketBoard;
  readonly #books = new Map<number, OrderBook>();
  readonly #prices = new Map<number, HourlyPrices>();
  readonly #trades = new Map<number, Map<string, Trade>>();
  /** Time of each venue's last order book or quote, in Unix milliseconds. */
  readonly #seenAt = new Map<VenueId, number>();
  #now = 0;

  constructor() {
    this.board = new MarketBoard(() => this.#now);
  }

  /** Applies a fact. Returns false if it belongs to a market that no earlier fact lists. */
  apply(fact: Fact): boolean {
    const { at, venue, kind } = fact;
    this.#now = at;
    if (kind === "event") {
      this.board.applyEvent({ ...fact.event, venue });
      return true;
    }
    const marketId = kind === "market" ? fact.market.marketId : fact.marketId;
    const current = this.board.find(venue, marketId);
    if (kind === "market") {
      const listing = { ...fact.market, venue };
      const quote = current?.quote ?? { ...EMPTY_QUOTE, receivedAt: at };
      this.board.apply({ listing, quote, activity: current?.activity ?? EMPTY_ACTIVITY }, at);
      return true;
    }
    if (current === null) return false;
    const { listing, quote, activity, row } = current;
    if (kind === "quote") {
      const { market } = this.board.apply({ listing, quote: { ...fact.quote, receivedAt: at }, activity }, at);
      if (fact.quote.bid !== null || fact.quote.ask !== null) this.#seenAt.set(venue, at);
      if (market.yesPrice !== null) this.#pricesOf(row).add(at, market.yesPrice);
    } else if (kind === "activity") {
      this.board.apply({ listing, quote, activity: fact.activity }, at);
    } else if (kind === "book") {
      this.#books.set(row, { ...fact.book, receivedAt: at });
      this.#seenAt.set(venue, at);
    } else this.#addTrade(current, fact.trade);
    return true;
  }

  /**
   * Returns the time at which the quote of a market was last confirmed, in Unix milliseconds. A recording contains only
   * changes, so each order book or quote of a venue confirms the venue's other quotes too. A quote that has not changed
   * for more than a day is not confirmed.
   */
  confirmedAt({ listing, quote }: BoardMarket): number {
    const { bid, ask, receivedAt } = quote;
    const seenAt = this.#seenAt.get(listing.venue) ?? receivedAt;
    if ((bid === null && ask === null) || seenAt - receivedAt > QUOTE_AGE_MS_MAX) return receivedAt;
    return Math.max(receivedAt, seenAt);
  }

  /**
   * Returns the last order book; null without one. If the quote is newer than the order book, levels with a better
   * price than the quote are removed.
   */
  findBook({ row, quote }: BoardMarket): OrderBook | null {
    const book = this.#books.get(row) ?? null;
    if (book === null || book.receivedAt >= quote.receivedAt) return book;
    const { bid, ask } = quote;
    return {
      ...book,
      bids: book.bids.filter(({ price }) => bid !== null && price <= bid),
      asks: book.asks.filter(({ price }) => ask !== null && price >= ask),
    };
  }

  /** Hourly prices of the eight days before `asOf`, oldest first. */
  pricesOf({ row }: BoardMarket, asOf: number): PricePoint[] {
    return this.#prices.get(row)?.until(asOf) ?? [];
  }

  /** Trades of the day before `asOf`, oldest first. */
  tradesOf({ row }: BoardMarket, asOf: number): TradePoint[] {
    return [...(this.#trades.get(row)?.values() ?? [])]
      .filter(({ executedAt }) => executedAt > asOf - TRADES_MS && executedAt <= asOf)
      .sort((a, b) => a.executedAt - b.executedAt)
      .map(({ executedAt: at, yesPrice, size, takerSide }) => ({ at, yesPrice, size, takerSide }));
  }

  #pricesOf(row: number): HourlyPrices {
    const known = this.#prices.get(row);
    if (known !== undefined) return known;
    const prices = new HourlyPrices();
    this.#prices.set(row, prices);
    return prices;
  }

  /** Adds a trade. A venue may report partial fills of a trade under one id; the largest report is kept. */
  #addTrade(market: BoardMarket, trade: Trade): void {
    const trades = this.#trades.get(market.row) ?? new Map<string, Trade>();
    this.#trades.set(market.row, trades);
    if ((trades.get(trade.tradeId)?.size ?? 0) < trade.size) trades.set(trade.tradeId, trade);
    for (const [id, { executedAt }] of trades) {
      if (trades.size <= TRADES_MAX && executedAt > this.#now - TRADES_MS) break;
      trades.delete(id);
    }
    this.board.applyTrade(market, trade);
  }
}

/** The last price of each hour, as in the service's hourly bars. Hours without a price have no entry. */
class HourlyPrices {
  /** Ends of the hours, Unix milliseconds, ascending. */
  readonly #ends: number[] = [];
  readonly #prices: number[] = [];

  add(at: number, yesPrice: number): void {
    const end = Math.ceil(at / HOUR_MS) * HOUR_MS;
    if (this.#ends.at(-1) !== end) {
      this.#ends.push(end);
      const expired = this.#ends.findIndex((known) => known > end - PRICES_MS);
      this.#ends.splice(0, expired);
      this.#prices.splice(0, expired);
    } else this.#prices.pop();
    this.#prices.push(yesPrice);
  }

  until(asOf: number): PricePoint[] {
    return this.#ends.flatMap((at, index) =>
      at > asOf - PRICES_MS && at <= asOf ? [{ at, yesPrice: this.#prices[index] ?? 0 }] : [],
    );
  }
}
