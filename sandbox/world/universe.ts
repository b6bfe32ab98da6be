import { hashKeys, uniform } from "./random.ts";
import {
  createQuarterHourRound,
  createScheduledEvent,
  drawEvent,
  type EventDefinition,
  listScheduledEvents,
  SCHEDULED_OPEN_MS_MAX,
  type ScheduledEvent,
} from "./templates/index.ts";
import { type OutcomeProcess, occurrenceTimeOf, type ResolutionCriterion } from "./truth.ts";
import { type ListedEvent, type ListedMarket, SANDBOX_VENUES, type SandboxVenue } from "./types.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const ROUND_MS = 15 * MINUTE_MS;
/** Event number of the first 15-minute round. */
const FIRST_ROUND_UNDERLYING = 1_000_000;
/** Event number of the first event of a calendar. */
const FIRST_SCHEDULED_UNDERLYING = 900_000;
/** Maximum share of the markets open at genesis that belong to events of a calendar. */
const SCHEDULED_SHARE_MAX = 0.4;
/** How long 15-minute rounds stay listed after they are finalized. */
const ROUND_LISTED_MS = 6 * HOUR_MS;
/** How long all other events stay listed after they are finalized. */
const FINALIZED_LISTED_MS = 30 * DAY_MS;
const MARKETS_PER_EVENT_MAX = 64;

/** The simulated process that determines a market's outcome. Venues do not publish it. */
export interface GroundTruth {
  readonly process: OutcomeProcess;
  readonly criterion: ResolutionCriterion;
  /** When trading ends: at the scheduled close, or earlier if the event occurs. */
  readonly tradingEndsAt: number;
}

/** Key of a market's ground truth. It is not exported, so that venues cannot read the ground truth. */
const truthKey = Symbol("ground truth");

interface SimulatedMarket extends ListedMarket {
  readonly [truthKey]: GroundTruth;
}

export interface UniverseOptions {
  /** 32-bit integer. */
  readonly seed: number;
  /** Unix milliseconds of the sandbox's first start. */
  readonly genesis: number;
  /** Minimum number of open markets at genesis on the three real-money venues together. */
  readonly marketCount: number;
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

/** Hash keys by purpose of the random number. */
const Draw = {
  horizon: 1,
  age: 2,
  listed: 3,
  disputed: 4,
  amm: 5,
  tick: 6,
  delay: 7,
  featured: 8,
  omitLast: 9,
  horizonKind: 10,
  slotPhase: 11,
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
          (market) => this.groundTruth(market).tradingEndsAt > options.genesis,
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

  /** @throws Error when the market does not belong to a simulated world */
  groundTruth(market: ListedMarket): GroundTruth {
    if (!(truthKey in market)) throw new Error("the market does not belong to a simulated world");
    return (market as SimulatedMarket)[truthKey];
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
   * Adds the events that open up to `at`. Scheduled events of an interval are added at its start, before they open, so
   * that the listing of a time does not depend on the times that were read before.
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
  #initialTimes(underlying: number): { openAt: number; closeAt: number } {
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
    else if (horizonDraw < 0.28) aheadMs = (1 + 23 * u) * HOUR_MS;
    else if (horizonDraw < 0.42) aheadMs = (1 + 13 * u) * DAY_MS;
    else aheadMs = (16 + 164 * u * u) * DAY_MS;
    const closeAt =
      horizonDraw < 0.2 ? Math.round((genesis + aheadMs) / MINUTE_MS) * MINUTE_MS : roundToHour(genesis + aheadMs);
    return { closeAt, openAt: Math.round(genesis - (1 + 44 * age) * DAY_MS) };
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
    const definition = createQuarterHourRound({ seed: this.#options.seed, underlying, ...times });
    const events = this.#listEvent(underlying, times, definition, ["kalshi", "polymarket", "limitless"]);
    this.#eventsByRound.set(round, events);
    return events;
  }

  #createDrawnEvents(underlying: number, times: { openAt: number; closeAt: number }): ListedEvent[] {
    const { definition, closeAt } = drawEvent({ seed: this.#options.seed, underlying, ...times });
    const share = underlying < WIDELY_LISTED_EVENT_COUNT ? LISTED_SHARE : LISTED_SHARE_OF_OTHER_EVENTS;
    return this.#listEvent(underlying, { ...times, closeAt }, definition, this.#drawVenues(underlying, share));
  }

  #createScheduledEvents(scheduled: ScheduledEvent): ListedEvent[] {
    const underlying = FIRST_SCHEDULED_UNDERLYING + scheduled.number;
    const definition = createScheduledEvent(scheduled, { seed: this.#options.seed, underlying });
    return this.#listEvent(underlying, scheduled, definition, this.#drawVenues(underlying, LISTED_SHARE));
  }

  #listEvent(
    underlying: number,
    { openAt, closeAt }: { openAt: number; closeAt: number },
    definition: EventDefinition,
    venues: readonly SandboxVenue[],
  ): ListedEvent[] {
    const { seed } = this.#options;
    const process: OutcomeProcess = { seed, underlying, model: definition.model, openAt, revealAt: closeAt };
    return venues.map((venue) => this.#listOn(venue, definition, process));
  }

  /** Draws the venues that list an event: at least one with real money. */
  #drawVenues(underlying: number, share: Readonly<Record<SandboxVenue, number>>): SandboxVenue[] {
    const venues = SANDBOX_VENUES.filter(
      (venue, index) => uniform(this.#options.seed, underlying, Draw.listed, index) < share[venue],
    );
    return venues.some((venue) => venue !== "manifold") ? venues : [...venues, "polymarket"];
  }

  #listOn(venue: SandboxVenue, definition: EventDefinition, process: OutcomeProcess): ListedEvent {
    const { seed, underlying, openAt, revealAt: closeAt } = process;
    const index = underlying * SANDBOX_VENUES.length + SANDBOX_VENUES.indexOf(venue);
    const markets: ListedMarket[] = [];
    const event: ListedEvent = {
      venue,
      index,
      underlying,
      series: definition.series,
      seriesTitle: definition.seriesTitle,
      title: definition.titles[venue],
      description: definition.description,
      category: definition.category,
      tags: definition.tags,
      frequency: definition.frequency,
      ...(definition.sides === undefined ? {} : { sides: definition.sides }),
      mutuallyExclusive: definition.mutuallyExclusive,
      exhaustive: definition.exhaustive,
      ladder: definition.ladder,
      featured: venue === "polymarket" && uniform(seed, underlying, Draw.featured) < 0.08,
      openAt,
      closeAt,
      markets,
    };
    const { length: count } = definition.markets;
    const isAmm =
      venue === "manifold" || (venue === "limitless" && count === 1 && uniform(seed, underlying, Draw.amm) < 0.15);
    const hasFineTick = venue === "limitless" || (venue === "polymarket" && uniform(seed, underlying, Draw.tick) < 0.3);
    const isRound = definition.frequency === "fifteen_min";
    const isDisputed = !isRound && uniform(seed, index, Draw.disputed) < 0.06;
    const delay = uniform(seed, index, Draw.delay);
    const determineDelayMs = isRound ? 15_000 : (1 + 29 * delay) * MINUTE_MS;
    const finalizeDelayMs = isRound ? 30_000 : Math.round((isDisputed ? 150 : 5 + 55 * delay) * MINUTE_MS);
    // Some venues omit the last threshold of a ladder, so that ladders differ between venues.
    const omitsLast = definition.ladder && count > 1 && uniform(seed, index, Draw.omitLast) < 0.25;
    const listedDefinitions = definition.markets
      .slice(0, omitsLast ? count - 1 : count)
      .slice(0, MARKETS_PER_EVENT_MAX);
    for (const [position, market] of listedDefinitions.entries()) {
      const { criterion } = market;
      const marketCloseAt = criterion.kind === "before" ? criterion.deadline : closeAt;
      const tradingEndsAt = Math.min(marketCloseAt, occurrenceTimeOf(process));
      const determineAt = Math.round(tradingEndsAt + determineDelayMs);
      const listedMarket: SimulatedMarket = {
        venue,
        event,
        index: index * MARKETS_PER_EVENT_MAX + position,
        position,
        question: market.questions[venue],
        label: market.label,
        rules: market.rules,
        resolutionSource: definition.source,
        strike: market.strike,
        mechanism: isAmm ? "amm" : "clob",
        tick: hasFineTick ? 0.001 : 0.01,
        openAt,
        closeAt: marketCloseAt,
        determineAt,
        disputed: isDisputed,
        finalizeAt: determineAt + finalizeDelayMs,
        [truthKey]: { process, criterion, tradingEndsAt },
      };
      markets.push(listedMarket);
    }
    return event;
  }
}

function roundToHour(at: number): number {
  return Math.round(at / HOUR_MS) * HOUR_MS;
}

/** Returns the offset of the quote slots of an event's markets, as a share of an hour; in [0, 1). */
export function slotPhase(seed: number, event: ListedEvent): number {
  return hashKeys(seed, event.index, Draw.slotPhase) / 4294967296;
}
