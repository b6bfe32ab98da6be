import { gaussian, gaussianOf, hashKeys, hashOn, logit, sigmoid, uniform, uniformOf } from "./random.ts";
import { roughProbability, trueProbability } from "./truth.ts";
import type { BookState, Level, ListedMarket, SandboxVenue, WorldTrade } from "./types.ts";
import { gridPhase, type MarketSecret } from "./universe.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** Price levels that a market maker shows on each side. */
const LEVELS = 6;
/** Waves that a quote's own deviation is made of, the length of each in slots. */
const WAVE_SLOTS = [64, 16, 4, 1] as const;
/** Orders drawn together: everything about the batches before is known from their number alone. */
const ORDERS_PER_BATCH = 16;
/** How much the contracts of a batch differ from the mean at most, as a share of it. */
const BATCH_SPREAD = 0.4;
/** A large order among the others, once in so many, so many times as large. */
const LARGE_SHARE = 0.015;
const LARGE_FACTOR = 12;
/** Mean size of an order as a share of the depth: log-normal around a quarter, and the large ones. */
const MEAN_SIZE_SHARE = 0.25 * Math.exp(0.9 ** 2 / 2) * (1 + LARGE_SHARE * (LARGE_FACTOR - 1));
/** Stretches of a market's life in each of which one price turns contracts into dollars. */
const DOLLAR_STRETCHES = 16;
const BATCHES_REMEMBERED = 4;
const SLOTS_REMEMBERED = 4;
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
  batch: 6,
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

/** Orders of one stretch of activity, in time order. */
interface Batch {
  readonly number: number;
  readonly at: readonly number[];
  readonly sizes: readonly number[];
}

interface Order {
  readonly at: number;
  readonly size: number;
  readonly batch: number;
  readonly turn: number;
}

/** One of the sixteen parts of a market's life: up to its last batch one price turns contracts into dollars. */
interface Stretch {
  readonly lastBatch: number;
  readonly price: number;
  readonly contractsBefore: number;
  readonly dollarsBefore: number;
}

interface Traded {
  readonly contracts: number;
  readonly dollars: number;
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
  readonly #halfSpread: number;
  readonly #slots: Slot[] = [];
  /** Length of a batch, and the instant of activity at which the first one begins: the opening. */
  readonly #batchMs: number;
  readonly #batchOriginMs: number;
  readonly #batches: Batch[] = [];
  /** Those looked into so far, from the first on. */
  readonly #stretches: Stretch[] = [];
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
    // Markets of one event are quoted at the same instants, which is also how their truth is computed once for all.
    const pulse = gaussian(seed, market.event.index, Draw.tempo);
    this.#slotMs = (pulse > 0.9 ? 5 : pulse > 0 ? 10 : pulse > -0.9 ? 20 : 30) * MINUTE_MS;
    this.#originMs = gridPhase(seed, market.event) * HOUR_MS;
    this.#depth = Math.min(20_000, Math.max(20, 180 * Math.exp(1.1 * liveliness)));
    const ordersPerHour = Math.min(15, Math.max(0.05, 0.7 * Math.exp(liveliness + 0.5 * pulse)));
    this.#halfSpread = Math.min(0.04, 0.007 * Math.exp(-0.6 * liveliness));
    this.#batchMs = (ORDERS_PER_BATCH / ordersPerHour) * HOUR_MS;
    this.#batchOriginMs = clock.toActivity(market.openAt);
  }

  /** Where the market maker sees the price at `at`, unrounded. */
  probability(at: number): number {
    const number = this.#slotNumberAt(at);
    const known = this.#slots.find((slot) => slot.number === number);
    return known?.probability ?? this.#quotedProbability(number, this.#wallOfSlot(number));
  }

  /** Meaningful only while the market trades: the caller judges the lifecycle. */
  book(at: number): BookState {
    const slot = this.#slot(this.#slotNumberAt(at));
    let done = 0;
    while (done < slot.trades.length && (slot.trades[done]?.at ?? 0) <= at) done += 1;
    const book = slot.books[done] ?? { bids: [], asks: [] };
    const lastTrade = slot.trades[done - 1];
    return {
      ...book,
      lastPrice: lastTrade?.yesPrice ?? this.#lastPriceBefore(slot),
      changedAt: Math.max(this.#market.openAt, slot.startAt, lastTrade?.at ?? 0),
      version: (slot.number - this.#slotNumberAt(this.#market.openAt) + 1) * 256 + done,
    };
  }

  trades(from: number, to: number): WorldTrade[] {
    const begin = Math.max(from, this.#market.openAt);
    const end = Math.min(to, this.#secret.endsAt);
    const found: WorldTrade[] = [];
    if (begin >= end) return found;
    let slotDone = Number.NaN;
    for (const order of this.#orders(begin, end)) {
      const number = this.#slotNumberAt(order.at);
      if (number === slotDone) continue;
      slotDone = number;
      for (const trade of this.#slot(number).trades) if (trade.at >= begin && trade.at < end) found.push(trade);
    }
    return found;
  }

  /**
   * Contracts and dollars traded from the opening up to and including `at`. Costs the same whether that was an hour or a
   * year: what whole batches come to is known from their numbers, and only the batch of `at` is looked into.
   */
  traded(at: number): Traded {
    const until = Math.min(at, this.#secret.endsAt - 1);
    if (until < this.#market.openAt) return { contracts: 0, dollars: 0 };
    const all = this.#tradedUnpaused(until);
    const pause = this.#pause;
    if (pause === null || until < pause.from) return rounded(all);
    const before = this.#tradedUnpaused(pause.from - 1);
    const during = this.#tradedUnpaused(Math.min(until, pause.to - 1));
    return rounded({
      contracts: all.contracts - (during.contracts - before.contracts),
      dollars: all.dollars - (during.dollars - before.dollars),
    });
  }

  nextChangeAt(after: number): number {
    if (after < this.#market.openAt) return this.#market.openAt;
    const slot = this.#slot(this.#slotNumberAt(after));
    const trade = slot.trades.find((candidate) => candidate.at > after);
    const next = trade?.at ?? slot.endAt;
    return next < this.#secret.endsAt ? Math.max(next, after + 1) : Number.POSITIVE_INFINITY;
  }

  #slotNumberAt(at: number): number {
    let number = Math.floor((this.#clock.toActivity(at) - this.#originMs) / this.#slotMs);
    // A slot begins on a whole millisecond, which its number alone does not know.
    while (this.#wallOfSlot(number) > at) number -= 1;
    while (this.#wallOfSlot(number + 1) <= at) number += 1;
    return number;
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
    if (this.#slots.length > SLOTS_REMEMBERED) this.#slots.shift();
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
    for (const order of this.#orders(startAt, endAt)) {
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
    return sigmoid(venue.stretch * seen + venue.deviation * this.#wander(number));
  }

  /** A quote's own error in standard deviations: waves of several lengths, each straight between drawn points. */
  #wander(number: number): number {
    const key = hashKeys(this.#seed, this.#market.index, Draw.deviation);
    let sum = 0;
    for (const slots of WAVE_SLOTS) {
      const point = Math.floor(number / slots);
      const share = number / slots - point;
      const wave = hashOn(key, slots);
      const atPoint = gaussianOf(hashOn(wave, point));
      sum += share === 0 ? atPoint : atPoint * (1 - share) + gaussianOf(hashOn(wave, point + 1)) * share;
    }
    return sum / Math.sqrt(WAVE_SLOTS.length);
  }

  #quote(number: number, probability: number): Slot["books"][number] {
    const { tick, index } = this.#market;
    const wiggle = uniform(this.#seed, index, Draw.spread, number);
    const half = this.#halfSpread * (0.6 + 0.8 * wiggle) * (0.4 + 2.4 * probability * (1 - probability));
    const ticks = Math.round(1 / tick);
    const bestBid = Math.min(ticks - 2, Math.floor((probability - half) * ticks));
    const bestAsk = Math.max(bestBid + 1, Math.ceil((probability + half) * ticks));
    const gap = tick < 0.01 ? 4 : 1;
    const key = hashOn(hashKeys(this.#seed, index, Draw.level), number);
    const side = (best: number, step: number, salt: number): Level[] => {
      const levels: Level[] = [];
      const sideKey = hashOn(key, salt);
      for (let level = 0; level < LEVELS; level++) {
        const price = best + step * level * gap;
        if (price < 1 || price > ticks - 1) break;
        const noise = Math.exp(0.5 * gaussianOf(hashOn(sideKey, level)));
        levels.push({
          price: Math.round((price / ticks) * 1e6) / 1e6,
          size: Math.max(1, Math.round(this.#depth * (0.6 + 0.5 * level) * noise)),
        });
      }
      return levels;
    };
    return { bids: side(bestBid, -1, 0), asks: side(bestAsk, 1, 1) };
  }

  /** The first whole millisecond of a batch. */
  #wallOfBatch(number: number): number {
    return Math.ceil(this.#clock.toWall(this.#batchOriginMs + number * this.#batchMs));
  }

  #batchAt(at: number): number {
    let number = Math.floor((this.#clock.toActivity(at) - this.#batchOriginMs) / this.#batchMs);
    while (this.#wallOfBatch(number) > at) number -= 1;
    while (this.#wallOfBatch(number + 1) <= at) number += 1;
    return number;
  }

  /** Contracts of all batches before this one. They lie on a straight line, each point moved a little by its own draw. */
  #contractsBefore(number: number): number {
    if (number <= 0) return 0;
    const shift = BATCH_SPREAD * uniform(this.#seed, this.#market.index, Draw.batch, number);
    return Math.floor(ORDERS_PER_BATCH * MEAN_SIZE_SHARE * this.#depth * (number + shift));
  }

  #batch(number: number): Batch {
    const known = this.#batches.find((batch) => batch.number === number);
    if (known !== undefined) return known;
    const { index } = this.#market;
    const begin = this.#batchOriginMs + number * this.#batchMs;
    const firstAt = this.#wallOfBatch(number);
    const lastAt = this.#wallOfBatch(number + 1) - 1;
    const whenKey = hashOn(hashKeys(this.#seed, index, Draw.when), number);
    const sizeKey = hashOn(hashKeys(this.#seed, index, Draw.size), number);
    const at: number[] = [];
    const weights: number[] = [];
    let total = 0;
    for (let turn = 0; turn < ORDERS_PER_BATCH; turn++) {
      const wall = this.#clock.toWall(begin + uniformOf(hashOn(whenKey, turn)) * this.#batchMs);
      insert(at, Math.min(lastAt, Math.max(firstAt, Math.floor(wall))));
      const key = hashOn(sizeKey, turn);
      const weight = Math.exp(0.9 * gaussianOf(key)) * (uniformOf(hashOn(key, 1)) < LARGE_SHARE ? LARGE_FACTOR : 1);
      weights.push(weight);
      total += weight;
    }
    // Every order is for one contract at least; the rest is shared out by weight, and nothing is lost to rounding.
    const rest = this.#contractsBefore(number + 1) - this.#contractsBefore(number) - ORDERS_PER_BATCH;
    let weighed = 0;
    let given = 0;
    const sizes = weights.map((weight, turn) => {
      weighed += weight;
      const due = turn === ORDERS_PER_BATCH - 1 ? rest : Math.floor((rest * weighed) / total);
      const size = 1 + due - given;
      given = due;
      return size;
    });
    const batch = { number, at, sizes };
    this.#batches.push(batch);
    if (this.#batches.length > BATCHES_REMEMBERED) this.#batches.shift();
    return batch;
  }

  /** Orders with from <= at < to, in time order; none while the market is paused, not yet open or over. */
  *#orders(from: number, to: number): Generator<Order> {
    const begin = Math.max(from, this.#market.openAt);
    const end = Math.min(to, this.#secret.endsAt);
    if (begin >= end) return;
    const last = this.#batchAt(end - 1);
    for (let number = this.#batchAt(begin); number <= last; number++) {
      const batch = this.#batch(number);
      for (let turn = 0; turn < ORDERS_PER_BATCH; turn++) {
        const at = batch.at[turn] ?? end;
        if (at >= end) break;
        if (at >= begin && !this.#isPausedAt(at)) yield { at, size: batch.sizes[turn] ?? 0, batch: number, turn };
      }
    }
  }

  /** What was ordered up to and including `at`, as if the market had never been paused. */
  #tradedUnpaused(at: number): Traded {
    const number = this.#batchAt(at);
    const batch = this.#batch(number);
    let contracts = this.#contractsBefore(number);
    for (let turn = 0; turn < ORDERS_PER_BATCH && (batch.at[turn] ?? 0) <= at; turn++)
      contracts += batch.sizes[turn] ?? 0;
    for (let turn = 0; ; turn++) {
      const stretch = this.#stretch(turn);
      if (stretch.lastBatch >= number) return { contracts, dollars: dollarsAt(stretch, contracts) };
    }
  }

  /** Stretches follow one another, and are remembered: a market's past is asked for again and again. */
  #stretch(turn: number): Stretch {
    const known = this.#stretches[turn];
    if (known !== undefined) return known;
    const before = this.#stretches[turn - 1];
    const contractsBefore = before === undefined ? 0 : this.#contractsBefore(before.lastBatch + 1);
    const stretch: Stretch = {
      lastBatch: turn === DOLLAR_STRETCHES - 1 ? Number.POSITIVE_INFINITY : this.#firstBatchOfStretch(turn + 1) - 1,
      price: this.#priceOfStretch(turn),
      contractsBefore,
      dollarsBefore: before === undefined ? 0 : dollarsAt(before, contractsBefore),
    };
    this.#stretches.push(stretch);
    return stretch;
  }

  #startOfStretch(stretch: number): number {
    const { openAt, revealAt } = this.#secret.source;
    return openAt + ((revealAt - openAt) * stretch) / DOLLAR_STRETCHES;
  }

  /** The batch under way when the stretch begins is still paid at the price of the one before. */
  #firstBatchOfStretch(stretch: number): number {
    return this.#batchAt(Math.ceil(this.#startOfStretch(stretch))) + 1;
  }

  #priceOfStretch(stretch: number): number {
    const { source, claim } = this.#secret;
    const p = roughProbability(source, claim, this.#startOfStretch(stretch));
    return sigmoid(
      VENUES[this.#market.venue].stretch * logit(Math.min(1 - PROBABILITY_MIN, Math.max(PROBABILITY_MIN, p))),
    );
  }

  #isPausedAt(at: number): boolean {
    return this.#pause !== null && at >= this.#pause.from && at < this.#pause.to;
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
    const isInformed = uniform(this.#seed, index, Draw.informed, order.batch, order.turn) < 0.3;
    let wantsYes = uniform(this.#seed, index, Draw.side, order.batch, order.turn) < 0.5;
    if (isInformed) {
      const truth = trueProbability(source, claim, order.at);
      if (Math.abs(truth - probability) > 0.02) wantsYes = truth > probability;
    }
    const make = (turn: number, yesPrice: number, size: number): WorldTrade => ({
      id: `${index}-${order.batch}-${order.turn}-${turn}`,
      at: order.at,
      yesPrice,
      size,
      takerSide: wantsYes ? "yes" : "no",
      taker: Math.floor(uniform(this.#seed, index, Draw.taker, order.batch, order.turn, 1) * 5_000),
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

  #lastPriceBefore({ number, startAt }: Slot): number | null {
    if (this.#lastTrade?.slot === number) return this.#lastTrade.price;
    const order = this.#lastOrderBefore(Math.min(startAt, this.#secret.endsAt));
    const trades = order === null ? [] : this.#slot(this.#slotNumberAt(order.at)).trades;
    const price = trades.findLast((trade) => trade.at < startAt)?.yesPrice ?? null;
    this.#lastTrade = { slot: number, price };
    return price;
  }

  /** A batch is never empty, so that the last order is in this one or in the one before, but for a pause. */
  #lastOrderBefore(before: number): Order | null {
    if (before <= this.#market.openAt) return null;
    for (let number = this.#batchAt(before - 1); number >= 0; number--) {
      const { at: times, sizes } = this.#batch(number);
      for (let turn = ORDERS_PER_BATCH - 1; turn >= 0; turn--) {
        const at = times[turn] ?? before;
        if (at < before && !this.#isPausedAt(at)) return { at, size: sizes[turn] ?? 0, batch: number, turn };
      }
    }
    return null;
  }
}

/** Dollars traded by the time that `contracts` were, some way into a stretch. */
function dollarsAt({ price, contractsBefore, dollarsBefore }: Stretch, contracts: number): number {
  return contracts > contractsBefore ? dollarsBefore + (contracts - contractsBefore) * price : dollarsBefore;
}

function rounded({ contracts, dollars }: Traded): Traded {
  return { contracts, dollars: Math.round(dollars * 100) / 100 };
}

/** Puts a number into a short ascending list. */
function insert(list: number[], value: number): void {
  let place = list.length;
  list.push(value);
  for (; place > 0 && (list[place - 1] ?? 0) > value; place--) list[place] = list[place - 1] ?? 0;
  list[place] = value;
}
