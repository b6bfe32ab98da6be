import type { ActivityClock } from "./activity-clock.ts";
import { biasedProbability } from "./market-maker.ts";
import { extendHash, gaussianFromHash, hashKeys, uniform, uniformFromHash } from "./random.ts";
import { approximateProbability } from "./truth.ts";
import type { ListedMarket } from "./types.ts";
import type { GroundTruth } from "./universe.ts";

const HOUR_MS = 3_600_000;
/** Orders are generated in batches; the total size of all batches before a given one depends on its number only. */
const ORDERS_PER_BATCH = 16;
/** Maximum deviation of a batch's total size from the mean, as a share of the mean. */
const BATCH_SIZE_SPREAD = 0.4;
/** Share of large orders, and how many times larger they are. */
const LARGE_SHARE = 0.015;
const LARGE_FACTOR = 12;
/** Mean order size as a share of the depth: log-normal with a median of 0.25, plus the large orders. */
const MEAN_SIZE_SHARE = 0.25 * Math.exp(0.9 ** 2 / 2) * (1 + LARGE_SHARE * (LARGE_FACTOR - 1));
/** Number of equal segments of a market's life; within a segment one price converts contracts to dollars. */
const PRICE_SEGMENTS = 16;
const CACHED_BATCHES_MAX = 4;

/** Hash key per kind of random draw; must differ from the keys in market-maker.ts and market-simulator.ts. */
const Draw = { batchSize: 6, orderTime: 7, orderSize: 8 } as const;

/** A period without trading, from <= at < to. */
export interface Pause {
  readonly from: number;
  readonly to: number;
}

export interface SimulationOptions {
  readonly seed: number;
  readonly clock: ActivityClock;
  readonly pause: Pause | null;
}

export interface Order {
  readonly at: number;
  /** Contracts. */
  readonly size: number;
  readonly batch: number;
  /** Position in the batch. */
  readonly index: number;
}

export interface Volume {
  readonly contracts: number;
  readonly dollars: number;
}

interface PriceSegment {
  readonly lastBatch: number;
  readonly price: number;
  /** Volume before the segment. */
  readonly contractsBefore: number;
  readonly dollarsBefore: number;
}

/** The orders of takers in one market, computed on demand. The sizes of single orders add up exactly to the volume. */
export class OrderFlow {
  readonly #market: ListedMarket;
  readonly #truth: GroundTruth;
  readonly #world: SimulationOptions;
  readonly #depth: number;
  /** Duration of a batch in activity time, and when the first batch starts: when the market opens. */
  readonly #batchMs: number;
  readonly #firstBatchAt: number;
  /** `times` is in ascending order, `sizes` is in contracts. */
  readonly #batches: { number: number; times: readonly number[]; sizes: readonly number[] }[] = [];
  /** Segments computed so far, from the first on. */
  readonly #segments: PriceSegment[] = [];

  constructor(
    market: ListedMarket,
    truth: GroundTruth,
    world: SimulationOptions,
    size: { readonly ordersPerHour: number; readonly depth: number },
  ) {
    this.#market = market;
    this.#truth = truth;
    this.#world = world;
    this.#depth = size.depth;
    this.#batchMs = (ORDERS_PER_BATCH / size.ordersPerHour) * HOUR_MS;
    this.#firstBatchAt = world.clock.toActivity(market.openAt);
  }

  /** Orders with from <= at < to, in time order; none while the market is paused or not trading. */
  *orders(from: number, to: number): Generator<Order> {
    const start = Math.max(from, this.#market.openAt);
    const end = Math.min(to, this.#truth.tradingEndsAt);
    if (start >= end) return;
    const last = this.#batchNumberAt(end - 1);
    for (let number = this.#batchNumberAt(start); number <= last; number++) {
      const { times, sizes } = this.#batch(number);
      for (let index = 0; index < ORDERS_PER_BATCH; index++) {
        const at = times[index] ?? end;
        if (at >= end) break;
        if (at >= start && !this.#isPausedAt(at)) yield { at, size: sizes[index] ?? 0, batch: number, index };
      }
    }
  }

  /** The last order before a time, or null. Every batch has orders, so this reads at most two batches unless paused. */
  lastOrderBefore(before: number): Order | null {
    if (before <= this.#market.openAt) return null;
    for (let number = this.#batchNumberAt(before - 1); number >= 0; number--) {
      const { times, sizes } = this.#batch(number);
      for (let index = ORDERS_PER_BATCH - 1; index >= 0; index--) {
        const at = times[index] ?? before;
        if (at < before && !this.#isPausedAt(at)) return { at, size: sizes[index] ?? 0, batch: number, index };
      }
    }
    return null;
  }

  /**
   * Volume from the opening up to and including `at`. The cost does not depend on the market's age: the volume of all
   * complete batches follows from their number, only the current batch is generated.
   */
  volume(at: number): Volume {
    const until = Math.min(at, this.#truth.tradingEndsAt - 1);
    if (until < this.#market.openAt) return { contracts: 0, dollars: 0 };
    const total = this.#volumeWithoutPause(until);
    const { pause } = this.#world;
    if (pause === null || until < pause.from) return roundedToCents(total);
    const before = this.#volumeWithoutPause(pause.from - 1);
    const during = this.#volumeWithoutPause(Math.min(until, pause.to - 1));
    return roundedToCents({
      contracts: total.contracts - (during.contracts - before.contracts),
      dollars: total.dollars - (during.dollars - before.dollars),
    });
  }

  /** Volume up to and including `at` if trading had never been paused. */
  #volumeWithoutPause(at: number): Volume {
    const number = this.#batchNumberAt(at);
    const { times, sizes } = this.#batch(number);
    let contracts = this.#contractsBefore(number);
    for (let index = 0; index < ORDERS_PER_BATCH && (times[index] ?? 0) <= at; index++) contracts += sizes[index] ?? 0;
    for (let index = 0; ; index++) {
      const segment = this.#segment(index);
      if (segment.lastBatch >= number) return { contracts, dollars: dollarsOf(segment, contracts) };
    }
  }

  /** Start of a batch, rounded up to a whole millisecond of wall-clock time. */
  #batchStartAt(number: number): number {
    return Math.ceil(this.#world.clock.toWall(this.#firstBatchAt + number * this.#batchMs));
  }

  #batchNumberAt(at: number): number {
    let number = Math.floor((this.#world.clock.toActivity(at) - this.#firstBatchAt) / this.#batchMs);
    while (this.#batchStartAt(number) > at) number -= 1;
    while (this.#batchStartAt(number + 1) <= at) number += 1;
    return number;
  }

  /** Contracts of all batches before this one: linear in the batch number, plus a bounded random offset. */
  #contractsBefore(number: number): number {
    if (number <= 0) return 0;
    const offset = BATCH_SIZE_SPREAD * uniform(this.#world.seed, this.#market.index, Draw.batchSize, number);
    return Math.floor(ORDERS_PER_BATCH * MEAN_SIZE_SHARE * this.#depth * (number + offset));
  }

  #batch(number: number) {
    const cached = this.#batches.find((batch) => batch.number === number);
    if (cached !== undefined) return cached;
    const batch = this.#generateBatch(number);
    this.#batches.push(batch);
    if (this.#batches.length > CACHED_BATCHES_MAX) this.#batches.shift();
    return batch;
  }

  #generateBatch(number: number) {
    const { index: market } = this.#market;
    const { seed, clock } = this.#world;
    const start = this.#firstBatchAt + number * this.#batchMs;
    const firstAt = this.#batchStartAt(number);
    const lastAt = this.#batchStartAt(number + 1) - 1;
    const timeKey = extendHash(hashKeys(seed, market, Draw.orderTime), number);
    const sizeKey = extendHash(hashKeys(seed, market, Draw.orderSize), number);
    const times: number[] = [];
    const weights: number[] = [];
    let totalWeight = 0;
    for (let index = 0; index < ORDERS_PER_BATCH; index++) {
      const wall = clock.toWall(start + uniformFromHash(extendHash(timeKey, index)) * this.#batchMs);
      insertSorted(times, Math.min(lastAt, Math.max(firstAt, Math.floor(wall))));
      const key = extendHash(sizeKey, index);
      const factor = uniformFromHash(extendHash(key, 1)) < LARGE_SHARE ? LARGE_FACTOR : 1;
      const weight = Math.exp(0.9 * gaussianFromHash(key)) * factor;
      weights.push(weight);
      totalWeight += weight;
    }
    // Each order has at least one contract. The rest is distributed by weight; cumulative rounding keeps the sum exact.
    const rest = this.#contractsBefore(number + 1) - this.#contractsBefore(number) - ORDERS_PER_BATCH;
    let cumulativeWeight = 0;
    let distributed = 0;
    const sizes = weights.map((weight, index) => {
      cumulativeWeight += weight;
      const cumulativeSize =
        index === ORDERS_PER_BATCH - 1 ? rest : Math.floor((rest * cumulativeWeight) / totalWeight);
      const size = 1 + cumulativeSize - distributed;
      distributed = cumulativeSize;
      return size;
    });
    return { number, times, sizes };
  }

  #segment(index: number): PriceSegment {
    const cached = this.#segments[index];
    if (cached !== undefined) return cached;
    const previous = this.#segments[index - 1];
    const contractsBefore = previous === undefined ? 0 : this.#contractsBefore(previous.lastBatch + 1);
    const { process, criterion } = this.#truth;
    const probability = approximateProbability(process, criterion, this.#segmentStartAt(index));
    // A batch that overlaps the start of the next segment counts towards this segment.
    const lastBatch = () => this.#batchNumberAt(Math.ceil(this.#segmentStartAt(index + 1)));
    const segment: PriceSegment = {
      lastBatch: index === PRICE_SEGMENTS - 1 ? Number.POSITIVE_INFINITY : lastBatch(),
      price: biasedProbability(this.#market.venue, probability),
      contractsBefore,
      dollarsBefore: previous === undefined ? 0 : dollarsOf(previous, contractsBefore),
    };
    this.#segments.push(segment);
    return segment;
  }

  #segmentStartAt(index: number): number {
    const { openAt, revealAt } = this.#truth.process;
    return openAt + ((revealAt - openAt) * index) / PRICE_SEGMENTS;
  }

  #isPausedAt(at: number): boolean {
    const { pause } = this.#world;
    return pause !== null && at >= pause.from && at < pause.to;
  }
}

/** Dollars traded when the total volume reaches `contracts` within the segment. */
function dollarsOf({ price, contractsBefore, dollarsBefore }: PriceSegment, contracts: number): number {
  return contracts > contractsBefore ? dollarsBefore + (contracts - contractsBefore) * price : dollarsBefore;
}

function roundedToCents({ contracts, dollars }: Volume): Volume {
  return { contracts, dollars: Math.round(dollars * 100) / 100 };
}

/** Inserts a number into a short ascending list; faster than sorting the complete list. */
function insertSorted(list: number[], value: number): void {
  let index = list.length;
  list.push(value);
  for (; index > 0 && (list[index - 1] ?? 0) > value; index--) list[index] = list[index - 1] ?? 0;
  list[index] = value;
}
