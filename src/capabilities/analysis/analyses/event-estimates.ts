import {
  type BoardEvent,
  type BoardMarket,
  eventSlug,
  findIncompleteSetReason,
  type MarketBoard,
} from "../../../board/index.ts";
import type { EventListing } from "../../../domain/market.ts";
import {
  coherentLogOdds,
  type EventLogic,
  isBound,
  type LegEstimate,
  positiveSpreadOf,
  siblingGaps,
} from "../../../engine/index.ts";
import { findMarketLadders } from "../../../matching/index.ts";
import { EVENT_LEGS_MAX } from "./market-views.ts";

/** Maximum number of events in memory. Above it, the event that was computed longest ago is evicted. */
const EVENTS_MAX = 5_000;
/**
 * Results are computed again in each period, because the ages of analyses and the prices at other venues change without
 * a change of the event.
 */
const PERIOD_MS = 1_000;

/** Returns the number of the period that contains the time. */
export const periodOf = (now: number): number => Math.floor(now / PERIOD_MS);

/** Markets of one event that are related by logic: exclusive outcomes or a ladder. */
interface Group {
  readonly logic: EventLogic;
  /** For a ladder, ordered from the widest market to the narrowest. */
  readonly markets: readonly BoardMarket[];
}

/** Adjustment that makes one market's estimate consistent with the other estimates of its event. */
export interface EventAdjustment {
  readonly logic: EventLogic;
  /** Number of markets whose estimates were compared, at least 2. */
  readonly count: number;
  /** Change of the log-odds. */
  readonly shift: number;
}

interface EventState {
  /** Null if the event is not on the board. */
  readonly event: BoardEvent | null;
  readonly markets: readonly BoardMarket[];
  readonly open: readonly BoardMarket[];
  readonly groups: readonly Group[];
  /** By board row. */
  readonly gaps: ReadonlyMap<number, number>;
}

interface AgreedEvent {
  readonly period: number;
  readonly version: number;
  /** By board row. */
  readonly agreements: ReadonlyMap<number, EventAdjustment>;
}

interface EventEstimatesPorts {
  readonly board: Pick<MarketBoard, "findEvent" | "marketsOfEvent">;
  /** The market's estimate before the adjustment; null if it is missing or expired. */
  readonly estimateOf: (market: BoardMarket, siblingGap: number, now: number) => LegEstimate | null;
}

/**
 * Compares the prices and the estimates of the markets of each event. Results are kept until a market of the event or
 * an analysis changes, and for at most a second. Events of more than 200 markets are not compared.
 */
export class EventEstimates {
  readonly #ports: EventEstimatesPorts;
  readonly #states = new Map<string, EventState>();
  readonly #agreed = new WeakMap<EventState, AgreedEvent>();
  #version = 0;

  constructor(ports: EventEstimatesPorts) {
    this.#ports = ports;
  }

  /** Must be called after each change of an analysis. */
  onAnalysisChange(): void {
    this.#version += 1;
  }

  /** How far the other markets' prices contradict the market's price, in log-odds (`siblingGaps`). */
  siblingGapOf(market: BoardMarket): number {
    return this.#stateOf(market)?.gaps.get(market.row) ?? 0;
  }

  /** Returns null if the market's estimate is consistent with the others of its event, or if there are no others. */
  agreementOf(market: BoardMarket, now: number): EventAdjustment | null {
    const state = this.#stateOf(market);
    if (state === null || state.groups.length === 0) return null;
    const known = this.#agreed.get(state);
    const isCurrent = known !== undefined && known.version === this.#version && known.period === periodOf(now);
    return (isCurrent ? known : this.#agree(state, now)).agreements.get(market.row) ?? null;
  }

  /** The current state of the market's event, with `market` instead of the board's version of it. */
  #stateOf(market: BoardMarket): EventState | null {
    const { venue, eventId } = market.listing;
    if (eventId === null) return null;
    const slug = eventSlug(venue, eventId);
    const markets = this.#ports.board.marketsOfEvent(slug).map((each) => (each.row === market.row ? market : each));
    if (markets.length < 2 || markets.length > EVENT_LEGS_MAX) return null;
    const event = this.#ports.board.findEvent(slug);
    const known = this.#states.get(slug);
    if (known !== undefined && known.event === event && isEqualList(known.markets, markets)) return known;
    const open = markets.filter(({ listing, yesPrice }) => listing.status === "active" && yesPrice !== null);
    const groups = this.#groupsOf(event?.listing, markets, open, known);
    const state = { event, markets, open, groups, gaps: computeGaps(groups) };
    this.#states.delete(slug);
    this.#states.set(slug, state);
    const [oldest] = this.#states.size > EVENTS_MAX ? this.#states.keys() : [];
    if (oldest !== undefined) this.#states.delete(oldest);
    return state;
  }

  #groupsOf(
    listing: EventListing | undefined,
    markets: readonly BoardMarket[],
    open: readonly BoardMarket[],
    known: EventState | undefined,
  ): Group[] {
    if (listing === undefined) return [];
    if (listing.mutuallyExclusive) {
      const openRows = new Set(open.map(({ row }) => row));
      const isExhaustive = findIncompleteSetReason(listing, markets, ({ row }) => openRows.has(row)) === null;
      return [{ logic: { kind: "exclusive", isExhaustive }, markets: open }];
    }
    // Comparing the rules of all markets takes a hundred times as long as the rest, and the rules rarely change.
    if (
      known === undefined ||
      known.event?.listing.mutuallyExclusive !== false ||
      !isEqualList(known.open.map(listingOf), open.map(listingOf))
    )
      return findMarketLadders(open).map((rungs) => ({ logic: { kind: "ladder" }, markets: rungs }));
    const byRow = new Map(open.map((market) => [market.row, market]));
    return known.groups.map(({ logic, markets: rungs }) => ({
      logic,
      markets: rungs.flatMap(({ row }) => byRow.get(row) ?? []),
    }));
  }

  #agree(state: EventState, now: number): AgreedEvent {
    const agreements = new Map<number, EventAdjustment>();
    for (const { logic, markets } of state.groups) {
      const known = markets.flatMap((market) => {
        const estimate = this.#ports.estimateOf(market, state.gaps.get(market.row) ?? 0, now);
        return estimate === null ? [] : [{ market, estimate }];
      });
      const own = logicOf(logic, known.length === markets.length);
      const agreeing = coherentLogOdds(
        own,
        known.map(({ estimate }) => estimate),
      );
      for (const [index, { market, estimate }] of known.entries()) {
        const shift = (agreeing[index] ?? estimate.logOdds) - estimate.logOdds;
        if (shift !== 0) agreements.set(market.row, { logic: own, count: known.length, shift });
      }
    }
    const agreed = { period: periodOf(now), version: this.#version, agreements };
    this.#agreed.set(state, agreed);
    return agreed;
  }
}

const listingOf = ({ listing }: BoardMarket) => listing;

const isEqualList = <Item>(a: readonly Item[], b: readonly Item[]): boolean =>
  a.length === b.length && a.every((item, index) => item === b[index]);

/** The logic of a group of which some markets may be missing: an incomplete group is not exhaustive. */
const logicOf = (logic: EventLogic, isComplete: boolean): EventLogic =>
  logic.kind === "ladder" ? logic : { kind: "exclusive", isExhaustive: logic.isExhaustive && isComplete };

/** Returns the gap of each leg (`siblingGaps`). The legs are some or all markets of the group. */
function gapsOf({ logic, markets }: Group, legs: readonly BoardMarket[]): number[] {
  const prices = legs.map(({ yesPrice, quote }) => ({ yesPrice: yesPrice ?? 0, spread: positiveSpreadOf(quote) }));
  return siblingGaps(logicOf(logic, legs.length === markets.length), prices);
}

/**
 * Returns the gaps by board row. A market with a one-sided quote (`isBound`) is compared with the others, but the
 * others are not compared with it.
 */
function computeGaps(groups: readonly Group[]): Map<number, number> {
  const gaps = new Map<number, number>();
  for (const group of groups) {
    const bounds = new Set(group.markets.filter(({ quote }) => isBound(quote)));
    const legs = group.markets.filter((market) => !bounds.has(market));
    for (const [index, gap] of gapsOf(group, legs).entries()) gaps.set(legs[index]?.row ?? -1, gap);
    for (const own of bounds) {
      const withOwn = group.markets.filter((market) => market === own || !bounds.has(market));
      gaps.set(own.row, gapsOf(group, withOwn)[withOwn.indexOf(own)] ?? 0);
    }
  }
  return gaps;
}
