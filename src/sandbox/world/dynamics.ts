import { gaussian, logit, poisson, sigmoid, uniform } from "./random.ts";
import { trueProbability } from "./truth.ts";
import type { BookState, Level, ListedMarket, SandboxVenue, WorldTrade } from "./types.ts";
import { gridPhase, type MarketSecret } from "./universe.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** Price levels that a market maker shows on each side. */
const LEVELS = 6;
/** How far back a quote's own deviation remembers, in slots. */
const MEMORY_SLOTS = 48;
const DEVIATION_HALF_LIFE_MS = 4 * HOUR_MS;
/** Blocks searched backwards for the last trade before a market counts as never traded. */
const LAST_TRADE_BLOCKS_MAX = 1_000;
/** Blocks between two points at which the price is taken to turn contracts into dollars. */
const PRICE_ANCHOR_BLOCKS = 16;
const PROBABILITY_MIN = 0.003;

/** How the quotes of a venue differ from the truth. The stretch below 1 is the favourite-longshot bias. */
const VENUES: Readonly<
  Record<SandboxVenue, { readonly stretch: number; readonly deviation: number; readonly lagMs: number }>
> = {
  polymarket: { stretch: 0.95, deviation: 0.05, lagMs: 0.1 * HOUR_MS },
  kalshi: { stretch: 0.93, deviation: 0.07, lagMs: 0.4 * HOUR_MS },
  limitless: { stretch: 0.92, deviation: 0.1, lagMs: 1 * HOUR_MS },
  manifold: { stretch: 0.9, deviation: 0.14, lagMs: 3 * HOUR_MS },
};

const Draw = {
  scale: 1,
  tempo: 2,
  deviation: 3,
  spread: 4,
  level: 5,
  count: 6,
  when: 7,
  size: 8,
  side: 9,
  informed: 10,
  taker: 11,
} as const;

/** Time as trading sees it: the wall clock until genesis, `speed` times as fast after it. */
export interface ActivityClock {
  toActivity(wall: number): number;
  toWall(activity: number): number;
}

export function activityClock(genesis: number, speed: number): ActivityClock {
  return {
    toActivity: (wall) => (wall <= genesis ? wall : genesis + (wall - genesis) * speed),
    toWall: (activity) => (activity <= genesis ? activity : genesis + (activity - genesis) / speed),
  };
}

/** A stretch of time without trading, from <= at < to. */
export interface Pause {
  readonly from: number;
  readonly to: number;
}

/** One quote of the market maker and what takers did to it, from `startAt` to `endAt`. */
interface Slot {
  readonly number: number;
  readonly startAt: number;
  readonly endAt: number;
  readonly probability: number;
  readonly trades: readonly WorldTrade[];
  /** Books after 0, 1, 2, ... trades. */
  readonly books: readonly { readonly bids: readonly Level[]; readonly asks: readonly Level[] }[];
}

interface Order {
  readonly at: number;
  readonly size: number;
  readonly key: number;
  readonly turn: number;
}

/** Quotes, orders and trades of one market, computed slot by slot and remembered only as far as is cheap. */
export class Dynamics {
  readonly #market: ListedMarket;
  readonly #secret: MarketSecret;
  readonly #seed: number;
  readonly #clock: ActivityClock;
  readonly #pause: Pause | null;
  readonly #slotMs: number;
  readonly #originMs: number;
  readonly #depth: number;
  readonly #ordersPerHour: number;
  readonly #halfSpread: number;
  readonly #slots: Slot[] = [];
  readonly #firstBlock: number;
  #contracts: number[] = [0];
  #dollars: number[] = [0];
  #anchor: { readonly block: number; readonly price: number; readonly nextPrice: number } | null = null;
  #lastTrade: { readonly slot: number; readonly price: number | null } | null = null;

  constructor(
    market: ListedMarket,
    secret: MarketSecret,
    world: { readonly seed: number; readonly clock: ActivityClock; readonly pause: Pause | null },
  ) {
    const { seed, clock } = world;
    this.#market = market;
    this.#pause = world.pause;
    this.#secret = secret;
    this.#seed = seed;
    this.#clock = clock;
    const liveliness = gaussian(seed, market.index, Draw.scale);
    const tempo = liveliness + 0.5 * gaussian(seed, market.index, Draw.tempo);
    this.#slotMs = (tempo > 1 ? 5 : tempo > 0 ? 10 : tempo > -1 ? 20 : 30) * MINUTE_MS;
    this.#originMs = gridPhase(seed, market.event) * HOUR_MS;
    this.#depth = Math.min(20_000, Math.max(20, 180 * Math.exp(1.1 * liveliness)));
    this.#ordersPerHour = Math.min(15, Math.max(0.05, 0.7 * Math.exp(tempo)));
    this.#halfSpread = Math.min(0.04, 0.007 * Math.exp(-0.6 * liveliness));
    this.#firstBlock = this.#blockAt(market.openAt);
  }

  /** Where the market maker sees the price at `at`, unrounded. */
  probability(at: number): number {
    return this.#slot(this.#slotNumberAt(at)).probability;
  }

  /** Meaningful only while the market trades: the caller judges the lifecycle. */
  book(at: number): BookState {
    const slot = this.#slot(this.#slotNumberAt(at));
    const done = slot.trades.filter((trade) => trade.at <= at).length;
    const book = slot.books[done] ?? { bids: [], asks: [] };
    const lastTrade = slot.trades[done - 1];
    return {
      ...book,
      lastPrice: lastTrade?.yesPrice ?? this.#lastPriceBefore(slot.number),
      changedAt: Math.max(this.#market.openAt, slot.startAt, lastTrade?.at ?? 0),
      version: (slot.number - this.#slotNumberAt(this.#market.openAt) + 1) * 256 + done,
    };
  }

  trades(from: number, to: number): WorldTrade[] {
    const begin = Math.max(from, this.#market.openAt);
    const end = Math.min(to, this.#secret.endsAt);
    const found: WorldTrade[] = [];
    if (begin >= end) return found;
    const last = this.#blockAt(end);
    for (let block = this.#blockAt(begin); block <= last; block++) {
      let slotDone = Number.NaN;
      for (const order of this.#orders(block)) {
        const number = this.#slotNumberAt(order.at);
        if (number === slotDone) continue;
        slotDone = number;
        for (const trade of this.#slot(number).trades) if (trade.at >= begin && trade.at < end) found.push(trade);
      }
    }
    return found;
  }

  /** Contracts and dollars traded from the opening up to and including `at`. */
  traded(at: number): { contracts: number; dollars: number } {
    const until = Math.min(at, this.#secret.endsAt);
    if (until < this.#market.openAt) return { contracts: 0, dollars: 0 };
    const index = this.#blockAt(until) - this.#firstBlock;
    this.#sumBlocks(index);
    let contracts = this.#contracts[index] ?? 0;
    let dollars = this.#dollars[index] ?? 0;
    for (const order of this.#orders(this.#firstBlock + index)) {
      if (order.at > until) break;
      contracts += order.size;
      dollars += order.size * this.#blockPrice(this.#firstBlock + index);
    }
    return { contracts: Math.round(contracts * 100) / 100, dollars: Math.round(dollars * 100) / 100 };
  }

  nextChangeAt(after: number): number {
    if (after < this.#market.openAt) return this.#market.openAt;
    const slot = this.#slot(this.#slotNumberAt(after));
    const trade = slot.trades.find((candidate) => candidate.at > after);
    const next = trade?.at ?? slot.endAt;
    return next < this.#secret.endsAt ? Math.max(next, after + 1) : Number.POSITIVE_INFINITY;
  }

  #slotNumberAt(at: number): number {
    return Math.floor((this.#clock.toActivity(at) - this.#originMs) / this.#slotMs);
  }

  #blockAt(at: number): number {
    return Math.floor((this.#clock.toActivity(at) - this.#originMs) / HOUR_MS);
  }

  /** Whole milliseconds, so that what venues send in milliseconds is exact. */
  #wallOfSlot(number: number): number {
    return Math.ceil(this.#clock.toWall(number * this.#slotMs + this.#originMs));
  }

  #slot(number: number): Slot {
    const known = this.#slots.find((slot) => slot.number === number);
    if (known !== undefined) return known;
    const slot = this.#compute(number);
    this.#slots.push(slot);
    if (this.#slots.length > 4) this.#slots.shift();
    return slot;
  }

  #compute(number: number): Slot {
    const startAt = this.#wallOfSlot(number);
    const endAt = this.#wallOfSlot(number + 1);
    const probability = this.#quotedProbability(number, startAt);
    let book: Slot["books"][number] =
      this.#market.mechanism === "amm" ? { bids: [], asks: [] } : this.#quote(number, probability);
    const books: Slot["books"][number][] = [book];
    const trades: WorldTrade[] = [];
    const block = Math.floor((number * this.#slotMs) / HOUR_MS);
    for (const order of this.#orders(block)) {
      if (order.at < startAt || order.at >= endAt) continue;
      const executed = this.#execute(order, book, probability, trades.length);
      for (const trade of executed.trades) {
        trades.push(trade);
        books.push(executed.book);
      }
      book = executed.book;
    }
    return { number, startAt, endAt, probability, trades, books };
  }

  /** The truth as this venue sees it: late, pulled towards one half, and a little off in its own way. */
  #quotedProbability(number: number, startAt: number): number {
    const { source, claim } = this.#secret;
    const venue = VENUES[this.#market.venue];
    const activity = this.#clock.toActivity(startAt);
    let seen = 0;
    for (const share of [0.3, 1]) {
      const at = Math.min(this.#clock.toWall(activity - share * venue.lagMs), this.#secret.endsAt - 1);
      const p = trueProbability(source, claim, at);
      seen += logit(Math.min(1 - PROBABILITY_MIN, Math.max(PROBABILITY_MIN, p))) / 2;
    }
    const decay = 0.5 ** (this.#slotMs / DEVIATION_HALF_LIFE_MS);
    let deviation = 0;
    let weight = venue.deviation * Math.sqrt(1 - decay * decay);
    for (let back = 0; back < MEMORY_SLOTS; back++) {
      deviation += weight * gaussian(this.#seed, this.#market.index, Draw.deviation, number - back);
      weight *= decay;
    }
    return sigmoid(venue.stretch * seen + deviation);
  }

  #quote(number: number, probability: number): Slot["books"][number] {
    const { tick, index } = this.#market;
    const wiggle = uniform(this.#seed, index, Draw.spread, number);
    const half = this.#halfSpread * (0.6 + 0.8 * wiggle) * (0.4 + 2.4 * probability * (1 - probability));
    const ticks = Math.round(1 / tick);
    const bestBid = Math.min(ticks - 2, Math.floor((probability - half) * ticks));
    const bestAsk = Math.max(bestBid + 1, Math.ceil((probability + half) * ticks));
    const gap = tick < 0.01 ? 4 : 1;
    const side = (best: number, step: number, salt: number): Level[] => {
      const levels: Level[] = [];
      for (let level = 0; level < LEVELS; level++) {
        const price = best + step * level * gap;
        if (price < 1 || price > ticks - 1) break;
        const noise = Math.exp(0.5 * gaussian(this.#seed, index, Draw.level, number, salt, level));
        levels.push({
          price: Math.round((price / ticks) * 1e6) / 1e6,
          size: Math.max(1, Math.round(this.#depth * (0.6 + 0.5 * level) * noise)),
        });
      }
      return levels;
    };
    return { bids: side(bestBid, -1, 0), asks: side(bestAsk, 1, 1) };
  }

  #wallOfBlock(block: number): number {
    return Math.ceil(this.#clock.toWall(block * HOUR_MS + this.#originMs));
  }

  #isPausedAt(at: number): boolean {
    return this.#pause !== null && at >= this.#pause.from && at < this.#pause.to;
  }

  /** Contracts ordered in one hour of activity; the times of orders matter only in the first hour and around a pause. */
  #ordered(block: number): number {
    const isPaused =
      this.#pause !== null && block >= this.#blockAt(this.#pause.from) && block <= this.#blockAt(this.#pause.to);
    if (isPaused || block === this.#firstBlock) return this.#orders(block).reduce((sum, order) => sum + order.size, 0);
    const count = poisson(this.#ordersPerHour, this.#seed, this.#market.index, Draw.count, block);
    let contracts = 0;
    for (let turn = 0; turn < count; turn++) contracts += this.#orderSize(block, turn);
    return contracts;
  }

  /** Contracts of an order: log-normal around a quarter of the best level, and now and then a large one. */
  #orderSize(block: number, turn: number): number {
    const { index } = this.#market;
    const heavy = uniform(this.#seed, index, Draw.taker, block, turn) < 0.015 ? 12 : 1;
    const typical = Math.exp(0.9 * gaussian(this.#seed, index, Draw.size, block, turn));
    return Math.max(1, Math.round(this.#depth * 0.25 * heavy * typical));
  }

  /** Orders of one hour of activity, in time order. */
  #orders(block: number): Order[] {
    const { index } = this.#market;
    const count = poisson(this.#ordersPerHour, this.#seed, index, Draw.count, block);
    // Rounding down to a whole millisecond must not move an order before the first quote of its hour.
    const firstAt = this.#wallOfBlock(block);
    const orders: Order[] = [];
    for (let turn = 0; turn < count; turn++) {
      const activity = (block + uniform(this.#seed, index, Draw.when, block, turn)) * HOUR_MS + this.#originMs;
      const at = Math.max(firstAt, Math.floor(this.#clock.toWall(activity)));
      if (at < this.#market.openAt || at >= this.#secret.endsAt || this.#isPausedAt(at)) continue;
      orders.push({ at, size: this.#orderSize(block, turn), key: block, turn });
    }
    return orders.sort((a, b) => a.at - b.at || a.turn - b.turn);
  }

  /** Takes liquidity level by level; the last level always holds, so that no order goes unfilled. */
  #execute(
    order: Order,
    book: { bids: readonly Level[]; asks: readonly Level[] },
    probability: number,
    before: number,
  ): { trades: WorldTrade[]; book: { bids: readonly Level[]; asks: readonly Level[] } } {
    const { index, mechanism, tick } = this.#market;
    const { source, claim } = this.#secret;
    const isInformed = uniform(this.#seed, index, Draw.informed, order.key, order.turn) < 0.3;
    let wantsYes = uniform(this.#seed, index, Draw.side, order.key, order.turn) < 0.5;
    if (isInformed) {
      const truth = trueProbability(source, claim, order.at);
      if (Math.abs(truth - probability) > 0.02) wantsYes = truth > probability;
    }
    const make = (turn: number, yesPrice: number, size: number): WorldTrade => ({
      id: `${index}-${order.key}-${order.turn}-${turn}`,
      at: order.at,
      yesPrice,
      size,
      takerSide: wantsYes ? "yes" : "no",
      taker: Math.floor(uniform(this.#seed, index, Draw.taker, order.key, order.turn, 1) * 5_000),
    });
    if (mechanism === "amm") {
      const price = Math.min(1 - tick, Math.max(tick, probability + (wantsYes ? 0.5 : -0.5) * tick));
      return { trades: [make(before, Math.round(price * 1e6) / 1e6, order.size)], book };
    }
    if ((wantsYes ? book.asks : book.bids).length === 0) wantsYes = !wantsYes;
    const levels = [...(wantsYes ? book.asks : book.bids)];
    const trades: WorldTrade[] = [];
    let rest = order.size;
    while (rest > 0) {
      const best = levels[0];
      if (best === undefined) break;
      const taken = levels.length === 1 ? rest : Math.min(rest, best.size);
      trades.push(make(trades.length, best.price, taken));
      rest -= taken;
      if (levels.length > 1 && taken >= best.size) levels.shift();
      else levels[0] = { price: best.price, size: Math.max(1, best.size - taken) };
    }
    return { trades, book: wantsYes ? { bids: book.bids, asks: levels } : { bids: levels, asks: book.asks } };
  }

  #lastPriceBefore(number: number): number | null {
    if (this.#lastTrade?.slot === number) return this.#lastTrade.price;
    let price: number | null = null;
    const block = Math.floor((number * this.#slotMs) / HOUR_MS);
    const startAt = this.#wallOfSlot(number);
    for (let back = 0; back < LAST_TRADE_BLOCKS_MAX && block - back >= this.#firstBlock && price === null; back++) {
      const order = this.#orders(block - back).findLast((candidate) => candidate.at < startAt);
      if (order !== undefined)
        price =
          this.#compute(this.#slotNumberAt(order.at)).trades.findLast((trade) => trade.at < startAt)?.yesPrice ?? null;
    }
    this.#lastTrade = { slot: number, price };
    return price;
  }

  /** Sums of all blocks before the one numbered `index` from the first. */
  #sumBlocks(index: number): void {
    for (let next = this.#contracts.length; next <= index; next++) {
      const block = this.#firstBlock + next - 1;
      const size = this.#ordered(block);
      this.#contracts.push((this.#contracts[next - 1] ?? 0) + size);
      this.#dollars.push((this.#dollars[next - 1] ?? 0) + (size === 0 ? 0 : size * this.#blockPrice(block)));
    }
  }

  /** Price of a block for turning contracts into dollars: between two points of the past, along a straight line. */
  #blockPrice(block: number): number {
    const first = Math.floor(block / PRICE_ANCHOR_BLOCKS) * PRICE_ANCHOR_BLOCKS;
    if (this.#anchor?.block !== first) {
      const at = (number: number) =>
        this.#quotedProbability(
          Math.floor((number * HOUR_MS) / this.#slotMs),
          Math.max(this.#market.openAt, Math.ceil(this.#clock.toWall(number * HOUR_MS + this.#originMs))),
        );
      this.#anchor = { block: first, price: at(first), nextPrice: at(first + PRICE_ANCHOR_BLOCKS) };
    }
    const share = (block - first) / PRICE_ANCHOR_BLOCKS;
    return this.#anchor.price * (1 - share) + this.#anchor.nextPrice * share;
  }
}
