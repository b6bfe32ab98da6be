import type { Fact } from "../../src/recording/format.ts";
import type { Level, Phase, WorldOutcome, WorldTrade } from "../world/types.ts";

type MarketFact = Extract<Fact, { readonly kind: "market" }>["market"];
type QuoteFact = Extract<Fact, { readonly kind: "quote" }>["quote"];
type ActivityFact = Extract<Fact, { readonly kind: "activity" }>["activity"];
type BookFact = Extract<Fact, { readonly kind: "book" }>["book"];
type TradeFact = Extract<Fact, { readonly kind: "trade" }>["trade"];

interface Status {
  at: number;
  readonly phase: Phase;
  readonly outcome: WorldOutcome | null;
}

/** Figures of a quote in a row of numbers; NaN stands for what is not known, inside this file only. */
const QUOTE_FIGURES = 6;
const ACTIVITY_FIGURES = 4;

/**
 * Everything recorded of one market, in rows of plain numbers so that millions of levels stay small. Times are the
 * recording's until `settle` moves them to the wall clock; facts come in order of their `at`.
 */
export class MarketRecord {
  /** As first told: texts and dates that came later would be known too early in the replay. */
  readonly first: MarketFact;
  readonly #statuses: Status[] = [];
  readonly #quoteAt: number[] = [];
  readonly #quotes: number[] = [];
  readonly #bookAt: number[] = [];
  readonly #bookLast: number[] = [];
  /** For each book the end of its bids and of its asks among the levels. */
  readonly #bookEnds: number[] = [];
  readonly #levels: number[] = [];
  readonly #activityAt: number[] = [];
  readonly #activities: number[] = [];
  #trades: WorldTrade[] = [];
  readonly #tradeIds = new Set<string>();
  /** Instants at which the book or the last price may have changed, ascending, each once. */
  #changes: number[] = [];
  /** When the recording first told of it. */
  listedAt: number;

  constructor(at: number, first: MarketFact) {
    this.listedAt = at;
    this.first = first;
  }

  /** How many levels of books it holds. */
  get levelCount(): number {
    return this.#levels.length / 2;
  }

  get statuses(): readonly Status[] {
    return this.#statuses;
  }

  /** Whether any fact gives a probability to show where there is no book. */
  get hasPrice(): boolean {
    return this.#quoteAt.length > 0 && this.#firstProbability() !== null;
  }

  addMarket(at: number, { status, paused, outcome }: MarketFact): void {
    const phase: Phase = status === "active" && paused ? "paused" : status;
    const told: WorldOutcome | null = outcome === null || outcome.kind !== "void" ? outcome : { kind: "void" };
    const last = this.#statuses.at(-1);
    if (last?.phase === phase && JSON.stringify(last.outcome) === JSON.stringify(told)) return;
    this.#statuses.push({ at, phase, outcome: told });
  }

  addQuote(at: number, quote: QuoteFact): void {
    this.#quoteAt.push(at);
    const { bid, ask, bidSize, askSize, lastPrice, indicativePrice } = quote;
    for (const figure of [bid, ask, bidSize, askSize, lastPrice, indicativePrice])
      this.#quotes.push(figure ?? Number.NaN);
  }

  addActivity(at: number, activity: ActivityFact): void {
    this.#activityAt.push(at);
    const { volume24hUsd, volumeTotalUsd, liquidityUsd, openInterestUsd } = activity;
    for (const figure of [volume24hUsd, volumeTotalUsd, liquidityUsd, openInterestUsd])
      this.#activities.push(figure ?? Number.NaN);
  }

  addBook(at: number, { bids, asks, lastPrice }: BookFact): void {
    this.#bookAt.push(at);
    this.#bookLast.push(lastPrice ?? Number.NaN);
    for (const side of [bids, asks]) {
      for (const { price, size } of side) this.#levels.push(price, size);
      this.#bookEnds.push(this.#levels.length);
    }
  }

  /** A trade told twice counts once. */
  addTrade(venue: string, { tradeId, executedAt, yesPrice, size, takerSide }: TradeFact): void {
    if (this.#tradeIds.has(tradeId)) return;
    this.#tradeIds.add(tradeId);
    this.#trades.push({
      id: `${venue}/${this.first.marketId}/${tradeId}`,
      recordedId: tradeId,
      at: executedAt,
      yesPrice,
      size,
      // No venue's tape can leave it out.
      takerSide: takerSide ?? "yes",
      taker: 0,
    });
  }

  /** Moves all times to the wall clock and brings the record into its final form. */
  settle(toWall: (at: number) => number): void {
    this.listedAt = toWall(this.listedAt);
    for (const status of this.#statuses) status.at = toWall(status.at);
    for (const times of [this.#quoteAt, this.#bookAt, this.#activityAt])
      for (const [index, at] of times.entries()) times[index] = toWall(at);
    // Tapes are read newest first and late; a replay tells them in order.
    this.#trades = this.#trades
      .map((trade) => ({ ...trade, at: toWall(trade.at) }))
      .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
    this.#tradeIds.clear();
    const all = [...this.#quoteAt, ...this.#bookAt, ...this.#trades.map(({ at }) => at)].sort((a, b) => a - b);
    this.#changes = all.filter((at, index) => at !== all[index - 1]);
  }

  statusAt(at: number): Status | null {
    return this.#statuses[lastAt(this.#statuses.length, (index) => this.#statuses[index]?.at ?? 0, at)] ?? null;
  }

  /** When what `statusAt` tells began, earlier ones of the same phase counted in. */
  phaseSince(at: number): number {
    let index = lastAt(this.#statuses.length, (place) => this.#statuses[place]?.at ?? 0, at);
    while (index > 0 && this.#statuses[index - 1]?.phase === this.#statuses[index]?.phase) index -= 1;
    return this.#statuses[index]?.at ?? this.listedAt;
  }

  /** When the market is next in another phase than at `after`; Infinity when nothing more is told. */
  nextPhase(after: number): number {
    const phase = this.statusAt(after)?.phase ?? "pending";
    return this.#statuses.find((status) => status.at > after && status.phase !== phase)?.at ?? Number.POSITIVE_INFINITY;
  }

  /** How many changes there were up to `at`, and when the last one was; null before the first. */
  changeAt(at: number): { readonly count: number; readonly at: number } | null {
    const index = lastOf(this.#changes, at);
    const changedAt = this.#changes[index];
    return changedAt === undefined ? null : { count: index + 1, at: changedAt };
  }

  nextChange(after: number): number {
    return this.#changes[lastOf(this.#changes, after) + 1] ?? Number.POSITIVE_INFINITY;
  }

  /**
   * The last book up to `at`, with the top of the last quote where that is newer: better levels are gone, worse ones are
   * as last seen. A quote alone is a level a side.
   */
  levelsAt(at: number): { readonly bids: readonly Level[]; readonly asks: readonly Level[] } {
    const quote = lastOf(this.#quoteAt, at);
    const book = lastOf(this.#bookAt, at);
    const bids = this.#side(book, 0);
    const asks = this.#side(book, 1);
    if (quote < 0 || (book >= 0 && (this.#bookAt[book] ?? 0) >= (this.#quoteAt[quote] ?? 0))) return { bids, asks };
    return {
      bids: topped(bids, this.#quoteFigure(quote, 0), this.#quoteFigure(quote, 2), (price, top) => price < top),
      asks: topped(asks, this.#quoteFigure(quote, 1), this.#quoteFigure(quote, 3), (price, top) => price > top),
    };
  }

  /** The newest of what quotes, books and trades say; null before anything was traded. */
  lastPriceAt(at: number): number | null {
    let newest = Number.NEGATIVE_INFINITY;
    let price: number | null = null;
    const offer = (toldAt: number | undefined, value: number | null | undefined) => {
      if (toldAt === undefined || value === null || value === undefined || toldAt < newest) return;
      newest = toldAt;
      price = value;
    };
    const trade = this.#trades[lastAt(this.#trades.length, (index) => this.#trades[index]?.at ?? 0, at)];
    offer(trade?.at, trade?.yesPrice);
    const book = lastOf(this.#bookAt, at);
    offer(this.#bookAt[book], known(this.#bookLast[book]));
    const quote = lastOf(this.#quoteAt, at);
    offer(this.#quoteAt[quote], this.#quoteFigure(quote, 4));
    return price;
  }

  /** What the last quote up to `at` gives as the venue's own indication; null where it gives none. */
  indicationAt(at: number): number | null {
    return this.#quoteFigure(lastOf(this.#quoteAt, at), 5);
  }

  /** The venue's own indication: the last one up to `at`, else the first there is; null when there is none. */
  probabilityAt(at: number): number | null {
    for (let index = lastOf(this.#quoteAt, at); index >= 0; index--) {
      const probability = this.#quoteFigure(index, 5);
      if (probability !== null) return probability;
    }
    return this.#firstProbability();
  }

  /** Figures in USD; null where not told. */
  activityAt(at: number): {
    readonly toldAt: number;
    readonly volume24hUsd: number | null;
    readonly volumeTotalUsd: number | null;
    readonly liquidityUsd: number | null;
    readonly openInterestUsd: number | null;
  } | null {
    const index = lastOf(this.#activityAt, at);
    if (index < 0) return null;
    const figure = (place: number) => known(this.#activities[index * ACTIVITY_FIGURES + place]);
    return {
      toldAt: this.#activityAt[index] ?? 0,
      volume24hUsd: figure(0),
      volumeTotalUsd: figure(1),
      liquidityUsd: figure(2),
      openInterestUsd: figure(3),
    };
  }

  /** Trades with from <= at < to, oldest first. */
  trades(from: number, to: number): readonly WorldTrade[] {
    const timeOf = (index: number) => this.#trades[index]?.at ?? 0;
    const first = lastBefore(this.#trades.length, timeOf, from) + 1;
    const end = lastBefore(this.#trades.length, timeOf, to) + 1;
    return this.#trades.slice(first, end);
  }

  #quoteFigure(quote: number, place: number): number | null {
    return quote < 0 ? null : known(this.#quotes[quote * QUOTE_FIGURES + place]);
  }

  #firstProbability(): number | null {
    for (let index = 0; index < this.#quoteAt.length; index++) {
      const probability = this.#quoteFigure(index, 5);
      if (probability !== null) return probability;
    }
    return null;
  }

  #side(book: number, side: 0 | 1): Level[] {
    const levels: Level[] = [];
    if (book < 0) return levels;
    const place = book * 2 + side;
    for (let at = this.#bookEnds[place - 1] ?? 0; at < (this.#bookEnds[place] ?? 0); at += 2)
      levels.push({ price: this.#levels[at] ?? 0, size: this.#levels[at + 1] ?? 0 });
    return levels;
  }
}

function topped(
  levels: readonly Level[],
  top: number | null,
  size: number | null,
  isWorse: (price: number, top: number) => boolean,
): readonly Level[] {
  if (top === null) return [];
  const known = size ?? levels.find(({ price }) => price === top)?.size;
  const first: Level = known === undefined ? { price: top, size: 1, isSizeUnknown: true } : { price: top, size: known };
  return [first, ...levels.filter(({ price }) => isWorse(price, top))];
}

function known(figure: number | undefined): number | null {
  return figure === undefined || Number.isNaN(figure) ? null : figure;
}

/** Index of the last of `count` ascending times at or before `at`; -1 when there is none. */
function lastAt(count: number, timeOf: (index: number) => number, at: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (timeOf(middle) <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function lastOf(times: readonly number[], at: number): number {
  return lastAt(times.length, (index) => times[index] ?? 0, at);
}

/** As `lastAt`, strictly before; times need not be whole numbers. */
function lastBefore(count: number, timeOf: (index: number) => number, at: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (timeOf(middle) < at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
