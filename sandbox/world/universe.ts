import { hashKeys, uniform } from "./random.ts";
import { type Blueprint, drawBlueprint, type Occasion, quarterHourRound } from "./templates.ts";
import { type Claim, happensAt, type TruthSource } from "./truth.ts";
import { type ListedEvent, type ListedMarket, SANDBOX_VENUES, type SandboxVenue } from "./types.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const ROUND_MS = 15 * MINUTE_MS;
const ROUNDS_FIRST_UNDERLYING = 1_000_000;
/** Rounds are many and short: they are listed one round ahead and shown for six hours after. */
const ROUND_KEPT_MS = 6 * HOUR_MS;
const SETTLED_KEPT_MS = 30 * DAY_MS;
const POSITIONS_MAX = 64;

/** What the world knows of a market beyond what a venue shows. */
export interface MarketSecret {
  readonly source: TruthSource;
  readonly claim: Claim;
  /** Trading really ends: at the scheduled close, or as soon as the awaited thing happens. */
  readonly endsAt: number;
}

/** A listed market as the world itself holds it; what it knows beyond the listing is out of sight of the venues. */
class WorldMarket implements ListedMarket {
  readonly venue: ListedMarket["venue"];
  readonly event: ListedMarket["event"];
  readonly index: ListedMarket["index"];
  readonly position: ListedMarket["position"];
  readonly question: ListedMarket["question"];
  readonly label: ListedMarket["label"];
  readonly rules: ListedMarket["rules"];
  readonly resolutionSource: ListedMarket["resolutionSource"];
  readonly strike: ListedMarket["strike"];
  readonly mechanism: ListedMarket["mechanism"];
  readonly tick: ListedMarket["tick"];
  readonly openAt: ListedMarket["openAt"];
  readonly closeAt: ListedMarket["closeAt"];
  readonly determineAt: ListedMarket["determineAt"];
  readonly disputed: ListedMarket["disputed"];
  readonly finalizeAt: ListedMarket["finalizeAt"];
  readonly #secret: MarketSecret;

  constructor(facts: ListedMarket, secret: MarketSecret) {
    this.venue = facts.venue;
    this.event = facts.event;
    this.index = facts.index;
    this.position = facts.position;
    this.question = facts.question;
    this.label = facts.label;
    this.rules = facts.rules;
    this.resolutionSource = facts.resolutionSource;
    this.strike = facts.strike;
    this.mechanism = facts.mechanism;
    this.tick = facts.tick;
    this.openAt = facts.openAt;
    this.closeAt = facts.closeAt;
    this.determineAt = facts.determineAt;
    this.disputed = facts.disputed;
    this.finalizeAt = facts.finalizeAt;
    this.#secret = secret;
  }

  static secretOf(market: ListedMarket): MarketSecret {
    if (!(#secret in market)) throw new Error("this market belongs to another world");
    return market.#secret;
  }
}

export interface UniverseOptions {
  readonly seed: number;
  /** Unix milliseconds; the sandbox's first start. */
  readonly genesis: number;
  /** Open markets wanted on the three money venues together. */
  readonly marketCount: number;
}

/** What a venue lists from one instant until before another. */
export interface Listing {
  readonly events: readonly ListedEvent[];
  readonly markets: readonly ListedMarket[];
  readonly from: number;
  readonly to: number;
}

/** Share of real-world events that each venue lists. */
const LISTED_SHARE: Readonly<Record<SandboxVenue, number>> = {
  kalshi: 0.65,
  polymarket: 0.75,
  limitless: 0.4,
  manifold: 0.3,
};

/**
 * A world of this many events is what all four venues compete for. What a larger one has besides is the long tail that
 * only the two large venues care for, in the proportion of their real sizes (some 200,000 open markets to 85,000).
 */
const CONTESTED_EVENTS = 2_000;
const LISTED_SHARE_OF_TAIL: Readonly<Record<SandboxVenue, number>> = {
  kalshi: 0.38,
  polymarket: 0.72,
  limitless: 0,
  manifold: 0.02,
};

const Draw = {
  horizon: 1,
  opened: 2,
  listed: 3,
  disputed: 4,
  amm: 5,
  tick: 6,
  delay: 7,
  featured: 8,
  leg: 9,
  settled: 10,
} as const;

/**
 * All events of the world. The stock at genesis is drawn until the wanted number of markets is open; after that a new
 * event opens at fixed intervals, and a quarter-hour round begins every fifteen minutes, for ever.
 */
export class Universe {
  readonly #options: UniverseOptions;
  readonly #events: Record<SandboxVenue, ListedEvent[]> = { kalshi: [], polymarket: [], limitless: [], manifold: [] };
  readonly #rounds = new Map<number, readonly ListedEvent[]>();
  readonly #stock: number;
  readonly #arrivalEveryMs: number;
  readonly #listings = new Map<SandboxVenue, Listing>();
  #arrived = 0;

  constructor(options: UniverseOptions) {
    this.#options = options;
    this.#arrivalEveryMs = Math.max(MINUTE_MS, (45 * MINUTE_MS * 400) / options.marketCount);
    let open = 0;
    let underlying = 0;
    while (open < options.marketCount * 1.15) {
      for (const event of this.#create(underlying, this.#stockOccasion(underlying))) {
        this.#events[event.venue].push(event);
        if (event.venue !== "manifold")
          open += event.markets.filter((market) => this.secret(market).endsAt > options.genesis).length;
      }
      underlying += 1;
    }
    this.#stock = underlying;
    for (const venue of SANDBOX_VENUES) this.#events[venue].sort((a, b) => a.openAt - b.openAt || a.index - b.index);
  }

  secret(market: ListedMarket): MarketSecret {
    return WorldMarket.secretOf(market);
  }

  /**
   * Listed by `at` and not settled for longer than it is kept; oldest first. The same list is given, and not a copy, for
   * as long as nothing is added or taken away.
   */
  events(venue: SandboxVenue, at: number): Listing {
    const known = this.#listings.get(venue);
    if (known !== undefined && at >= known.from && at < known.to) return known;
    const listing = this.#list(venue, at);
    this.#listings.set(venue, listing);
    return listing;
  }

  #list(venue: SandboxVenue, at: number): Listing {
    this.#growTo(at);
    const events: ListedEvent[] = [];
    // A list changes when a round begins, an event arrives, one of those to come opens or one that is shown is let go.
    let to = Math.min((Math.floor(at / ROUND_MS) + 1) * ROUND_MS, this.#arrivalAt(this.#arrived + 1));
    const show = (event: ListedEvent, keptMs: number) => {
      if (event.openAt > at) {
        to = Math.min(to, event.openAt);
        return;
      }
      const until = this.#finalizedAt(event) + keptMs;
      if (at >= until) return;
      events.push(event);
      to = Math.min(to, until);
    };
    for (const event of this.#events[venue]) show(event, SETTLED_KEPT_MS);
    const first = Math.floor((at - ROUND_KEPT_MS) / ROUND_MS);
    const last = Math.floor(at / ROUND_MS) + 1;
    for (let round = first; round <= last; round++) {
      for (const event of this.#round(round)) if (event.venue === venue) show(event, ROUND_KEPT_MS);
    }
    for (const known of this.#rounds.keys()) if (known < first - 1) this.#rounds.delete(known);
    return { events, markets: events.flatMap((event) => event.markets), from: at, to };
  }

  #finalizedAt(event: ListedEvent): number {
    return event.markets.reduce((latest, market) => Math.max(latest, market.finalizeAt), 0);
  }

  #arrivalAt(number: number): number {
    return this.#options.genesis + number * this.#arrivalEveryMs;
  }

  /** Adds the events that opened up to `at`. */
  #growTo(at: number): void {
    const { genesis } = this.#options;
    const everyMs = this.#arrivalEveryMs;
    const wanted = Math.floor((at - genesis) / everyMs);
    while (this.#arrived < wanted) {
      this.#arrived += 1;
      const underlying = this.#stock + this.#arrived;
      const openAt = Math.round(genesis + this.#arrived * everyMs);
      const closeAt = roundedClose(openAt + this.#newHorizonMs(underlying));
      for (const event of this.#create(underlying, { openAt, closeAt })) this.#events[event.venue].push(event);
    }
  }

  /** Opening and close of an event of the stock, seen from genesis: minutes to months ahead, or settled lately. */
  #stockOccasion(underlying: number): { openAt: number; closeAt: number } {
    const { seed, genesis } = this.#options;
    const kind = uniform(seed, underlying, Draw.settled);
    const u = uniform(seed, underlying, Draw.horizon);
    const opened = uniform(seed, underlying, Draw.opened);
    if (kind < 0.15) {
      const closeAt = roundedClose(genesis - (0.02 + 29 * u) * DAY_MS);
      return { closeAt, openAt: Math.round(closeAt - (0.5 + 25 * opened) * DAY_MS) };
    }
    let ahead: number;
    if (kind < 0.2) ahead = (3 + 57 * u) * MINUTE_MS;
    else if (kind < 0.28) ahead = (1 + 23 * u) * HOUR_MS;
    else if (kind < 0.42) ahead = (1 + 13 * u) * DAY_MS;
    else ahead = (16 + 164 * u * u) * DAY_MS;
    const closeAt = kind < 0.2 ? Math.round((genesis + ahead) / MINUTE_MS) * MINUTE_MS : roundedClose(genesis + ahead);
    return { closeAt, openAt: Math.round(genesis - (1 + 44 * opened) * DAY_MS) };
  }

  #newHorizonMs(underlying: number): number {
    const { seed } = this.#options;
    const kind = uniform(seed, underlying, Draw.settled);
    const u = uniform(seed, underlying, Draw.horizon);
    if (kind < 0.45) return (1 + 23 * u) * HOUR_MS;
    if (kind < 0.7) return (1 + 13 * u) * DAY_MS;
    return (16 + 104 * u) * DAY_MS;
  }

  #round(round: number): readonly ListedEvent[] {
    const known = this.#rounds.get(round);
    if (known !== undefined) return known;
    const start = round * ROUND_MS;
    const events = this.#create(
      ROUNDS_FIRST_UNDERLYING + (round % 4_000_000),
      { openAt: start - ROUND_MS, closeAt: start + ROUND_MS },
      true,
    );
    this.#rounds.set(round, events);
    return events;
  }

  #create(underlying: number, times: { openAt: number; closeAt: number }, isRound = false): ListedEvent[] {
    const occasion: Occasion = { seed: this.#options.seed, underlying, ...times };
    const blueprint = isRound ? quarterHourRound(occasion) : drawBlueprint(occasion);
    const source: TruthSource = {
      seed: this.#options.seed,
      underlying,
      truth: blueprint.truth,
      openAt: times.openAt,
      revealAt: times.closeAt,
    };
    return this.#venuesOf(underlying, isRound).map((venue) => this.#listOn(venue, occasion, blueprint, source));
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

  #listOn(venue: SandboxVenue, occasion: Occasion, blueprint: Blueprint, source: TruthSource): ListedEvent {
    const { seed, underlying } = occasion;
    const index = underlying * SANDBOX_VENUES.length + SANDBOX_VENUES.indexOf(venue);
    const markets: ListedMarket[] = [];
    const happens = happensAt(source);
    const lastEndsAt = Math.min(occasion.closeAt, happens);
    const event: ListedEvent = {
      venue,
      index,
      underlying,
      series: blueprint.series,
      seriesTitle: blueprint.seriesTitle,
      title: blueprint.titles[venue],
      description: blueprint.description,
      category: blueprint.category,
      tags: blueprint.tags,
      frequency: blueprint.frequency,
      mutuallyExclusive: blueprint.mutuallyExclusive,
      exhaustive: blueprint.exhaustive,
      ladder: blueprint.ladder,
      featured: venue === "polymarket" && uniform(seed, underlying, Draw.featured) < 0.08,
      openAt: occasion.openAt,
      closeAt: occasion.closeAt,
      markets,
    };
    const isAmm =
      venue === "manifold" ||
      (venue === "limitless" && blueprint.markets.length === 1 && uniform(seed, underlying, Draw.amm) < 0.15);
    const tick =
      venue === "limitless" || (venue === "polymarket" && uniform(seed, underlying, Draw.tick) < 0.3) ? 0.001 : 0.01;
    const isQuick = blueprint.frequency === "fifteen_min";
    const disputed = !isQuick && uniform(seed, index, Draw.disputed) < 0.06;
    const delay = uniform(seed, index, Draw.delay);
    blueprint.markets.slice(0, POSITIONS_MAX).forEach((leg, position) => {
      // A ladder is rarely listed whole: a venue may leave out one of its ends.
      if (
        blueprint.ladder &&
        position > 0 &&
        position === blueprint.markets.length - 1 &&
        uniform(seed, index, Draw.leg) < 0.25
      )
        return;
      const closeAt = leg.claim.kind === "before" ? leg.claim.deadline : occasion.closeAt;
      const endsAt = leg.claim.kind === "before" ? Math.min(closeAt, happens) : Math.min(closeAt, lastEndsAt);
      const determineAt = Math.round(endsAt + (isQuick ? 15_000 : (1 + 29 * delay) * MINUTE_MS));
      const facts: ListedMarket = {
        venue,
        event,
        index: index * POSITIONS_MAX + position,
        position,
        question: leg.questions[venue],
        label: leg.label,
        rules: leg.rules,
        resolutionSource: blueprint.source,
        strike: leg.strike,
        mechanism: isAmm ? "amm" : "clob",
        tick,
        openAt: occasion.openAt,
        closeAt,
        determineAt,
        disputed,
        finalizeAt: determineAt + (isQuick ? 30_000 : Math.round((disputed ? 150 : 5 + 55 * delay) * MINUTE_MS)),
      };
      markets.push(new WorldMarket(facts, { source, claim: leg.claim, endsAt }));
    });
    return event;
  }
}

/** Closes fall on whole hours, as venues have it. */
function roundedClose(at: number): number {
  return Math.round(at / HOUR_MS) * HOUR_MS;
}

/** Phase of the quote grid of a market, in [0, 1) of a slot; the same for all markets of one listing. */
export function gridPhase(seed: number, event: ListedEvent): number {
  return hashKeys(seed, event.index, 11) / 4294967296;
}
