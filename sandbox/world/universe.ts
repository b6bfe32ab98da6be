import { hashKeys, uniform } from "./random.ts";
import { drawEvent, type EventDefinition, quarterHourRound, type TemplateInput } from "./templates/index.ts";
import { type OutcomeProcess, occursAt, type ResolutionCriterion } from "./truth.ts";
import { type ListedEvent, type ListedMarket, SANDBOX_VENUES, type SandboxVenue } from "./types.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const ROUND_MS = 15 * MINUTE_MS;
/** Event numbers of rounds start here. */
const FIRST_ROUND_UNDERLYING = 1_000_000;
/** How long rounds and other events stay listed after they are finalized. */
const ROUND_LISTED_MS = 6 * HOUR_MS;
const FINALIZED_LISTED_MS = 30 * DAY_MS;
const MARKETS_PER_EVENT_MAX = 64;

/** The simulated facts behind a market. Venues do not publish them. */
export interface GroundTruth {
  readonly process: OutcomeProcess;
  readonly criterion: ResolutionCriterion;
  /** When trading ends: at the scheduled close, or earlier if the event occurs. */
  readonly tradingEndsAt: number;
}

/** Module-private key of the ground truth in a market, so that venues cannot read it. */
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

/** The listing of a venue, valid for from <= time < to. */
export interface Listing {
  readonly events: readonly ListedEvent[];
  readonly markets: readonly ListedMarket[];
  readonly from: number;
  readonly to: number;
}

/** Share of the contested events that each venue lists. */
const LISTED_SHARE: Readonly<Record<SandboxVenue, number>> = {
  kalshi: 0.65,
  polymarket: 0.75,
  limitless: 0.4,
  manifold: 0.3,
};

/**
 * All four venues compete for the first events. The rest is a long tail that the two large venues list almost alone, in
 * proportion to their real sizes (about 200,000 open markets on Polymarket, 85,000 on Kalshi).
 */
const CONTESTED_EVENTS = 2_000;
const LISTED_SHARE_OF_TAIL: Readonly<Record<SandboxVenue, number>> = {
  kalshi: 0.38,
  polymarket: 0.72,
  limitless: 0,
  manifold: 0.02,
};

/** Hash key per kind of random draw. */
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
 * All events of the world. Initial events are created until enough markets are open at genesis. After genesis a new event
 * opens at fixed intervals, and a round starts every fifteen minutes.
 */
export class Universe {
  readonly #options: UniverseOptions;
  readonly #events: Record<SandboxVenue, ListedEvent[]> = { kalshi: [], polymarket: [], limitless: [], manifold: [] };
  readonly #rounds = new Map<number, readonly ListedEvent[]>();
  readonly #initialEvents: number;
  readonly #newEventEveryMs: number;
  readonly #listings = new Map<SandboxVenue, Listing>();
  /** Number of events added after genesis. */
  #newEvents = 0;

  constructor(options: UniverseOptions) {
    this.#options = options;
    this.#newEventEveryMs = Math.max(MINUTE_MS, (45 * MINUTE_MS * 400) / options.marketCount);
    let openMarkets = 0;
    let underlying = 0;
    while (openMarkets < options.marketCount * 1.15) {
      for (const event of this.#create(underlying, this.#initialTimes(underlying))) {
        this.#events[event.venue].push(event);
        if (event.venue === "manifold") continue;
        openMarkets += event.markets.filter(
          (market) => this.groundTruth(market).tradingEndsAt > options.genesis,
        ).length;
      }
      underlying += 1;
    }
    this.#initialEvents = underlying;
    for (const venue of SANDBOX_VENUES) this.#events[venue].sort((a, b) => a.openAt - b.openAt || a.index - b.index);
  }

  /** @throws Error when the market does not belong to a simulated world */
  groundTruth(market: ListedMarket): GroundTruth {
    if (!(truthKey in market)) throw new Error("the market does not belong to a simulated world");
    return (market as SimulatedMarket)[truthKey];
  }

  /**
   * Events listed by `at` and not finalized for too long; oldest first. Returns the same object until the listing
   * changes.
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
    let to = Math.min((Math.floor(at / ROUND_MS) + 1) * ROUND_MS, this.#newEventAt(this.#newEvents + 1));
    const addIfListed = (event: ListedEvent, listedMs: number) => {
      if (event.openAt > at) {
        to = Math.min(to, event.openAt);
        return;
      }
      const until = Math.max(...event.markets.map((market) => market.finalizeAt)) + listedMs;
      if (at >= until) return;
      events.push(event);
      to = Math.min(to, until);
    };
    for (const event of this.#events[venue]) addIfListed(event, FINALIZED_LISTED_MS);
    const first = Math.floor((at - ROUND_LISTED_MS) / ROUND_MS);
    const last = Math.floor(at / ROUND_MS) + 1;
    for (let round = first; round <= last; round++) {
      for (const event of this.#round(round)) if (event.venue === venue) addIfListed(event, ROUND_LISTED_MS);
    }
    for (const round of this.#rounds.keys()) if (round < first - 1) this.#rounds.delete(round);
    return { events, markets: events.flatMap((event) => event.markets), from: at, to };
  }

  #newEventAt(number: number): number {
    return this.#options.genesis + number * this.#newEventEveryMs;
  }

  #addEventsUntil(at: number): void {
    const count = Math.floor((at - this.#options.genesis) / this.#newEventEveryMs);
    while (this.#newEvents < count) {
      this.#newEvents += 1;
      const underlying = this.#initialEvents + this.#newEvents;
      const openAt = Math.round(this.#newEventAt(this.#newEvents));
      const closeAt = roundToHour(openAt + this.#newEventDurationMs(underlying));
      for (const event of this.#create(underlying, { openAt, closeAt })) this.#events[event.venue].push(event);
    }
  }

  /** Times of an event that exists at genesis: it closes minutes to months later, or closed in the last 30 days. */
  #initialTimes(underlying: number): { openAt: number; closeAt: number } {
    const { seed, genesis } = this.#options;
    const kind = uniform(seed, underlying, Draw.horizonKind);
    const u = uniform(seed, underlying, Draw.horizon);
    const age = uniform(seed, underlying, Draw.age);
    if (kind < 0.15) {
      const closeAt = roundToHour(genesis - (0.02 + 29 * u) * DAY_MS);
      return { closeAt, openAt: Math.round(closeAt - (0.5 + 25 * age) * DAY_MS) };
    }
    let ahead: number;
    if (kind < 0.2) ahead = (3 + 57 * u) * MINUTE_MS;
    else if (kind < 0.28) ahead = (1 + 23 * u) * HOUR_MS;
    else if (kind < 0.42) ahead = (1 + 13 * u) * DAY_MS;
    else ahead = (16 + 164 * u * u) * DAY_MS;
    const closeAt = kind < 0.2 ? Math.round((genesis + ahead) / MINUTE_MS) * MINUTE_MS : roundToHour(genesis + ahead);
    return { closeAt, openAt: Math.round(genesis - (1 + 44 * age) * DAY_MS) };
  }

  #newEventDurationMs(underlying: number): number {
    const { seed } = this.#options;
    const kind = uniform(seed, underlying, Draw.horizonKind);
    const u = uniform(seed, underlying, Draw.horizon);
    if (kind < 0.45) return (1 + 23 * u) * HOUR_MS;
    if (kind < 0.7) return (1 + 13 * u) * DAY_MS;
    return (16 + 104 * u) * DAY_MS;
  }

  #round(round: number): readonly ListedEvent[] {
    const cached = this.#rounds.get(round);
    if (cached !== undefined) return cached;
    const start = round * ROUND_MS;
    const times = { openAt: start - ROUND_MS, closeAt: start + ROUND_MS };
    const events = this.#create(FIRST_ROUND_UNDERLYING + (round % 4_000_000), times, true);
    this.#rounds.set(round, events);
    return events;
  }

  #create(underlying: number, times: { openAt: number; closeAt: number }, isRound = false): ListedEvent[] {
    const input: TemplateInput = { seed: this.#options.seed, underlying, ...times };
    const definition = isRound ? quarterHourRound(input) : drawEvent(input);
    const process: OutcomeProcess = {
      seed: this.#options.seed,
      underlying,
      model: definition.model,
      openAt: times.openAt,
      revealAt: times.closeAt,
    };
    return this.#venuesOf(underlying, isRound).map((venue) => this.#listOn(venue, definition, process));
  }

  #venuesOf(underlying: number, isRound: boolean): SandboxVenue[] {
    if (isRound) return ["kalshi", "polymarket", "limitless"];
    const { seed } = this.#options;
    const share = underlying < CONTESTED_EVENTS ? LISTED_SHARE : LISTED_SHARE_OF_TAIL;
    const venues = SANDBOX_VENUES.filter(
      (venue, index) => uniform(seed, underlying, Draw.listed, index) < share[venue],
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
    const disputed = !isRound && uniform(seed, index, Draw.disputed) < 0.06;
    const delay = uniform(seed, index, Draw.delay);
    const determineDelayMs = isRound ? 15_000 : (1 + 29 * delay) * MINUTE_MS;
    const finalizeDelayMs = isRound ? 30_000 : Math.round((disputed ? 150 : 5 + 55 * delay) * MINUTE_MS);
    // Venues differ in the ladders they list: some omit the last step.
    const omitsLast = definition.ladder && count > 1 && uniform(seed, index, Draw.omitLast) < 0.25;
    const listed = definition.markets.slice(0, omitsLast ? count - 1 : count).slice(0, MARKETS_PER_EVENT_MAX);
    for (const [position, market] of listed.entries()) {
      const { criterion } = market;
      const marketCloseAt = criterion.kind === "before" ? criterion.deadline : closeAt;
      const tradingEndsAt = Math.min(marketCloseAt, occursAt(process));
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
        disputed,
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

/** Offset of the quote slots of an event's markets, in [0, 1). */
export function slotPhase(seed: number, event: ListedEvent): number {
  return hashKeys(seed, event.index, Draw.slotPhase) / 4294967296;
}
