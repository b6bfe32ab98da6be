import { HOUR_MS } from "../../src/lib/durations.ts";
import type { ActivityClock } from "./activity-clock.ts";
import type { GroundTruth } from "./list-event.ts";
import { biasedProbability } from "./market-maker.ts";
import { extendHash, gaussianFromHash, hashKeys, uniform, uniformFromHash } from "./random.ts";
import { approximateProbability } from "./truth.ts";
import type { ListedMarket } from "./types.ts";

/** Number of orders per batch. The total size of all batches before a batch depends only on the batch's number. */
const ORDERS_PER_BATCH = 16;
/** Maximum deviation of a batch's total size from the mean, as a share of the mean. */
const BATCH_SIZE_SPREAD = 0.4;
const LARGE_ORDER_SHARE = 0.015;
/** Size of a large order as a multiple of the size of a normal order. */
const LARGE_ORDER_FACTOR = 12;
/** Mean order size as a share of the depth: log-normal with a median of 0.25, plus the large orders. */
const MEAN_ORDER_SIZE_SHARE = 0.25 * Math.exp(0.9 ** 2 / 2) * (1 + LARGE_ORDER_SHARE * (LARGE_ORDER_FACTOR - 1));
/** Number of equal segments of a market's lifetime. In each, contracts are converted to dollars at one price. */
const PRICE_SEGMENTS = 16;
const CACHED_BATCHES_MAX = 4;

/**
 * Hash keys by purpose of the random number; they must differ from the keys in market-maker.ts and market-simulator.ts.
 */
const Draw = { batchSize: 6, orderTime: 7, orderSize: 8 } as const;

/** A pause of trading during from <= at < to. */
export interface Pause {
  readonly from: number;
  readonly to: number;
}

export interface SimulationOptions {
  readonly seed: number;
  readonly clock: ActivityClock;
  readonly hasDisplacedQuotes: boolean;
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

/** Generates the taker orders of one market on demand. The order sizes add up exactly to the volume. */
export class OrderFlow {
  readonly #market: ListedMarket;
  readonly #truth: GroundTruth;
  readonly #options: SimulationOptions;
  readonly #depth: number;
  readonly #batchMs: number;
  /** Opening time of the market in activity time. */
  readonly #firstBatchAt: number;
  /** Cached batches: times in ascending order, sizes in contracts. */
  readonly #batches: { number: number; times: readonly number[]; sizes: readonly number[] }[] = [];
  /** Cached segments, starting with the first segment. */
  readonly #segments: PriceSegment[] = [];

  constructor(
    market: ListedMarket,
    truth: GroundTruth,
    options: SimulationOptions,
    size: { readonly ordersPerHour: number; readonly depth: number },
  ) {
    this.#market = market;
    this.#truth = truth;
    this.#options = options;
    this.#depth = size.depth;
    this.#batchMs = (ORDERS_PER_BATCH / size.ordersPerHour) * HOUR_MS;
    this.#firstBatchAt = options.clock.toActivity(market.openAt);
  }

  /** Yields the orders with from <= at < to in time order. There are no orders while the market is paused or closed. */
  *orders(from: number, to: number): Generator<Order> {
    const start = Math.max(from, this.#market.openAt);
    const end = Math.min(to, this.#truth.tradingEndsAt);
    if (start >= end) return;
    const last = this.#batchNumberAt(end - 1);
    for (let number = this.#batchNumberAt(start); number <= last; number++) {
      const { times, sizes } = this.#getBatch(number);
      for (let index = 0; index < ORDERS_PER_BATCH; index++) {
        const at = times[index] ?? end;
        if (at >= end) break;
        if (at >= start && !this.#isPausedAt(at)) yield { at, size: sizes[index] ?? 0, batch: number, index };
      }
    }
  }

  /** Returns the last order before `endAt`, or null. It reads at most two batches unless the market is paused. */
  lastOrderBefore(endAt: number): Order | null {
    if (endAt <= this.#market.openAt) return null;
    for (let number = this.#batchNumberAt(endAt - 1); number >= 0; number--) {
      const { times, sizes } = this.#getBatch(number);
      for (let index = ORDERS_PER_BATCH - 1; index >= 0; index--) {
        const at = times[index] ?? endAt;
        if (at < endAt && !this.#isPausedAt(at)) return { at, size: sizes[index] ?? 0, batch: number, index };
      }
    }
    return null;
  }

  /**
   * Returns the volume from the opening up to and including `at`. The cost does not depend on the age of the market:
   * the volume of complete batches depends only on their number, and only the current batch is generated.
   */
  volume(at: number): Volume {
    const until = Math.min(at, this.#truth.tradingEndsAt - 1);
    if (until < this.#market.openAt) return { contracts: 0, dollars: 0 };
    const total = this.#volumeWithoutPause(until);
    const { pause } = this.#options;
    if (pause === null || until < pause.from) return roundToCents(total);
    const volumeUntilPause = this.#volumeWithoutPause(pause.from - 1);
    const volumeUntilPauseEnd = this.#volumeWithoutPause(Math.min(until, pause.to - 1));
    return roundToCents({
      contracts: total.contracts - (volumeUntilPauseEnd.contracts - volumeUntilPause.contracts),
      dollars: total.dollars - (volumeUntilPauseEnd.dollars - volumeUntilPause.dollars),
    });
  }

  /** Returns the volume up to and including `at` of the same market without its pause. */
  #volumeWithoutPause(at: number): Volume {
    const number = this.#batchNumberAt(at);
    const { times, sizes } = this.#getBatch(number);
    let contracts = this.#contractsBefore(number);
    for (let index = 0; index < ORDERS_PER_BATCH && (times[index] ?? 0) <= at; index++) contracts += sizes[index] ?? 0;
    for (let index = 0; ; index++) {
      const segment = this.#getSegment(index);
      if (segment.lastBatch >= number) return { contracts, dollars: dollarsOf(segment, contracts) };
    }
  }

  /** Start of a batch, rounded up to a whole millisecond of wall-clock time. */
  #batchStartAt(number: number): number {
    return Math.ceil(this.#options.clock.toWall(this.#firstBatchAt + number * this.#batchMs));
  }

  #batchNumberAt(at: number): number {
    let number = Math.floor((this.#options.clock.toActivity(at) - this.#firstBatchAt) / this.#batchMs);
    while (this.#batchStartAt(number) > at) number -= 1;
    while (this.#batchStartAt(number + 1) <= at) number += 1;
    return number;
  }

  /** Returns the contracts of all batches before batch `number`: linear in `number`, plus a bounded random offset. */
  #contractsBefore(number: number): number {
    if (number <= 0) return 0;
    const offset = BATCH_SIZE_SPREAD * uniform(this.#options.seed, this.#market.index, Draw.batchSize, number);
    return Math.floor(ORDERS_PER_BATCH * MEAN_ORDER_SIZE_SHARE * this.#depth * (number + offset));
  }

  #getBatch(number: number) {
    const cached = this.#batches.find((batch) => batch.number === number);
    if (cached !== undefined) return cached;
    const batch = this.#generateBatch(number);
    this.#batches.push(batch);
    if (this.#batches.length > CACHED_BATCHES_MAX) this.#batches.shift();
    return batch;
  }

  #generateBatch(number: number) {
    const { index: market } = this.#market;
    const { seed, clock } = this.#options;
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
      const factor = uniformFromHash(extendHash(key, 1)) < LARGE_ORDER_SHARE ? LARGE_ORDER_FACTOR : 1;
      const weight = Math.exp(0.9 * gaussianFromHash(key)) * factor;
      weights.push(weight);
      totalWeight += weight;
    }
    // Each order has at least one contract. The remaining contracts are distributed by weight with an exact sum.
    const remainingSize = this.#contractsBefore(number + 1) - this.#contractsBefore(number) - ORDERS_PER_BATCH;
    let cumulativeWeight = 0;
    let distributedSize = 0;
    const sizes = weights.map((weight, index) => {
      cumulativeWeight += weight;
      const cumulativeSize =
        index === ORDERS_PER_BATCH - 1 ? remainingSize : Math.floor((remainingSize * cumulativeWeight) / totalWeight);
      const size = 1 + cumulativeSize - distributedSize;
      distributedSize = cumulativeSize;
      return size;
    });
    return { number, times, sizes };
  }

  #getSegment(index: number): PriceSegment {
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
    const { pause } = this.#options;
    return pause !== null && at >= pause.from && at < pause.to;
  }
}

/** Dollars traded when the total volume reaches `contracts` within the segment. */
function dollarsOf({ price, contractsBefore, dollarsBefore }: PriceSegment, contracts: number): number {
  return contracts > contractsBefore ? dollarsBefore + (contracts - contractsBefore) * price : dollarsBefore;
}

function roundToCents({ contracts, dollars }: Volume): Volume {
  return { contracts, dollars: Math.round(dollars * 100) / 100 };
}

/** Inserts a number into a short ascending list; faster than sorting the complete list. */
function insertSorted(list: number[], value: number): void {
  let index = list.length;
  list.push(value);
  for (; index > 0 && (list[index - 1] ?? 0) > value; index--) list[index] = list[index - 1] ?? 0;
  list[index] = value;
}
