import type { ListedEvent, ListedMarket, World, WorldOutcome } from "../../world/types.ts";
import type { Now } from "../exchange.ts";
import { manifoldAnswerId, manifoldContractId, manifoldSlug, slugify } from "./ids.ts";

/** Manifold lets nobody push a probability beyond these. */
const PROBABILITY_MIN = 0.01;
const PROBABILITY_MAX = 0.99;
/** So many users ask all the questions. */
const CREATORS = 97;
/** Mana that the creator puts in, and that the house adds for each trader. */
const ANTE = 1_000;
const LIQUIDITY_PER_TRADER = 20;

/** The unchanging part of a contract. */
export interface Contract {
  readonly id: string;
  readonly slug: string;
  readonly event: ListedEvent;
  /** One market of its own, or a group with an answer for each. */
  readonly isMultiple: boolean;
  /** Answers exclude each other and one must win. */
  readonly sumsToOne: boolean;
  readonly groupSlugs: readonly string[];
  readonly answerIds: ReadonlyMap<ListedMarket, string>;
}

/** How one question stands as Manifold tells it: open or resolved, nothing between. */
export interface Resolution {
  readonly resolution: "YES" | "NO" | "MKT" | "CANCEL";
  readonly resolutionTime: number;
  /** What a MKT resolution pays, else what the market thought before. */
  readonly resolutionProbability: number;
}

/** Finds contracts by id, slug or market; grows as the world does. */
export class Contracts {
  readonly #world: World;
  readonly #now: Now;
  readonly #byId = new Map<string, Contract>();
  readonly #bySlug = new Map<string, Contract>();
  readonly #byEvent = new Map<ListedEvent, Contract>();
  readonly #marketByIndex = new Map<number, ListedMarket>();
  #listed: { readonly events: readonly ListedEvent[]; readonly contracts: readonly Contract[] } | null = null;

  constructor(world: World, now: Now) {
    this.#world = world;
    this.#now = now;
  }

  /** All contracts listed now, oldest first. */
  list(): readonly Contract[] {
    const events = this.#world.events("manifold", this.#now());
    if (this.#listed?.events !== events) {
      this.#listed = { events, contracts: events.map((event) => this.of(event)) };
    }
    return this.#listed.contracts;
  }

  of(event: ListedEvent): Contract {
    const known = this.#byEvent.get(event);
    if (known !== undefined) return known;
    const contract: Contract = {
      id: manifoldContractId(event),
      slug: manifoldSlug(event),
      event,
      isMultiple: event.recorded === undefined ? event.markets.length > 1 : event.recorded.eventId !== null,
      sumsToOne: event.mutuallyExclusive && event.exhaustive,
      groupSlugs: [...new Set([topicOf(event.category), ...event.tags.map(slugify)])],
      answerIds: new Map(event.markets.map((market) => [market, manifoldAnswerId(market)])),
    };
    this.#byEvent.set(event, contract);
    this.#byId.set(contract.id, contract);
    this.#bySlug.set(contract.slug, contract);
    for (const market of event.markets) this.#marketByIndex.set(market.index, market);
    return contract;
  }

  findById(id: string): Contract | null {
    if (!this.#byId.has(id)) this.list();
    return this.#byId.get(id) ?? null;
  }

  findBySlug(slug: string): Contract | null {
    if (!this.#bySlug.has(slug)) this.list();
    return this.#bySlug.get(slug) ?? null;
  }

  findMarket(index: number): ListedMarket | null {
    if (!this.#marketByIndex.has(index)) this.list();
    return this.#marketByIndex.get(index) ?? null;
  }
}

/** Number of the user who asked this question. */
export function creatorOf(event: ListedEvent): number {
  return event.index % CREATORS;
}

/** Manifold's large topic for a category. */
function topicOf(category: string): string {
  if (category === "Tech") return "technology-default";
  if (category === "Crypto") return "crypto-speculation";
  if (category === "Weather") return "weather";
  return `${slugify(category)}-default`;
}

/** Probability that Manifold shows while nothing is resolved. */
export function manifoldProbability(world: World, market: ListedMarket, at: number): number {
  const probability = world.probability(market, at);
  if (probability === null) throw new Error("a contract is listed only where its probability is known");
  // What is recorded is what was shown.
  if (market.recorded !== undefined) return probability;
  return Math.min(PROBABILITY_MAX, Math.max(PROBABILITY_MIN, probability));
}

/**
 * The creator resolves as soon as the result is proposed. A result that is disputed is taken back (un-resolved) until it
 * is settled for good.
 */
export function resolutionOf(world: World, market: ListedMarket, at: number): Resolution | null {
  const { phase, outcome } = world.lifecycle(market, at);
  if (outcome === null || (phase !== "determined" && phase !== "finalized")) return null;
  const before = manifoldProbability(world, market, at);
  return {
    resolution: wordOf(outcome),
    resolutionTime: phase === "finalized" && market.disputed ? market.finalizeAt : market.determineAt,
    resolutionProbability: outcome.kind === "partial" ? outcome.value : before,
  };
}

function wordOf(outcome: WorldOutcome): Resolution["resolution"] {
  if (outcome.kind === "yes") return "YES";
  if (outcome.kind === "no") return "NO";
  return outcome.kind === "partial" ? "MKT" : "CANCEL";
}

/** When trading ends: as announced, or when it really did. The contract has one such time for all its answers. */
export function closeTimeOf(world: World, contract: Contract, at: number): number {
  let closeTime = 0;
  for (const market of contract.event.markets) {
    const { phase } = world.lifecycle(market, at);
    const hasEnded = phase !== "pending" && phase !== "active" && phase !== "paused";
    const before = hasEnded ? world.lifecycle(market, market.determineAt - 1) : null;
    // Recorded questions may go from open to resolved at once.
    const endedAt =
      before === null ? market.closeAt : before.phase === "closed" ? before.since : Math.min(at, market.determineAt);
    closeTime = Math.max(closeTime, Math.min(endedAt, market.closeAt));
  }
  return closeTime;
}

/**
 * Reserves of a constant-product pool with p = 0.5 that show this probability: NO / (YES + NO) = probability and
 * sqrt(YES * NO) = liquidity.
 */
export function poolOf(probability: number, liquidity: number): { YES: number; NO: number } {
  const odds = Math.sqrt(probability / (1 - probability));
  return { YES: liquidity / odds, NO: liquidity * odds };
}

export function liquidityOf(traderCount: number | null): number {
  return ANTE + LIQUIDITY_PER_TRADER * (traderCount ?? 0);
}
