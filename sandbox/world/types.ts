/**
 * The world that the four sandbox venues publish, each in the protocol of the venue. It is simulated or replayed from a
 * recording.
 *
 * All data is a function of (seed or recording, genesis, speed) and time. There is no state to persist: a restart
 * continues consistently, and earlier books can be recomputed. Prices are YES prices in (0, 1) on the market's tick
 * grid, sizes are contracts that pay 1, times are Unix milliseconds.
 */
export type SandboxVenue = "kalshi" | "polymarket" | "limitless" | "manifold";

export const SANDBOX_VENUES: readonly SandboxVenue[] = ["kalshi", "polymarket", "limitless", "manifold"];

/** A band of the price grid: prices from `from` to `to` in multiples of `step`. */
export interface PriceBand {
  readonly from: number;
  readonly to: number;
  readonly step: number;
}

/** An event as one venue lists it. A stand-alone question is an event with one market. */
export interface ListedEvent {
  readonly venue: SandboxVenue;
  /** Unique in the world; the same after a restart with the same seed and genesis. */
  readonly index: number;
  /** Number of the real-world event; equal on all venues that list it. */
  readonly underlying: number;
  /** Short upper-case name of the recurring series: FED, CPIYOY, BTC, NBAGAME. */
  readonly series: string;
  readonly seriesTitle: string;
  /** In the wording of this venue. */
  readonly title: string;
  readonly description: string;
  /** Canonical category: Economics, Politics, Sports, Crypto, Weather, Culture, Tech. */
  readonly category: string;
  readonly tags: readonly string[];
  /** True for a 15-minute up-or-down market on an asset's price. */
  readonly isRound: boolean;
  /** Names of the YES and the NO side, if the event has one question between two parties. */
  readonly sides?: readonly [yes: string, no: string];
  /** At most one of its markets resolves YES. */
  readonly mutuallyExclusive: boolean;
  /** One of its markets must resolve YES. */
  readonly exhaustive: boolean;
  /** The markets are thresholds or deadlines of one quantity, so prices are monotone along them. */
  readonly ladder: boolean;
  readonly featured: boolean;
  readonly openAt: number;
  /** Infinity if a recording does not include it. */
  readonly closeAt: number;
  readonly markets: readonly ListedMarket[];
  /** Set only in a replayed recording. `eventId` is the venue's id; null for a stand-alone question. */
  readonly recorded?: { readonly eventId: string | null; readonly url: string | null };
}

/** Recorded fields of a market; null if the recording does not include them. */
export interface RecordedMarket {
  /** The market id that the service uses. */
  readonly marketId: string;
  /** The venue's other ids, by the key names of its adapter. */
  readonly keys: Readonly<Record<string, string>>;
  readonly url: string | null;
  /** Name of the outcome inside the event; null for a stand-alone question. */
  readonly label: string | null;
  /** Time of its first line in the recording, on the wall clock. */
  readonly listedAt: number;
  readonly openAt: number | null;
  readonly expectedResolutionAt: number | null;
  readonly priceBands: readonly PriceBand[] | null;
  readonly minOrderContracts: number | null;
  readonly takerDelayMs: number | null;
  readonly takerFee: RecordedFee | null;
}

export type RecordedFee =
  | { readonly kind: "none" }
  | { readonly kind: "quadratic"; readonly rate: number; readonly exponent: number }
  /** Venue-specific fee schedules. Their parameters are constants in the venue's protocol. */
  | { readonly kind: "value_table" | "flat_value" };

export interface Strike {
  readonly type: "greater" | "less" | "between";
  readonly floor: number | null;
  readonly cap: number | null;
}

export interface ListedMarket {
  readonly venue: SandboxVenue;
  readonly event: ListedEvent;
  /** Unique in the world. */
  readonly index: number;
  /** Position in the event, from 0. */
  readonly position: number;
  /** In the wording of this venue. */
  readonly question: string;
  /** Name of the outcome inside the event ("Above 3.2%", "Boston Celtics"); "Yes" for a stand-alone question. */
  readonly label: string;
  /** Plain text with paragraphs separated by blank lines. */
  readonly rules: string;
  readonly resolutionSource: string;
  readonly strike: Strike | null;
  readonly mechanism: "clob" | "amm";
  /** Prices that orders may have. */
  readonly bands: readonly PriceBand[];
  /** Smallest step of the bands. */
  readonly tick: number;
  readonly openAt: number;
  /** Scheduled end of trading. In a recording, this and the next two times are Infinity if unknown. */
  readonly closeAt: number;
  /** When the result is proposed. It may be disputed until `finalizeAt`. */
  readonly determineAt: number;
  readonly disputed: boolean;
  readonly finalizeAt: number;
  /** Set only in a replayed recording. */
  readonly recorded?: RecordedMarket;
}

/**
 * Returns whether the market is listed at `at`. In a recording, the markets of an event may be listed at different
 * times.
 */
export function isListed(market: ListedMarket, at: number): boolean {
  return market.recorded === undefined || market.recorded.listedAt <= at;
}

export type Phase = "pending" | "active" | "paused" | "closed" | "determined" | "disputed" | "finalized";

export type WorldOutcome =
  | { readonly kind: "yes" }
  | { readonly kind: "no" }
  /** YES pays `value`, for example 0.5 for a tie. */
  | { readonly kind: "partial"; readonly value: number }
  /** Cancelled: stakes are refunded. */
  | { readonly kind: "void" };

export interface Lifecycle {
  readonly phase: Phase;
  /** Null before the phase `determined`. */
  readonly outcome: WorldOutcome | null;
  /** Start of the phase. */
  readonly since: number;
}

/**
 * A planted step in the resolution of a market:
 * - `past_end_date`: trading continues after the published end date
 * - `proposed_trading`, `disputed_trading`: a result is proposed or disputed while orders are accepted
 * - `proposed`, `disputed`: the same without orders
 * - `closed_disputed`: disputed, but closed with the prices of a final result
 * - `proposed_again`: the second proposal
 */
export type ResolutionStep =
  | "past_end_date"
  | "proposed_trading"
  | "disputed_trading"
  | "proposed"
  | "disputed"
  | "closed_disputed"
  | "proposed_again"
  | "final";

export interface PlantedResolution {
  readonly step: ResolutionStep;
  readonly at: number;
  /** The published end date. */
  readonly closeAt: number;
  /** The proposed or final result; null before a proposal. */
  readonly outcome: WorldOutcome | null;
}

/**
 * Reason why an outcome of a test event accepts no orders. Its order book is empty.
 * - `unreadable`: the venue's row has no token ids
 * - `placeholder`: the outcome has no name yet
 * - `other`: the outcome covers all outcomes that are not listed
 * - `closed`: closed without a final result
 * - `settled_no`: settled NO
 */
export type NotTradableReason = "unreadable" | "placeholder" | "other" | "closed" | "settled_no";

export interface Level {
  readonly price: number;
  /** Contracts. */
  readonly size: number;
  /** True if the recording contains only the price. `size` is then 1, for protocols that require a size. */
  readonly isSizeUnknown?: true;
}

/** The YES order book: bids highest first, asks lowest first, never crossed; empty unless the market is active. */
export interface BookState {
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
  readonly lastPrice: number | null;
  /** Set only in a replayed recording: the indicative price sent by the venue; null if it sent none. */
  readonly indicativePrice?: number | null;
  readonly changedAt: number;
  /** Increases with every change of this market's book. */
  readonly version: number;
}

export interface WorldTrade {
  /** Unique in the world; the same after a restart. */
  readonly id: string;
  /** Set only in a replayed recording: the trade id that the service uses. */
  readonly recordedId?: string;
  readonly at: number;
  readonly yesPrice: number;
  readonly size: number;
  readonly takerSide: "yes" | "no";
  /** Number of the simulated trader. */
  readonly taker: number;
}

/** Null fields are missing in the recording; a simulated world has all fields. */
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

/** A point of the price history, also used for candles. `at` is the end of the interval. */
export interface PricePoint {
  readonly at: number;
  readonly bid: number | null;
  readonly ask: number | null;
  readonly lastPrice: number | null;
  /** Traded in (at - interval, at]; null in a recording. */
  readonly volumeContracts: number | null;
}

/** The replayed recording. Times are those of the recording. The time `pivotAt` is replayed at the start of the world. */
export interface ReplayedRecording {
  readonly source: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly pivotAt: number;
  readonly facts: number;
  readonly markets: number;
  /** Number of AMM markets that are omitted because they have no price. */
  readonly omittedMarkets: number;
  /** Whether the last line of the file is incomplete; it is ignored. */
  readonly isTruncated: boolean;
}

/**
 * Relation of the outcomes of two markets. `subset`: the first market resolves YES only if the second does. `overlap`:
 * the criteria are about the same result, and no other relation holds. `disjoint`: the markets cannot both resolve YES.
 * `unrelated`: the outcomes come from different processes.
 */
export type MarketRelation = "identical" | "inverse" | "subset" | "superset" | "overlap" | "disjoint" | "unrelated";

/** Two markets of different venues. */
export interface MarketPair {
  readonly a: ListedMarket;
  readonly b: ListedMarket;
  /** Relation of `a` to `b` by their criteria. A venue may still void its market. */
  readonly relation: MarketRelation;
  /** Kind of similar wording if the outcomes differ despite it; null for other pairs. */
  readonly trap: string | null;
}

export interface World {
  readonly seed: number;
  readonly genesis: number;
  readonly speed: number;
  /** Absent in a simulated world. */
  readonly recording?: ReplayedRecording;
  /**
   * Events that the venue lists at `at`, including events finalized in the last 30 days; oldest first. Returns the same
   * array until an event is added or removed, so that results derived from it can be cached by identity.
   */
  events(venue: SandboxVenue, at: number): readonly ListedEvent[];
  /** The markets of those events, in the same order. */
  markets(venue: SandboxVenue, at: number): readonly ListedMarket[];
  lifecycle(market: ListedMarket, at: number): Lifecycle;
  book(market: ListedMarket, at: number): BookState;
  /** The unrounded centre of the quotes, or the price of an AMM. Null if a recording has no price. */
  probability(market: ListedMarket, at: number): number | null;
  activity(market: ListedMarket, at: number): ActivityState;
  /** Trades with from <= at < to, oldest first. */
  trades(market: ListedMarket, from: number, to: number): readonly WorldTrade[];
  /** Points at every multiple of `intervalMs` in (from, to] at which the market was open. */
  priceHistory(market: ListedMarket, from: number, to: number, intervalMs: number): readonly PricePoint[];
  /**
   * Returns the pairs of listed markets of different venues whose outcomes depend on the same value and can both be YES,
   * and all pairs with similar wording and different outcomes. Absent in a recording. Returns the same array until a listing changes.
   */
  pairs?(at: number): readonly MarketPair[];
  /** The scripted step of a market's resolution, or null. Absent in a world without scripted resolutions. */
  plantedResolution?(market: ListedMarket, at: number): PlantedResolution | null;
  /** Why an outcome of a test event cannot be bought, or null. Absent in a world without test events. */
  plantedRow?(market: ListedMarket, at: number): NotTradableReason | null;
  /** Time of the first book change or trade after `after`; Infinity once trading has ended. */
  nextChangeAt(market: ListedMarket, after: number): number;
  /** Time of the first phase change after `after`; Infinity once the market is finalized. */
  nextPhaseAt(market: ListedMarket, after: number): number;
}

type WithoutNulls<T> = { readonly [Key in keyof T]: NonNullable<T[Key]> };

/** A world without missing values: fields that may be null in a recording are never null. */
export interface SimulatedWorld extends World {
  pairs(at: number): readonly MarketPair[];
  probability(market: ListedMarket, at: number): number;
  activity(market: ListedMarket, at: number): WithoutNulls<ActivityState>;
  priceHistory(
    market: ListedMarket,
    from: number,
    to: number,
    intervalMs: number,
  ): readonly (PricePoint & WithoutNulls<Pick<PricePoint, "volumeContracts">>)[];
}

/** A change in the world; `at` is its exact time. */
export type FeedEvent = { readonly market: ListedMarket; readonly at: number } & (
  | { readonly kind: "book" | "listed" }
  | { readonly kind: "trade"; readonly trade: WorldTrade }
  | { readonly kind: "lifecycle"; readonly from: Phase; readonly to: Phase }
);

/** Publishes changes of the world in real time, ordered by `at`; a trade precedes the book change it causes. */
export interface Feed {
  /**
   * Listing and lifecycle events are published for all markets of the venue. Book and trade events are published for
   * the markets that `getFollowedMarkets` returns when it is called, or for all markets if it is absent or returns
   * null. It must not return a list that has changed since an earlier call; returning the same list again is cheapest.
   * @returns a function that ends the subscription
   */
  subscribe(
    venue: SandboxVenue,
    listener: (event: FeedEvent) => void,
    getFollowedMarkets?: () => readonly ListedMarket[] | null,
  ): () => void;
  close(): void;
}

export interface FeedWithManualChanges extends Feed {
  /** Publishes a change of a followed market at `at` that `World.nextChangeAt` did not return. */
  touch(market: ListedMarket, at: number): void;
}
