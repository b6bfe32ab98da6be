import { HOUR_MS, MINUTE_MS } from "../../src/lib/durations.ts";
import { clamp } from "../../src/lib/numbers.ts";
import type { GroundTruth } from "./list-event.ts";
import { createMarketMaker, type MarketMaker, type Quotes } from "./market-maker.ts";
import { type Order, OrderFlow, type SimulationOptions, type Volume } from "./order-flow.ts";
import { gaussian, uniform } from "./random.ts";
import { trueProbability } from "./truth.ts";
import type { BookState, Level, ListedMarket, WorldTrade } from "./types.ts";
import { quoteSlotOffset } from "./universe.ts";

const CACHED_SLOTS_MAX = 4;
const TRADER_COUNT = 5_000;
/** Share of orders whose side depends on the true probability. */
const INFORMED_SHARE = 0.3;
/** Minimum difference between price and true probability at which informed traders trade towards the probability. */
const PRICE_DIFFERENCE_MIN = 0.02;

/** Hash keys by purpose of the random number; they must differ from the keys in market-maker.ts and order-flow.ts. */
const Draw = { activity: 1, tempo: 2, side: 9, informed: 10, trader: 11 } as const;

/** The interval between two quote updates, startAt <= at < endAt, and its trades. */
interface Slot {
  readonly number: number;
  readonly startAt: number;
  readonly endAt: number;
  readonly probability: number;
  readonly trades: readonly WorldTrade[];
  /** `books[n]` is the book after the first n trades of the slot. */
  readonly books: readonly Quotes[];
}

/** Simulates quotes and trades of one market. Slots are computed on demand; only the latest few are cached. */
export class MarketSimulator {
  readonly #market: ListedMarket;
  readonly #truth: GroundTruth;
  readonly #options: SimulationOptions;
  readonly #marketMaker: MarketMaker;
  readonly #orderFlow: OrderFlow;
  readonly #slotMs: number;
  readonly #slotOffsetMs: number;
  readonly #slots: Slot[] = [];
  /** Cached result of `#lastPriceBefore`. */
  #lastPrice: { readonly slot: number; readonly price: number | null } | null = null;

  constructor(market: ListedMarket, truth: GroundTruth, options: SimulationOptions) {
    const { seed } = options;
    this.#market = market;
    this.#truth = truth;
    this.#options = options;
    // Slots are the same for all markets of an event, so that the probabilities of the event are computed once per
    // slot.
    const tempo = gaussian(seed, market.event.index, Draw.tempo);
    this.#slotMs = (tempo > 0.9 ? 5 : tempo > 0 ? 10 : tempo > -0.9 ? 20 : 30) * MINUTE_MS;
    this.#slotOffsetMs = quoteSlotOffset(seed, market.event) * HOUR_MS;
    const activity = gaussian(seed, market.index, Draw.activity);
    const depth = clamp(180 * Math.exp(1.1 * activity), 20, 20_000);
    const halfSpread = Math.min(0.04, 0.007 * Math.exp(-0.6 * activity));
    const ordersPerHour = clamp(0.7 * Math.exp(activity + 0.5 * tempo), 0.05, 15);
    this.#marketMaker = createMarketMaker(market, truth, options, { depth, halfSpread });
    this.#orderFlow = new OrderFlow(market, truth, options, { ordersPerHour, depth });
  }

  /** Returns the unrounded centre of the market maker's quotes at `at`. */
  probability(at: number): number {
    const number = this.#slotNumberAt(at);
    const cached = this.#slots.find((slot) => slot.number === number);
    return cached?.probability ?? this.#marketMaker.probability(number, this.#slotStartAt(number));
  }

  /** Returns the order book at `at`. The caller must check that the market trades at that time. */
  book(at: number): BookState {
    const slot = this.#getSlot(this.#slotNumberAt(at));
    let tradeCount = 0;
    while (tradeCount < slot.trades.length && (slot.trades[tradeCount]?.at ?? 0) <= at) tradeCount += 1;
    const book = slot.books[tradeCount] ?? { bids: [], asks: [] };
    const lastTrade = slot.trades[tradeCount - 1];
    return {
      ...book,
      lastPrice: lastTrade?.yesPrice ?? this.#lastPriceBefore(slot),
      changedAt: Math.max(this.#market.openAt, slot.startAt, lastTrade?.at ?? 0),
      version: (slot.number - this.#slotNumberAt(this.#market.openAt) + 1) * 256 + tradeCount,
    };
  }

  /** Trades with from <= at < to, oldest first. */
  trades(from: number, to: number): WorldTrade[] {
    const start = Math.max(from, this.#market.openAt);
    const end = Math.min(to, this.#truth.tradingEndsAt);
    const trades: WorldTrade[] = [];
    if (start >= end) return trades;
    let lastSlot = Number.NaN;
    for (const order of this.#orderFlow.orders(start, end)) {
      const number = this.#slotNumberAt(order.at);
      if (number === lastSlot) continue;
      lastSlot = number;
      for (const trade of this.#getSlot(number).trades) if (trade.at >= start && trade.at < end) trades.push(trade);
    }
    return trades;
  }

  /** Volume from the opening up to and including `at`. */
  volume(at: number): Volume {
    return this.#orderFlow.volume(at);
  }

  /** Time of the next quote update or trade; Infinity once trading has ended. */
  nextChangeAt(after: number): number {
    if (after < this.#market.openAt) return this.#market.openAt;
    const slot = this.#getSlot(this.#slotNumberAt(after));
    const trade = slot.trades.find((candidate) => candidate.at > after);
    const nextAt = trade?.at ?? slot.endAt;
    return nextAt < this.#truth.tradingEndsAt ? Math.max(nextAt, after + 1) : Number.POSITIVE_INFINITY;
  }

  #slotNumberAt(at: number): number {
    let number = Math.floor((this.#options.clock.toActivity(at) - this.#slotOffsetMs) / this.#slotMs);
    // Slot starts are rounded to milliseconds, so the division can be off by one.
    while (this.#slotStartAt(number) > at) number -= 1;
    while (this.#slotStartAt(number + 1) <= at) number += 1;
    return number;
  }

  /** Start of a slot, rounded up to a whole millisecond because venues send milliseconds. */
  #slotStartAt(number: number): number {
    return Math.ceil(this.#options.clock.toWall(number * this.#slotMs + this.#slotOffsetMs));
  }

  #getSlot(number: number): Slot {
    const cached = this.#slots.find((slot) => slot.number === number);
    if (cached !== undefined) return cached;
    const slot = this.#computeSlot(number);
    this.#slots.push(slot);
    if (this.#slots.length > CACHED_SLOTS_MAX) this.#slots.shift();
    return slot;
  }

  #computeSlot(number: number): Slot {
    const startAt = this.#slotStartAt(number);
    const endAt = this.#slotStartAt(number + 1);
    const probability = this.#marketMaker.probability(number, startAt);
    let book: Quotes =
      this.#market.mechanism === "amm" ? { bids: [], asks: [] } : this.#marketMaker.quotes(number, probability);
    const books: Quotes[] = [book];
    const trades: WorldTrade[] = [];
    for (const order of this.#orderFlow.orders(startAt, endAt)) {
      const execution = this.#execute(order, book, probability, trades.length);
      for (const trade of execution.trades) {
        trades.push(trade);
        books.push(execution.book);
      }
      book = execution.book;
    }
    return { number, startAt, endAt, probability, trades, books };
  }

  /**
   * Executes a market order level by level. The last level of a side has unlimited size to fill every order.
   * @param ammTradeNumber part of the id of an AMM trade: the number of earlier trades in the slot
   */
  #execute(order: Order, book: Quotes, probability: number, ammTradeNumber: number) {
    const { seed } = this.#options;
    const { index, mechanism, tick } = this.#market;
    const { process, criterion } = this.#truth;
    const isInformed = uniform(seed, index, Draw.informed, order.batch, order.index) < INFORMED_SHARE;
    let isYesBuy = uniform(seed, index, Draw.side, order.batch, order.index) < 0.5;
    if (isInformed) {
      const trueYesProbability = trueProbability(process, criterion, order.at);
      if (Math.abs(trueYesProbability - probability) > PRICE_DIFFERENCE_MIN)
        isYesBuy = trueYesProbability > probability;
    }
    const createTrade = (number: number, yesPrice: number, size: number): WorldTrade => ({
      id: `${index}-${order.batch}-${order.index}-${number}`,
      at: order.at,
      yesPrice,
      size,
      takerSide: isYesBuy ? "yes" : "no",
      taker: Math.floor(uniform(seed, index, Draw.trader, order.batch, order.index, 1) * TRADER_COUNT),
    });
    if (mechanism === "amm") {
      const price = clamp(probability + (isYesBuy ? 0.5 : -0.5) * tick, tick, 1 - tick);
      return { trades: [createTrade(ammTradeNumber, Math.round(price * 1e6) / 1e6, order.size)], book };
    }
    if ((isYesBuy ? book.asks : book.bids).length === 0) isYesBuy = !isYesBuy;
    const levels: Level[] = [...(isYesBuy ? book.asks : book.bids)];
    const trades: WorldTrade[] = [];
    let remainingSize = order.size;
    while (remainingSize > 0) {
      const best = levels[0];
      if (best === undefined) break;
      const filled = levels.length === 1 ? remainingSize : Math.min(remainingSize, best.size);
      trades.push(createTrade(trades.length, best.price, filled));
      remainingSize -= filled;
      if (levels.length > 1 && filled >= best.size) levels.shift();
      else levels[0] = { price: best.price, size: Math.max(1, best.size - filled) };
    }
    return { trades, book: isYesBuy ? { bids: book.bids, asks: levels } : { bids: levels, asks: book.asks } };
  }

  #lastPriceBefore({ number, startAt }: Slot): number | null {
    if (this.#lastPrice?.slot === number) return this.#lastPrice.price;
    const order = this.#orderFlow.lastOrderBefore(Math.min(startAt, this.#truth.tradingEndsAt));
    const trades = order === null ? [] : this.#getSlot(this.#slotNumberAt(order.at)).trades;
    const price = trades.findLast((trade) => trade.at < startAt)?.yesPrice ?? null;
    this.#lastPrice = { slot: number, price };
    return price;
  }
}
