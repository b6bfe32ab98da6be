import { partitionPoint } from "../../src/lib/numbers.ts";
import type { Fact } from "../../src/recording/format.ts";
import type { Level, Phase, WorldOutcome, WorldTrade } from "../world/types.ts";

type FactOf<Kind extends Fact["kind"]> = Extract<Fact, { readonly kind: Kind }>;
export type MarketFact = FactOf<"market">["market"];
export type EventFact = FactOf<"event">["event"];

interface Status {
  at: number;
  readonly phase: Phase;
  readonly outcome: WorldOutcome | null;
}

/** Number of values per quote in `#quoteValues`; NaN represents null. */
const QUOTE_FIELD_COUNT = 6;
/** Number of values per activity in `#activityValues`; NaN represents null. */
const ACTIVITY_FIELD_COUNT = 4;

/**
 * All recorded facts of one market. They are kept in flat arrays of numbers, because a recording can have millions of
 * levels. Facts are added in order of `at`, with the times of the recording. `finish` converts all times to wall-clock
 * time.
 */
export class MarketRecord {
  /** The first market line. Texts and dates of later lines are ignored, so that they are not published too early. */
  firstFact: MarketFact;
  readonly statuses: Status[] = [];
  readonly #quoteTimes: number[] = [];
  readonly #quoteValues: number[] = [];
  readonly #bookTimes: number[] = [];
  readonly #bookLastPrices: number[] = [];
  /** For each book, the end index of its bids and the end index of its asks in `#levelValues`. */
  readonly #bookEndOffsets: number[] = [];
  readonly #levelValues: number[] = [];
  readonly #activityTimes: number[] = [];
  readonly #activityValues: number[] = [];
  #trades: WorldTrade[] = [];
  /** Indexes in `#trades` by trade id. */
  readonly #tradeIndexes = new Map<string, number>();
  /** Times at which the book or the last price may have changed, ascending, unique. */
  #changeTimes: number[] = [];
  /** Time of the first market line; on the wall clock after `finish`. */
  listedAt: number;

  constructor(at: number, first: MarketFact) {
    this.listedAt = at;
    this.firstFact = first;
  }

  addMarket(at: number, { status, paused, outcome }: MarketFact): void {
    const phase: Phase = status === "active" && paused ? "paused" : status;
    const worldOutcome: WorldOutcome | null = outcome?.kind === "void" ? { kind: "void" } : outcome;
    const lastStatus = this.statuses.at(-1);
    if (lastStatus?.phase === phase && JSON.stringify(lastStatus.outcome) === JSON.stringify(worldOutcome)) return;
    this.statuses.push({ at, phase, outcome: worldOutcome });
  }

  addQuote(at: number, quote: FactOf<"quote">["quote"]): void {
    this.#quoteTimes.push(at);
    const { bid, ask, bidSize, askSize, lastPrice, indicativePrice } = quote;
    for (const value of [bid, ask, bidSize, askSize, lastPrice, indicativePrice])
      this.#quoteValues.push(value ?? Number.NaN);
  }

  addActivity(at: number, activity: FactOf<"activity">["activity"]): void {
    this.#activityTimes.push(at);
    const { volume24hUsd, volumeTotalUsd, liquidityUsd, openInterestUsd } = activity;
    for (const value of [volume24hUsd, volumeTotalUsd, liquidityUsd, openInterestUsd])
      this.#activityValues.push(value ?? Number.NaN);
  }

  addBook(at: number, { bids, asks, lastPrice }: FactOf<"book">["book"]): void {
    this.#bookTimes.push(at);
    this.#bookLastPrices.push(lastPrice ?? Number.NaN);
    for (const side of [bids, asks]) {
      for (const { price, size } of side) this.#levelValues.push(price, size);
      this.#bookEndOffsets.push(this.#levelValues.length);
    }
  }

  /** Adds a trade. If a trade is added several times, the version with the largest size is kept. */
  addTrade(venue: string, { tradeId, executedAt, yesPrice, size, takerSide }: FactOf<"trade">["trade"]): void {
    const index = this.#tradeIndexes.get(tradeId) ?? this.#trades.length;
    if ((this.#trades[index]?.size ?? 0) >= size) return;
    this.#tradeIndexes.set(tradeId, index);
    this.#trades[index] = {
      id: `${venue}/${this.firstFact.marketId}/${tradeId}`,
      recordedId: tradeId,
      at: executedAt,
      yesPrice,
      size,
      // The venues' protocols require a side.
      takerSide: takerSide ?? "yes",
      taker: 0,
    };
  }

  /** Converts all times to the wall clock, sorts trades and computes change times. Call once, after the last fact. */
  finish(toWall: (at: number) => number): void {
    const toWallOrNull = (at: number | null) => (at === null ? null : toWall(at));
    this.firstFact = {
      ...this.firstFact,
      openAt: toWallOrNull(this.firstFact.openAt),
      closeAt: toWallOrNull(this.firstFact.closeAt),
      expectedResolutionAt: toWallOrNull(this.firstFact.expectedResolutionAt),
    };
    this.listedAt = toWall(this.listedAt);
    for (const status of this.statuses) status.at = toWall(status.at);
    for (const times of [this.#quoteTimes, this.#bookTimes, this.#activityTimes])
      for (const [index, at] of times.entries()) times[index] = toWall(at);
    // Adapters receive trades with a delay and newest first, so the recording is not in time order.
    this.#trades = this.#trades
      .map((trade) => ({ ...trade, at: toWall(trade.at) }))
      .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
    this.#tradeIndexes.clear();
    const changeTimes = [...this.#quoteTimes, ...this.#bookTimes, ...this.#trades.map(({ at }) => at)].sort(
      (a, b) => a - b,
    );
    this.#changeTimes = changeTimes.filter((at, index) => at !== changeTimes[index - 1]);
  }

  statusAt(at: number): Status | null {
    return this.statuses[this.#statusIndexAt(at)] ?? null;
  }

  /** Returns the start of the phase at `at`. Consecutive statuses with the same phase count as one phase. */
  phaseSince(at: number): number {
    let index = this.#statusIndexAt(at);
    while (index > 0 && this.statuses[index - 1]?.phase === this.statuses[index]?.phase) index -= 1;
    return this.statuses[index]?.at ?? this.listedAt;
  }

  /** Returns the time of the first phase change after `after`, or Infinity if the recording has no such change. */
  nextPhaseAt(after: number): number {
    const phase = this.statusAt(after)?.phase ?? "pending";
    return this.statuses.find((status) => status.at > after && status.phase !== phase)?.at ?? Number.POSITIVE_INFINITY;
  }

  /** Returns the number of changes up to `at` and the time of the last one, or null before the first change. */
  changeAt(at: number): { readonly count: number; readonly at: number } | null {
    const index = lastTimeIndexAt(this.#changeTimes, at);
    const changedAt = this.#changeTimes[index];
    return changedAt === undefined ? null : { count: index + 1, at: changedAt };
  }

  nextChangeAt(after: number): number {
    return this.#changeTimes[lastTimeIndexAt(this.#changeTimes, after) + 1] ?? Number.POSITIVE_INFINITY;
  }

  /**
   * Returns the last book up to `at`. A newer quote replaces its best level: better levels are removed, worse levels
   * are retained. If there is no book, a quote results in one level per side.
   */
  levelsAt(at: number): { readonly bids: readonly Level[]; readonly asks: readonly Level[] } {
    const quoteIndex = lastTimeIndexAt(this.#quoteTimes, at);
    const bookIndex = lastTimeIndexAt(this.#bookTimes, at);
    const bids = this.#readSide(bookIndex, 0);
    const asks = this.#readSide(bookIndex, 1);
    if (quoteIndex < 0 || (bookIndex >= 0 && (this.#bookTimes[bookIndex] ?? 0) >= (this.#quoteTimes[quoteIndex] ?? 0)))
      return { bids, asks };
    const field = (number: number) => this.#quoteField(quoteIndex, number);
    return {
      bids: replaceTop(bids, field(0), field(2), (price, top) => price < top),
      asks: replaceTop(asks, field(1), field(3), (price, top) => price > top),
    };
  }

  /** Returns the latest last price of all quotes, books and trades up to `at`, or null if there is none. */
  lastPriceAt(at: number): number | null {
    let newestAt = Number.NEGATIVE_INFINITY;
    let price: number | null = null;
    const considerPrice = (priceAt: number | undefined, value: number | null | undefined) => {
      if (priceAt === undefined || value === null || value === undefined || priceAt < newestAt) return;
      newestAt = priceAt;
      price = value;
    };
    const trade = this.#trades[partitionPoint(this.#trades, (trade) => trade.at <= at) - 1];
    considerPrice(trade?.at, trade?.yesPrice);
    const bookIndex = lastTimeIndexAt(this.#bookTimes, at);
    considerPrice(this.#bookTimes[bookIndex], nanToNull(this.#bookLastPrices[bookIndex]));
    const quoteIndex = lastTimeIndexAt(this.#quoteTimes, at);
    considerPrice(this.#quoteTimes[quoteIndex], this.#quoteField(quoteIndex, 4));
    return price;
  }

  /** Returns the indicative price of the last quote up to `at`, or null if that quote has none. */
  indicativePriceAt(at: number): number | null {
    return this.#quoteField(lastTimeIndexAt(this.#quoteTimes, at), 5);
  }

  /** Returns the last indicative price up to `at`, otherwise the first one after `at`, or null if there is none. */
  probabilityAt(at: number): number | null {
    let index = lastTimeIndexAt(this.#quoteTimes, at);
    while (index > 0 && this.#quoteField(index, 5) === null) index -= 1;
    while (index < this.#quoteTimes.length && this.#quoteField(index, 5) === null) index += 1;
    return this.#quoteField(index, 5);
  }

  /** Returns the last activity up to `at`, in USD, or null if there is none. Fields are null if not recorded. */
  activityAt(at: number) {
    const index = lastTimeIndexAt(this.#activityTimes, at);
    if (index < 0) return null;
    const field = (number: number) => nanToNull(this.#activityValues[index * ACTIVITY_FIELD_COUNT + number]);
    return {
      volume24hUsd: field(0),
      volumeTotalUsd: field(1),
      liquidityUsd: field(2),
      openInterestUsd: field(3),
    };
  }

  /** Returns the trades with from <= at < to, oldest first. */
  trades(from: number, to: number): readonly WorldTrade[] {
    const start = partitionPoint(this.#trades, (trade) => trade.at < from);
    const end = partitionPoint(this.#trades, (trade) => trade.at < to);
    return this.#trades.slice(start, end);
  }

  #statusIndexAt(at: number): number {
    return partitionPoint(this.statuses, (status) => status.at <= at) - 1;
  }

  #quoteField(quoteIndex: number, field: number): number | null {
    return quoteIndex < 0 ? null : nanToNull(this.#quoteValues[quoteIndex * QUOTE_FIELD_COUNT + field]);
  }

  #readSide(bookIndex: number, side: 0 | 1): Level[] {
    const levels: Level[] = [];
    if (bookIndex < 0) return levels;
    const end = bookIndex * 2 + side;
    for (let index = this.#bookEndOffsets[end - 1] ?? 0; index < (this.#bookEndOffsets[end] ?? 0); index += 2)
      levels.push({ price: this.#levelValues[index] ?? 0, size: this.#levelValues[index + 1] ?? 0 });
    return levels;
  }
}

function replaceTop(
  levels: readonly Level[],
  top: number | null,
  size: number | null,
  isWorse: (price: number, top: number) => boolean,
): readonly Level[] {
  if (top === null) return [];
  const topSize = size ?? levels.find(({ price }) => price === top)?.size;
  const topLevel: Level =
    topSize === undefined ? { price: top, size: 1, isSizeUnknown: true } : { price: top, size: topSize };
  return [topLevel, ...levels.filter(({ price }) => isWorse(price, top))];
}

function nanToNull(value: number | undefined): number | null {
  return value === undefined || Number.isNaN(value) ? null : value;
}

/** Returns the index of the last time at or before `at` in an ascending list, or -1 if there is none. */
function lastTimeIndexAt(times: readonly number[], at: number): number {
  return partitionPoint(times, (time) => time <= at) - 1;
}
