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

export interface UniverseOptions {
  readonly seed: number;
  /** Unix milliseconds; the sandbox's first start. */
  readonly genesis: number;
  /** Open markets wanted on the three money venues together. */
  readonly marketCount: number;
}

/** Share of real-world events that each venue lists. */
const LISTED_SHARE: Readonly<Record<SandboxVenue, number>> = {
  kalshi: 0.65,
  polymarket: 0.75,
  limitless: 0.4,
  manifold: 0.3,
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
  readonly #secrets = new WeakMap<ListedMarket, MarketSecret>();
  readonly #events: Record<SandboxVenue, ListedEvent[]> = { kalshi: [], polymarket: [], limitless: [], manifold: [] };
  readonly #rounds = new Map<number, readonly ListedEvent[]>();
  readonly #stock: number;
  #arrived = 0;

  constructor(options: UniverseOptions) {
    this.#options = options;
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
    const secret = this.#secrets.get(market);
    if (secret === undefined) throw new Error("this market belongs to another world");
    return secret;
  }

  /** Listed by `at` and not settled for longer than it is kept; oldest first. */
  events(venue: SandboxVenue, at: number): ListedEvent[] {
    this.#growTo(at);
    const shown = this.#events[venue].filter((event) => event.openAt <= at && this.#isKept(event, at, SETTLED_KEPT_MS));
    const first = Math.floor((at - ROUND_KEPT_MS) / ROUND_MS);
    const last = Math.floor(at / ROUND_MS) + 1;
    for (let round = first; round <= last; round++) {
      for (const event of this.#round(round)) {
        if (event.venue === venue && event.openAt <= at && this.#isKept(event, at, ROUND_KEPT_MS)) shown.push(event);
      }
    }
    for (const known of this.#rounds.keys()) if (known < first - 1) this.#rounds.delete(known);
    return shown;
  }

  #isKept(event: ListedEvent, at: number, keptMs: number): boolean {
    return event.markets.some((market) => at < market.finalizeAt + keptMs);
  }

  /** Adds the events that opened up to `at`. */
  #growTo(at: number): void {
    const { genesis, marketCount } = this.#options;
    const everyMs = Math.max(MINUTE_MS, (45 * MINUTE_MS * 400) / marketCount);
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
    return this.#venuesOf(underlying, isRound).map((venue) => this.#list(venue, occasion, blueprint, source));
  }

  #venuesOf(underlying: number, isRound: boolean): SandboxVenue[] {
    if (isRound) return ["kalshi", "polymarket", "limitless"];
    const { seed } = this.#options;
    const venues = SANDBOX_VENUES.filter(
      (venue, index) => uniform(seed, underlying, Draw.listed, index) < LISTED_SHARE[venue],
    );
    return venues.some((venue) => venue !== "manifold") ? venues : [...venues, "polymarket"];
  }

  #list(venue: SandboxVenue, occasion: Occasion, blueprint: Blueprint, source: TruthSource): ListedEvent {
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
      const market: ListedMarket = {
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
      this.#secrets.set(market, { source, claim: leg.claim, endsAt });
      markets.push(market);
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
