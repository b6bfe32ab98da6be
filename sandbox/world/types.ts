/**
 * The world that the four sandbox exchanges show, each in its own protocol: simulated, or replayed from a recording.
 *
 * Everything here is a function of (seed or recording, genesis, speed) and an instant: there is no hidden state to save, a
 * restart continues where it was, and any past book can be asked for again. Prices are YES prices in (0, 1) on the market's tick
 * grid, sizes are contracts that pay 1, times are Unix milliseconds UTC.
 */
export type SandboxVenue = "kalshi" | "polymarket" | "limitless" | "manifold";

export const SANDBOX_VENUES: readonly SandboxVenue[] = ["kalshi", "polymarket", "limitless", "manifold"];

/** A group of questions as one venue lists it. A stand-alone question is a group of one. */
export interface ListedEvent {
  readonly venue: SandboxVenue;
  /** Unique number over the whole world; stable over restarts with the same seed and genesis. */
  readonly index: number;
  /** Number of the real-world event behind it: equal on every venue that lists the same event. */
  readonly underlying: number;
  /** Short upper-case name of the recurring family: FED, CPI, BTC, NBA. */
  readonly series: string;
  readonly seriesTitle: string;
  /** In the words of this venue. */
  readonly title: string;
  readonly description: string;
  /** Canonical category: Economics, Politics, Sports, Crypto, Weather, Culture, Tech. */
  readonly category: string;
  readonly tags: readonly string[];
  readonly frequency: "fifteen_min" | "hourly" | "daily" | "weekly" | "monthly" | "annual" | "one_off";
  /** At most one of its markets resolves YES. */
  readonly mutuallyExclusive: boolean;
  /** One of its markets must resolve YES. */
  readonly exhaustive: boolean;
  /** Thresholds or dates of one quantity: prices must be monotone along the markets. */
  readonly ladder: boolean;
  readonly featured: boolean;
  readonly openAt: number;
  /** Infinity where a recording does not tell. */
  readonly closeAt: number;
  readonly markets: readonly ListedMarket[];
  /** Only in a replayed recording: what the venue itself said of it. */
  readonly recorded?: RecordedEvent;
}

/** Identity of an event in a recording, and what it does not know (null). */
export interface RecordedEvent {
  /** The venue's id; null for a question that stands alone. */
  readonly eventId: string | null;
  readonly url: string | null;
}

/** Identity of a market in a recording, and what it does not know (null). */
export interface RecordedMarket {
  /** The id by which the service knows it. */
  readonly marketId: string;
  /** The venue's other ids, by the names that its adapter gives them. */
  readonly keys: Readonly<Record<string, string>>;
  readonly url: string | null;
  /** Name inside its event; null where it stands alone. */
  readonly label: string | null;
  /** From when on the recording knows it. */
  readonly listedAt: number;
  readonly openAt: number | null;
  readonly expectedResolutionAt: number | null;
  readonly tickSize: number | null;
  readonly takerFee: RecordedFee | null;
}

export type RecordedFee =
  | { readonly kind: "none" }
  | { readonly kind: "quadratic"; readonly rate: number; readonly exponent: number }
  /** Kinds that belong to one venue, which shows them without being told. */
  | { readonly kind: "value_table" | "flat_value" };

export interface Strike {
  readonly type: "greater" | "less" | "between";
  readonly floor: number | null;
  readonly cap: number | null;
}

export interface ListedMarket {
  readonly venue: SandboxVenue;
  readonly event: ListedEvent;
  /** Unique number over the whole world. */
  readonly index: number;
  /** Position in the event, from 0. */
  readonly position: number;
  /** The whole question in this venue's words. */
  readonly question: string;
  /** Name of the outcome inside a group ("Above 3.2%", "Boston Celtics"); equals "Yes" for a stand-alone question. */
  readonly label: string;
  /** Plain text with paragraphs separated by blank lines. */
  readonly rules: string;
  readonly resolutionSource: string;
  readonly strike: Strike | null;
  readonly mechanism: "clob" | "amm";
  /** Price step: 0.01 or 0.001. */
  readonly tick: number;
  /** Trading begins. */
  readonly openAt: number;
  /** Trading ends. In a recording this and the next two may be Infinity: not told, or not yet. */
  readonly closeAt: number;
  /** Result proposed; then possibly disputed until `finalizeAt`. */
  readonly determineAt: number;
  readonly disputed: boolean;
  readonly finalizeAt: number;
  /** Only in a replayed recording: what the venue itself said of it. */
  readonly recorded?: RecordedMarket;
}

/** Whether the venue lists this market by `at`; a recording meets the markets of an event one by one. */
export function isListed(market: ListedMarket, at: number): boolean {
  return market.recorded === undefined || market.recorded.listedAt <= at;
}

export type Phase = "pending" | "active" | "paused" | "closed" | "determined" | "disputed" | "finalized";

export type WorldOutcome =
  | { readonly kind: "yes" }
  | { readonly kind: "no" }
  /** Pays a share, for example 0.5 of a tie. */
  | { readonly kind: "partial"; readonly value: number }
  /** Called off: stakes return. */
  | { readonly kind: "void" };

export interface Lifecycle {
  readonly phase: Phase;
  /** Known from `determined` on, null before. */
  readonly outcome: WorldOutcome | null;
  /** When this phase began. */
  readonly since: number;
}

export interface Level {
  readonly price: number;
  /** Contracts. */
  readonly size: number;
  /** Set in a recording that tells the price alone; `size` is then 1, where a protocol cannot do without. */
  readonly isSizeUnknown?: true;
}

/** The YES book at an instant: bids highest first, asks lowest first, never crossed; empty unless active. */
export interface BookState {
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
  readonly lastPrice: number | null;
  /** Only in a replayed recording: the venue's own indication beside its book; null where it gave none. */
  readonly indicativePrice?: number | null;
  /** When the book last became what it is. */
  readonly changedAt: number;
  /** Rises with every change of this market's book. */
  readonly version: number;
}

export interface WorldTrade {
  /** Unique over the world, stable. */
  readonly id: string;
  /** Only in a replayed recording: the id by which the service knows it. */
  readonly recordedId?: string;
  readonly at: number;
  readonly yesPrice: number;
  readonly size: number;
  readonly takerSide: "yes" | "no";
  /** Number of the simulated trader. */
  readonly taker: number;
}

/** Null: not told by the recording. The simulation knows everything. */
export interface ActivityState {
  /** Since the market opened. */
  readonly volumeContracts: number | null;
  readonly volumeUsd: number | null;
  /** Over the last 24 hours of wall-clock time. */
  readonly volume24hContracts: number | null;
  readonly volume24hUsd: number | null;
  readonly openInterestContracts: number | null;
  readonly liquidityUsd: number | null;
  readonly traderCount: number | null;
}

/** A point of the past, for candles and price history. `at` is the end of the interval. */
export interface PastPoint {
  readonly at: number;
  readonly bid: number | null;
  readonly ask: number | null;
  readonly lastPrice: number | null;
  /** Traded in (at - interval, at]; null when a recording does not tell. */
  readonly volumeContracts: number | null;
  readonly volumeUsd: number | null;
}

/** Instants of the recording itself, Unix milliseconds: `pivotAt` is what plays at genesis. */
export interface ReplayedRecording {
  readonly source: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly pivotAt: number;
  readonly facts: number;
  readonly markets: number;
  /** AMM markets without any price: nothing could be shown of them. */
  readonly leftOut: number;
  /** The file ended in the middle of a line, which was left out. */
  readonly isCut: boolean;
}

export interface World {
  readonly seed: number;
  readonly genesis: number;
  readonly speed: number;
  /** What is replayed; absent in a simulated world. */
  readonly recording?: ReplayedRecording;
  /**
   * Events that this venue has listed by `at`, also settled ones of the last 30 days; oldest listing first. The same
   * array until an event is added or taken away, so that what is made of it can be kept for as long.
   */
  events(venue: SandboxVenue, at: number): readonly ListedEvent[];
  /** The markets of those events, in the same order. */
  markets(venue: SandboxVenue, at: number): readonly ListedMarket[];
  lifecycle(market: ListedMarket, at: number): Lifecycle;
  book(market: ListedMarket, at: number): BookState;
  /** Unrounded probability that quotes are made around: what an AMM shows. In a recording null before the first price. */
  probability(market: ListedMarket, at: number): number | null;
  activity(market: ListedMarket, at: number): ActivityState;
  /** Trades with from <= at < to, oldest first. */
  trades(market: ListedMarket, from: number, to: number): readonly WorldTrade[];
  /** Points at every multiple of `intervalMs` in (from, to] at which the market was open. */
  past(market: ListedMarket, from: number, to: number, intervalMs: number): readonly PastPoint[];
  /** First instant after `after` at which the book changes or a trade happens; Infinity once trading has ended. */
  nextChangeAt(market: ListedMarket, after: number): number;
  /** First instant after `after` at which the market is in another phase; Infinity once it is finalized. */
  nextPhaseAt(market: ListedMarket, after: number): number;
}

type Known<T> = { readonly [Key in keyof T]: NonNullable<T[Key]> };

/** A simulated world knows every figure. */
export interface SimulatedWorld extends World {
  probability(market: ListedMarket, at: number): number;
  activity(market: ListedMarket, at: number): Known<ActivityState>;
  past(
    market: ListedMarket,
    from: number,
    to: number,
    intervalMs: number,
  ): readonly (PastPoint & Known<Pick<PastPoint, "volumeContracts" | "volumeUsd">>)[];
}

/** What happens in the world, told when it happens, with its exact instant. */
export type FeedEvent =
  | { readonly kind: "book"; readonly market: ListedMarket; readonly at: number }
  | { readonly kind: "trade"; readonly market: ListedMarket; readonly trade: WorldTrade; readonly at: number }
  | {
      readonly kind: "lifecycle";
      readonly market: ListedMarket;
      readonly from: Phase;
      readonly to: Phase;
      readonly at: number;
    }
  | { readonly kind: "listed"; readonly market: ListedMarket; readonly at: number };

/** Drives the world in real time. Events come in order of `at`; a trade comes right before the book change it caused. */
export interface Feed {
  /**
   * Listings and lifecycles are told of all markets of the venue, books and trades of those that `follows` names when it
   * is asked; of all when it is left out or gives null. Gives the function that ends the subscription.
   */
  subscribe(
    venue: SandboxVenue,
    listener: (event: FeedEvent) => void,
    follows?: (() => Iterable<ListedMarket> | null) | null,
  ): () => void;
  close(): void;
}
