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

/** Numbers per quote and per activity in the flat arrays below; NaN represents null there. */
const QUOTE_FIELDS = 6;
const ACTIVITY_FIELDS = 4;

/**
 * All recorded facts of one market, stored in flat number arrays to keep millions of levels small. Facts are added in
 * order of `at`, with times of the recording; `finish` then moves all times to the wall clock.
 */
export class MarketRecord {
  /** The first market line. Texts and dates of later lines are ignored, because they would be published too early. */
  first: MarketFact;
  readonly statuses: Status[] = [];
  readonly #quoteAt: number[] = [];
  readonly #quotes: number[] = [];
  readonly #bookAt: number[] = [];
  readonly #bookLast: number[] = [];
  /** For each book, the end of its bids and the end of its asks in `#levels`. */
  readonly #bookEnds: number[] = [];
  readonly #levels: number[] = [];
  readonly #activityAt: number[] = [];
  readonly #activities: number[] = [];
  #trades: WorldTrade[] = [];
  readonly #tradeIds = new Set<string>();
  /** Times at which the book or the last price may have changed, ascending, unique. */
  #changes: number[] = [];
  /** Time of the first market line; on the wall clock after `finish`. */
  listedAt: number;

  constructor(at: number, first: MarketFact) {
    this.listedAt = at;
    this.first = first;
  }

  addMarket(at: number, { status, paused, outcome }: MarketFact): void {
    const phase: Phase = status === "active" && paused ? "paused" : status;
    const worldOutcome: WorldOutcome | null = outcome?.kind === "void" ? { kind: "void" } : outcome;
    const last = this.statuses.at(-1);
    if (last?.phase === phase && JSON.stringify(last.outcome) === JSON.stringify(worldOutcome)) return;
    this.statuses.push({ at, phase, outcome: worldOutcome });
  }

  addQuote(at: number, quote: FactOf<"quote">["quote"]): void {
    this.#quoteAt.push(at);
    const { bid, ask, bidSize, askSize, lastPrice, indicativePrice } = quote;
    for (const value of [bid, ask, bidSize, askSize, lastPrice, indicativePrice])
      this.#quotes.push(value ?? Number.NaN);
  }

  addActivity(at: number, activity: FactOf<"activity">["activity"]): void {
    this.#activityAt.push(at);
    const { volume24hUsd, volumeTotalUsd, liquidityUsd, openInterestUsd } = activity;
    for (const value of [volume24hUsd, volumeTotalUsd, liquidityUsd, openInterestUsd])
      this.#activities.push(value ?? Number.NaN);
  }

  addBook(at: number, { bids, asks, lastPrice }: FactOf<"book">["book"]): void {
    this.#bookAt.push(at);
    this.#bookLast.push(lastPrice ?? Number.NaN);
    for (const side of [bids, asks]) {
      for (const { price, size } of side) this.#levels.push(price, size);
      this.#bookEnds.push(this.#levels.length);
    }
  }

  /** Ignores duplicates of a trade. */
  addTrade(venue: string, { tradeId, executedAt, yesPrice, size, takerSide }: FactOf<"trade">["trade"]): void {
    if (this.#tradeIds.has(tradeId)) return;
    this.#tradeIds.add(tradeId);
    this.#trades.push({
      id: `${venue}/${this.first.marketId}/${tradeId}`,
      recordedId: tradeId,
      at: executedAt,
      yesPrice,
      size,
      // The venues' protocols require a side.
      takerSide: takerSide ?? "yes",
      taker: 0,
    });
  }

  /** Moves all times to the wall clock, sorts the trades and computes the changes. Call once, after the last fact. */
  finish(toWall: (at: number) => number): void {
    const toWallOrNull = (at: number | null) => (at === null ? null : toWall(at));
    this.first = {
      ...this.first,
      openAt: toWallOrNull(this.first.openAt),
      closeAt: toWallOrNull(this.first.closeAt),
      expectedResolutionAt: toWallOrNull(this.first.expectedResolutionAt),
    };
    this.listedAt = toWall(this.listedAt);
    for (const status of this.statuses) status.at = toWall(status.at);
    for (const times of [this.#quoteAt, this.#bookAt, this.#activityAt])
      for (const [index, at] of times.entries()) times[index] = toWall(at);
    // Adapters read trades late and newest first, so they are not recorded in time order.
    this.#trades = this.#trades
      .map((trade) => ({ ...trade, at: toWall(trade.at) }))
      .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
    this.#tradeIds.clear();
    const all = [...this.#quoteAt, ...this.#bookAt, ...this.#trades.map(({ at }) => at)].sort((a, b) => a - b);
    this.#changes = all.filter((at, index) => at !== all[index - 1]);
  }

  statusAt(at: number): Status | null {
    return this.statuses[this.#statusIndexAt(at)] ?? null;
  }

  /** Start of the phase at `at`; consecutive statuses with the same phase count as one. */
  phaseSince(at: number): number {
    let index = this.#statusIndexAt(at);
    while (index > 0 && this.statuses[index - 1]?.phase === this.statuses[index]?.phase) index -= 1;
    return this.statuses[index]?.at ?? this.listedAt;
  }

  /** Time of the next phase change after `after`; Infinity if the recording has none. */
  nextPhaseAt(after: number): number {
    const phase = this.statusAt(after)?.phase ?? "pending";
    return this.statuses.find((status) => status.at > after && status.phase !== phase)?.at ?? Number.POSITIVE_INFINITY;
  }

  /** Number of changes up to `at` and the time of the last one; null before the first change. */
  changeAt(at: number): { readonly count: number; readonly at: number } | null {
    const index = lastIndexAt(this.#changes, at);
    const changedAt = this.#changes[index];
    return changedAt === undefined ? null : { count: index + 1, at: changedAt };
  }

  nextChangeAt(after: number): number {
    return this.#changes[lastIndexAt(this.#changes, after) + 1] ?? Number.POSITIVE_INFINITY;
  }

  /**
   * The last book up to `at`. A newer quote replaces its top: levels better than the quote are removed, worse levels are
   * kept. Without a book, a quote results in one level per side.
   */
  levelsAt(at: number): { readonly bids: readonly Level[]; readonly asks: readonly Level[] } {
    const quote = lastIndexAt(this.#quoteAt, at);
    const book = lastIndexAt(this.#bookAt, at);
    const bids = this.#side(book, 0);
    const asks = this.#side(book, 1);
    if (quote < 0 || (book >= 0 && (this.#bookAt[book] ?? 0) >= (this.#quoteAt[quote] ?? 0))) return { bids, asks };
    return {
      bids: replaceTop(bids, this.#quoteField(quote, 0), this.#quoteField(quote, 2), (price, top) => price < top),
      asks: replaceTop(asks, this.#quoteField(quote, 1), this.#quoteField(quote, 3), (price, top) => price > top),
    };
  }

  /** The newest last price of all quotes, books and trades up to `at`; null before the first. */
  lastPriceAt(at: number): number | null {
    let newest = Number.NEGATIVE_INFINITY;
    let price: number | null = null;
    const consider = (priceAt: number | undefined, value: number | null | undefined) => {
      if (priceAt === undefined || value === null || value === undefined || priceAt < newest) return;
      newest = priceAt;
      price = value;
    };
    const trade = this.#trades[partitionPoint(this.#trades, (trade) => trade.at <= at) - 1];
    consider(trade?.at, trade?.yesPrice);
    const book = lastIndexAt(this.#bookAt, at);
    consider(this.#bookAt[book], nullable(this.#bookLast[book]));
    const quote = lastIndexAt(this.#quoteAt, at);
    consider(this.#quoteAt[quote], this.#quoteField(quote, 4));
    return price;
  }

  /** The indicative price of the last quote up to `at`; null if that quote has none. */
  indicativePriceAt(at: number): number | null {
    return this.#quoteField(lastIndexAt(this.#quoteAt, at), 5);
  }

  /** The last indicative price up to `at`, otherwise the first one after it; null if there is none. */
  probabilityAt(at: number): number | null {
    let index = lastIndexAt(this.#quoteAt, at);
    while (index > 0 && this.#quoteField(index, 5) === null) index -= 1;
    while (index < this.#quoteAt.length && this.#quoteField(index, 5) === null) index += 1;
    return this.#quoteField(index, 5);
  }

  /** The last activity up to `at`, in USD; fields are null if not recorded. */
  activityAt(at: number) {
    const index = lastIndexAt(this.#activityAt, at);
    if (index < 0) return null;
    const field = (number: number) => nullable(this.#activities[index * ACTIVITY_FIELDS + number]);
    return {
      at: this.#activityAt[index] ?? 0,
      volume24hUsd: field(0),
      volumeTotalUsd: field(1),
      liquidityUsd: field(2),
      openInterestUsd: field(3),
    };
  }

  /** Trades with from <= at < to, oldest first. */
  trades(from: number, to: number): readonly WorldTrade[] {
    const start = partitionPoint(this.#trades, (trade) => trade.at < from);
    const end = partitionPoint(this.#trades, (trade) => trade.at < to);
    return this.#trades.slice(start, end);
  }

  #statusIndexAt(at: number): number {
    return partitionPoint(this.statuses, (status) => status.at <= at) - 1;
  }

  #quoteField(quote: number, field: number): number | null {
    return quote < 0 ? null : nullable(this.#quotes[quote * QUOTE_FIELDS + field]);
  }

  #side(book: number, side: 0 | 1): Level[] {
    const levels: Level[] = [];
    if (book < 0) return levels;
    const end = book * 2 + side;
    for (let index = this.#bookEnds[end - 1] ?? 0; index < (this.#bookEnds[end] ?? 0); index += 2)
      levels.push({ price: this.#levels[index] ?? 0, size: this.#levels[index + 1] ?? 0 });
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

function nullable(value: number | undefined): number | null {
  return value === undefined || Number.isNaN(value) ? null : value;
}

/** Index of the last of ascending times at or before `at`; -1 if there is none. */
function lastIndexAt(times: readonly number[], at: number): number {
  return partitionPoint(times, (time) => time <= at) - 1;
}

/** Number of leading items that satisfy a predicate, by binary search. No item after the first failing one may pass. */
export function partitionPoint<T>(items: readonly T[], predicate: (item: T) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (predicate(items[middle] as T)) low = middle + 1;
    else high = middle;
  }
  return low;
}
