import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/lib/durations.ts";
import { groundTruthOf, listOnVenue } from "./list-event.ts";
import { hashKeys, uniform } from "./random.ts";
import {
  createQuarterHourRound,
  createScheduledEvent,
  type DrawnEvent,
  drawEvent,
  type EventDefinition,
  listScheduledEvents,
  SCHEDULED_OPEN_MS_MAX,
  type ScheduledEvent,
  TRAP_KINDS,
  TRAP_NUMBER_OFFSET,
  type TrapDefinition,
  type TrapKind,
} from "./templates/index.ts";
import type { OutcomeProcess } from "./truth.ts";
import { type ListedEvent, type ListedMarket, SANDBOX_VENUES, type SandboxVenue } from "./types.ts";

const ROUND_MS = 15 * MINUTE_MS;
/** Event number of the first 15-minute round. */
const FIRST_ROUND_UNDERLYING = 1_000_000;
/** Event number of the first event of a calendar. */
const FIRST_SCHEDULED_UNDERLYING = 900_000;
/** Maximum share of the markets open at genesis that belong to events of a calendar. */
const SCHEDULED_SHARE_MAX = 0.4;
/** Time for which 15-minute rounds stay listed after they are finalized. */
const ROUND_LISTED_MS = 6 * HOUR_MS;
/** Time for which all other events stay listed after they are finalized. */
const FINALIZED_LISTED_MS = 30 * DAY_MS;
/**
 * Share of the events, except 15-minute rounds, that have a trap: an event that looks the same but differs. In small
 * worlds the share is larger, because there is at least one trap of each kind.
 */
export const TRAP_SHARE = 0.1;
/** Share of the traps that are listed on a venue without the original event, if there is one. */
const TRAP_ELSEWHERE_SHARE = 0.75;
/** Maximum number of redraws of an event that contradicts an earlier one. */
const REDRAWS_MAX = 8;
/** Difference between the choice numbers of two draws of an event; above all event numbers. */
const REDRAW_OFFSET = 20_000_000;

export interface UniverseOptions {
  /** 32-bit integer. */
  readonly seed: number;
  /** Unix milliseconds of the sandbox's first start. */
  readonly genesis: number;
  /** Minimum number of open markets at genesis on the three real-money venues together. */
  readonly marketCount: number;
}

interface EventTimes {
  readonly openAt: number;
  readonly closeAt: number;
}

/** The events and markets that a venue lists during from <= at < to. */
export interface Listing {
  readonly events: readonly ListedEvent[];
  readonly markets: readonly ListedMarket[];
  readonly from: number;
  readonly to: number;
}

/** Share of the first WIDELY_LISTED_EVENT_COUNT events that each venue lists. */
const LISTED_SHARE: Readonly<Record<SandboxVenue, number>> = {
  kalshi: 0.65,
  polymarket: 0.75,
  limitless: 0.4,
  manifold: 0.3,
};

const WIDELY_LISTED_EVENT_COUNT = 2_000;
/**
 * Share of all other events that each venue lists. The shares follow the real sizes of the venues: about 200,000 open
 * markets on Polymarket and 85,000 on Kalshi.
 */
const LISTED_SHARE_OF_OTHER_EVENTS: Readonly<Record<SandboxVenue, number>> = {
  kalshi: 0.38,
  polymarket: 0.72,
  limitless: 0,
  manifold: 0.02,
};

/** Hash keys by purpose of the random number; they must differ from the keys in list-event.ts. */
const Draw = {
  horizon: 1,
  age: 2,
  listed: 3,
  horizonKind: 10,
  quoteSlotOffset: 11,
  hasTrap: 12,
  trapKind: 13,
  trapVenue: 14,
} as const;

/**
 * Creates all events of the world. Initial events are created until enough markets are open at genesis. After genesis,
 * a new event opens at fixed intervals, and a 15-minute round starts every fifteen minutes.
 */
export class Universe {
  readonly #options: UniverseOptions;
  readonly #eventsByVenue: Record<SandboxVenue, ListedEvent[]> = {
    kalshi: [],
    polymarket: [],
    limitless: [],
    manifold: [],
  };
  readonly #eventsByRound = new Map<number, readonly ListedEvent[]>();
  /** Time until which an identity is reserved for one event, Unix milliseconds, by identity. */
  readonly #identities = new Map<string, number>();
  /** Number of traps by kind, counting events that are open at genesis or later. */
  readonly #trapCounts = new Map<TrapKind, number>();
  readonly #initialEventCount: number;
  readonly #newEventIntervalMs: number;
  readonly #listings = new Map<SandboxVenue, Listing>();
  /** Number of events added after genesis. */
  #newEventCount = 0;

  constructor(options: UniverseOptions) {
    this.#options = options;
    this.#newEventIntervalMs = Math.max(MINUTE_MS, (45 * MINUTE_MS * 400) / options.marketCount);
    const openMarketTarget = options.marketCount * 1.15;
    let openMarketCount = 0;
    const addInitial = (events: readonly ListedEvent[]) => {
      this.#add(events);
      for (const event of events) {
        if (event.venue === "manifold") continue;
        openMarketCount += event.markets.filter(
          (market) => groundTruthOf(market).tradingEndsAt > options.genesis,
        ).length;
      }
    };
    const { genesis } = options;
    for (const scheduled of listScheduledEvents(genesis - FINALIZED_LISTED_MS, genesis + SCHEDULED_OPEN_MS_MAX)) {
      if (openMarketCount >= openMarketTarget * SCHEDULED_SHARE_MAX) break;
      if (scheduled.openAt < genesis) addInitial(this.#createScheduledEvents(scheduled));
    }
    let underlying = 0;
    while (openMarketCount < openMarketTarget) {
      addInitial(this.#createDrawnEvents(underlying, this.#initialTimes(underlying)));
      underlying += 1;
    }
    this.#initialEventCount = underlying;
    for (const venue of SANDBOX_VENUES)
      this.#eventsByVenue[venue].sort((a, b) => a.openAt - b.openAt || a.index - b.index);
    for (const scheduled of this.#listScheduledOpenings(genesis, this.#newEventAt(1)))
      this.#add(this.#createScheduledEvents(scheduled));
  }

  /**
   * Returns the events that are listed at `at`, oldest first, and their markets. Returns the same object until the
   * listing changes.
   */
  listing(venue: SandboxVenue, at: number): Listing {
    const cached = this.#listings.get(venue);
    if (cached !== undefined && at >= cached.from && at < cached.to) return cached;
    const listing = this.#computeListing(venue, at);
    this.#listings.set(venue, listing);
    return listing;
  }

  #computeListing(venue: SandboxVenue, at: number): Listing {
    this.#addEventsUntil(at);
    const events: ListedEvent[] = [];
    // The listing changes when a round starts, an event is added, a known event opens or a listed event expires.
    let to = Math.min((Math.floor(at / ROUND_MS) + 1) * ROUND_MS, this.#newEventAt(this.#newEventCount + 1));
    const addIfListed = (event: ListedEvent, listedMs: number) => {
      if (event.openAt > at) {
        to = Math.min(to, event.openAt);
        return;
      }
      const listedUntil = Math.max(...event.markets.map((market) => market.finalizeAt)) + listedMs;
      if (at >= listedUntil) return;
      events.push(event);
      to = Math.min(to, listedUntil);
    };
    for (const event of this.#eventsByVenue[venue]) addIfListed(event, FINALIZED_LISTED_MS);
    const firstRound = Math.floor((at - ROUND_LISTED_MS) / ROUND_MS);
    const lastRound = Math.floor(at / ROUND_MS) + 1;
    for (let round = firstRound; round <= lastRound; round++) {
      for (const event of this.#getRoundEvents(round)) if (event.venue === venue) addIfListed(event, ROUND_LISTED_MS);
    }
    for (const round of this.#eventsByRound.keys()) if (round < firstRound - 1) this.#eventsByRound.delete(round);
    return { events, markets: events.flatMap((event) => event.markets), from: at, to };
  }

  #newEventAt(number: number): number {
    return this.#options.genesis + number * this.#newEventIntervalMs;
  }

  /**
   * Adds the events that open up to `at`. The scheduled events of an interval are added at the start of the interval,
   * so that the listing at a time does not depend on earlier reads.
   */
  #addEventsUntil(at: number): void {
    const count = Math.floor((at - this.#options.genesis) / this.#newEventIntervalMs);
    if (count <= this.#newEventCount) return;
    const scheduled = this.#listScheduledOpenings(
      this.#newEventAt(this.#newEventCount + 1),
      this.#newEventAt(count + 1),
    );
    while (this.#newEventCount < count) {
      this.#newEventCount += 1;
      const underlying = this.#initialEventCount + this.#newEventCount;
      const openAt = Math.round(this.#newEventAt(this.#newEventCount));
      const closeAt = roundToHour(openAt + this.#newEventDurationMs(underlying));
      this.#add(this.#createDrawnEvents(underlying, { openAt, closeAt }));
      const intervalEnd = this.#newEventAt(this.#newEventCount + 1);
      for (let next = scheduled[0]; next !== undefined && next.openAt < intervalEnd; next = scheduled[0]) {
        this.#add(this.#createScheduledEvents(next));
        scheduled.shift();
      }
    }
  }

  #add(events: readonly ListedEvent[]): void {
    for (const event of events) this.#eventsByVenue[event.venue].push(event);
  }

  /** Returns the scheduled events that open in [from, to), by opening time. */
  #listScheduledOpenings(from: number, to: number): ScheduledEvent[] {
    return listScheduledEvents(from, to + SCHEDULED_OPEN_MS_MAX)
      .filter(({ openAt }) => openAt >= from && openAt < to)
      .sort((a, b) => a.openAt - b.openAt);
  }

  /** Draws the times of an event that exists at genesis. It closes up to six months after or 30 days before genesis. */
  #initialTimes(underlying: number): EventTimes {
    const { seed, genesis } = this.#options;
    const horizonDraw = uniform(seed, underlying, Draw.horizonKind);
    const u = uniform(seed, underlying, Draw.horizon);
    const age = uniform(seed, underlying, Draw.age);
    if (horizonDraw < 0.15) {
      const closeAt = roundToHour(genesis - (0.02 + 29 * u) * DAY_MS);
      return { closeAt, openAt: Math.round(closeAt - (0.5 + 25 * age) * DAY_MS) };
    }
    let aheadMs: number;
    if (horizonDraw < 0.2) aheadMs = (3 + 57 * u) * MINUTE_MS;
    else if (horizonDraw < 0.3) aheadMs = (1 + 23 * u) * HOUR_MS;
    else if (horizonDraw < 0.42) aheadMs = (1 + 13 * u) * DAY_MS;
    else aheadMs = (16 + 164 * u * u) * DAY_MS;
    const closeAt =
      horizonDraw < 0.2 ? Math.round((genesis + aheadMs) / MINUTE_MS) * MINUTE_MS : roundToHour(genesis + aheadMs);
    // Questions about one day, such as the weather, are listed a few days before that day.
    const isDaily = horizonDraw >= 0.2 && horizonDraw < 0.3;
    return { closeAt, openAt: Math.round(genesis - (isDaily ? 0.2 + 3 * age : 1 + 44 * age) * DAY_MS) };
  }

  #newEventDurationMs(underlying: number): number {
    const { seed } = this.#options;
    const horizonDraw = uniform(seed, underlying, Draw.horizonKind);
    const u = uniform(seed, underlying, Draw.horizon);
    if (horizonDraw < 0.45) return (1 + 23 * u) * HOUR_MS;
    if (horizonDraw < 0.7) return (1 + 13 * u) * DAY_MS;
    return (16 + 104 * u) * DAY_MS;
  }

  #getRoundEvents(round: number): readonly ListedEvent[] {
    const cached = this.#eventsByRound.get(round);
    if (cached !== undefined) return cached;
    const start = round * ROUND_MS;
    const times = { openAt: start - ROUND_MS, closeAt: start + ROUND_MS };
    const underlying = FIRST_ROUND_UNDERLYING + (round % 4_000_000);
    const { seed } = this.#options;
    const definition = createQuarterHourRound({ seed, underlying, ...times });
    const process: OutcomeProcess = { seed, underlying, model: definition.model, ...toProcessTimes(times) };
    const events = (["kalshi", "polymarket", "limitless"] as const).map((venue) =>
      listOnVenue(venue, { number: underlying, definition, process, closeAt: times.closeAt, trap: null }),
    );
    this.#eventsByRound.set(round, events);
    return events;
  }

  #createDrawnEvents(underlying: number, times: EventTimes): ListedEvent[] {
    const drawn = this.#drawUniqueEvent(underlying, times);
    const share = underlying < WIDELY_LISTED_EVENT_COUNT ? LISTED_SHARE : LISTED_SHARE_OF_OTHER_EVENTS;
    return this.#listEvent(underlying, { ...times, closeAt: drawn.closeAt }, drawn.definition, share);
  }

  /** Draws an event again if it contradicts an earlier one, at most REDRAWS_MAX times. */
  #drawUniqueEvent(underlying: number, times: EventTimes): DrawnEvent {
    const { seed } = this.#options;
    for (let redraw = 0; ; redraw++) {
      const drawn = drawEvent({ seed, underlying, choice: underlying + redraw * REDRAW_OFFSET, ...times });
      if (redraw === REDRAWS_MAX || !this.#isTaken(drawn.definition, times.openAt)) return drawn;
    }
  }

  /** Reserves the identity until a day after the close, because an event about a day can close before the day ends. */
  #claim({ identity }: EventDefinition, closeAt: number): void {
    this.#identities.set(identity, closeAt + DAY_MS);
  }

  #isTaken({ identity }: EventDefinition, openAt: number): boolean {
    return (this.#identities.get(identity) ?? Number.NEGATIVE_INFINITY) >= openAt;
  }

  #createScheduledEvents(scheduled: ScheduledEvent): ListedEvent[] {
    const underlying = FIRST_SCHEDULED_UNDERLYING + scheduled.number;
    const definition = createScheduledEvent(scheduled, { seed: this.#options.seed, underlying });
    return this.#listEvent(underlying, scheduled, definition, LISTED_SHARE);
  }

  /** Lists an event on the venues that the shares select, and its trap if it has one. */
  #listEvent(
    underlying: number,
    times: EventTimes,
    definition: EventDefinition,
    share: Readonly<Record<SandboxVenue, number>>,
  ): ListedEvent[] {
    const { seed } = this.#options;
    const venues = this.#drawVenues(underlying, share);
    this.#claim(definition, times.closeAt);
    const process: OutcomeProcess = { seed, underlying, model: definition.model, ...toProcessTimes(times) };
    const listing = { number: underlying, definition, process, closeAt: times.closeAt, trap: null };
    const events = venues.map((venue) => listOnVenue(venue, listing));
    const trap = this.#drawTrap(underlying, definition, times);
    if (trap === null) return events;
    const trapVenue = this.#drawTrapVenue(underlying, venues, share);
    return [...events, this.#listTrap(trapVenue, process, trap)];
  }

  /**
   * Draws whether an event has a trap, and selects the possible kind with the fewest traps. For each kind, the first
   * event open at genesis that can have such a trap has one, so that small worlds have all kinds.
   */
  #drawTrap(underlying: number, definition: EventDefinition, { openAt, closeAt }: EventTimes): TrapDefinition | null {
    const { seed, genesis } = this.#options;
    const isDrawn = uniform(seed, underlying, Draw.hasTrap) < TRAP_SHARE;
    const isOpen = closeAt > genesis + HOUR_MS;
    if (!isDrawn && (!isOpen || this.#trapCounts.size === TRAP_KINDS.length)) return null;
    const countOf = ({ kind }: TrapDefinition) => this.#trapCounts.get(kind) ?? 0;
    const rankOf = ({ kind }: TrapDefinition) => hashKeys(seed, underlying, Draw.trapKind, TRAP_KINDS.indexOf(kind));
    const [trap = null] = (definition.traps?.() ?? [])
      .filter(({ event, sharesProcess }) => sharesProcess || !this.#isTaken(event, openAt))
      .sort((a, b) => countOf(a) - countOf(b) || rankOf(a) - rankOf(b));
    if (trap === null || (!isDrawn && countOf(trap) > 0)) return null;
    if (isOpen) this.#trapCounts.set(trap.kind, countOf(trap) + 1);
    return trap;
  }

  /**
   * Draws the venue of a trap. If only one venue lists the original, it is another venue, because pairs span two
   * venues.
   */
  #drawTrapVenue(
    underlying: number,
    venues: readonly SandboxVenue[],
    share: Readonly<Record<SandboxVenue, number>>,
  ): SandboxVenue {
    const { seed } = this.#options;
    const others = SANDBOX_VENUES.filter((venue) => share[venue] > 0 && !venues.includes(venue));
    const isElsewhere =
      others.length > 0 && (venues.length === 1 || uniform(seed, underlying, Draw.trapVenue) < TRAP_ELSEWHERE_SHARE);
    const choices = isElsewhere ? others : venues;
    return choices[hashKeys(seed, underlying, Draw.trapVenue, 1) % choices.length] ?? "polymarket";
  }

  #listTrap(venue: SandboxVenue, original: OutcomeProcess, trap: TrapDefinition): ListedEvent {
    const { kind, event: definition, sharesProcess } = trap;
    const closeAt = trap.closeAt ?? original.revealAt;
    const number = original.underlying + TRAP_NUMBER_OFFSET;
    if (!sharesProcess) this.#claim(definition, closeAt);
    const process: OutcomeProcess = sharesProcess
      ? // The deadlines of a trap can be after the close of the original event.
        closeAt > original.revealAt
        ? { ...original, revealAt: closeAt }
        : original
      : { ...original, underlying: number, model: definition.model, revealAt: closeAt };
    return listOnVenue(venue, { number, definition, process, closeAt, trap: { kind, original: original.underlying } });
  }

  /** Draws the venues that list an event: at least one with real money. */
  #drawVenues(underlying: number, share: Readonly<Record<SandboxVenue, number>>): SandboxVenue[] {
    const venues = SANDBOX_VENUES.filter(
      (venue, index) => uniform(this.#options.seed, underlying, Draw.listed, index) < share[venue],
    );
    return venues.some((venue) => venue !== "manifold") ? venues : [...venues, "polymarket"];
  }
}

const toProcessTimes = ({ openAt, closeAt }: EventTimes) => ({ openAt, revealAt: closeAt });

const roundToHour = (at: number): number => Math.round(at / HOUR_MS) * HOUR_MS;

/** Returns the offset of the quote slots of an event's markets, as a share of an hour; in [0, 1). */
export function quoteSlotOffset(seed: number, event: ListedEvent): number {
  return hashKeys(seed, event.index, Draw.quoteSlotOffset) / 4294967296;
}
