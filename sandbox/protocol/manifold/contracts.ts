import { clamp } from "../../../src/lib/numbers.ts";
import type { ListedEvent, ListedMarket, World } from "../../world/types.ts";
import type { Now } from "../exchange.ts";
import { manifoldAnswerId, manifoldContractId, slugify } from "./ids.ts";

/** Minimum and maximum probability of an open question at Manifold. */
const PROBABILITY_MIN = 0.01;
const PROBABILITY_MAX = 0.99;
/** Liquidity that the creator of a question provides. */
const ANTE_MANA = 1_000;
const LIQUIDITY_MANA_PER_TRADER = 20;

type OutcomeType = "BINARY" | "MULTIPLE_CHOICE" | "MULTI_NUMERIC" | "DATE";

export interface Contract {
  readonly id: string;
  readonly event: ListedEvent;
  readonly outcomeType: OutcomeType;
  /** Whether the contract has one answer per market of the event. */
  readonly isMultiple: boolean;
  /** Exactly one answer resolves YES. */
  readonly sumsToOne: boolean;
  readonly groupSlugs: readonly string[];
  readonly answerIds: ReadonlyMap<ListedMarket, string>;
}

export interface Resolution {
  readonly resolution: (typeof RESOLUTION_BY_OUTCOME_KIND)[keyof typeof RESOLUTION_BY_OUTCOME_KIND];
  readonly resolutionTime: number;
  /** Payout of a MKT resolution; otherwise the last probability before the resolution. */
  readonly resolutionProbability: number;
}

const RESOLUTION_BY_OUTCOME_KIND = { yes: "YES", no: "NO", partial: "MKT", void: "CANCEL" } as const;

export type Contracts = ReturnType<typeof createContracts>;

/** Finds contracts by id, including delisted ones. */
export function createContracts(world: World, now: Now) {
  const byId = new Map<string, Contract>();
  const byEvent = new Map<ListedEvent, Contract>();
  let current: { readonly events: readonly ListedEvent[]; readonly contracts: readonly Contract[] } | null = null;

  const getOrCreate = (event: ListedEvent): Contract => {
    const cached = byEvent.get(event);
    if (cached !== undefined) return cached;
    const isMultiple = event.recorded === undefined ? event.markets.length > 1 : event.recorded.eventId !== null;
    const contract: Contract = {
      id: manifoldContractId(event),
      event,
      outcomeType: isMultiple ? answerTypeOf(event) : "BINARY",
      isMultiple,
      sumsToOne: event.mutuallyExclusive && event.exhaustive,
      groupSlugs: [...new Set([topicOf(event.category), ...event.tags.map(slugify)])],
      answerIds: new Map(event.markets.map((market) => [market, manifoldAnswerId(market)])),
    };
    byEvent.set(event, contract);
    byId.set(contract.id, contract);
    return contract;
  };
  /** Returns the contracts that are listed now, oldest first. */
  const list = (): readonly Contract[] => {
    const events = world.events("manifold", now());
    if (current?.events !== events) current = { events, contracts: events.map(getOrCreate) };
    return current.contracts;
  };

  return {
    list,
    getOrCreate,
    findById(id: string): Contract | null {
      if (!byId.has(id)) list();
      return byId.get(id) ?? null;
    },
  };
}

/**
 * Exclusive ranges have numeric answers. Half of the ladders have numeric or date answers, the others named answers.
 */
function answerTypeOf(event: ListedEvent): OutcomeType {
  // When a market is first listed, the service has read rules only for numeric and date contracts. So a recorded
  // description implies such a contract.
  if (event.recorded !== undefined) return event.description === "" ? "MULTIPLE_CHOICE" : "MULTI_NUMERIC";
  const isNumber = event.markets.every(({ strike }) => strike !== null);
  if (!event.ladder) return isNumber ? "MULTI_NUMERIC" : "MULTIPLE_CHOICE";
  if (event.underlying % 2 === 1) return "MULTIPLE_CHOICE";
  return isNumber ? "MULTI_NUMERIC" : "DATE";
}

function topicOf(category: string): string {
  if (category === "Tech") return "technology-default";
  if (category === "Crypto") return "crypto-speculation";
  if (category === "Weather") return "weather";
  return `${slugify(category)}-default`;
}

export function manifoldProbability(world: World, market: ListedMarket, at: number): number {
  const probability = world.probability(market, at);
  if (probability === null) throw new Error("markets without a probability must not be listed");
  // Recorded probabilities are already within Manifold's limits.
  if (market.recorded !== undefined) return probability;
  return clamp(probability, PROBABILITY_MIN, PROBABILITY_MAX);
}

/**
 * Returns the resolution of a market, or null if the market is not resolved. The creator resolves the market when the
 * result is proposed. A market with a disputed result is unresolved until the result is final.
 */
export function resolutionOf(world: World, market: ListedMarket, at: number): Resolution | null {
  const { phase, outcome } = world.lifecycle(market, at);
  if (outcome === null || (phase !== "determined" && phase !== "finalized")) return null;
  return {
    resolution: RESOLUTION_BY_OUTCOME_KIND[outcome.kind],
    resolutionTime: phase === "finalized" && market.disputed ? market.finalizeAt : market.determineAt,
    resolutionProbability: outcome.kind === "partial" ? outcome.value : manifoldProbability(world, market, at),
  };
}

/** Returns the end of trading, scheduled or earlier. All answers of a contract have the same closing time. */
export function closeTimeOf(world: World, contract: Contract, at: number): number {
  let closeTime = 0;
  for (const market of contract.event.markets) {
    const { phase } = world.lifecycle(market, at);
    const hasEnded = phase !== "pending" && phase !== "active" && phase !== "paused";
    const lifecycleBeforeResult = hasEnded ? world.lifecycle(market, market.determineAt - 1) : null;
    // A recorded question can change from open to resolved without a closed phase.
    const endedAt =
      lifecycleBeforeResult === null
        ? market.closeAt
        : lifecycleBeforeResult.phase === "closed"
          ? lifecycleBeforeResult.since
          : Math.min(at, market.determineAt);
    closeTime = Math.max(closeTime, Math.min(endedAt, market.closeAt));
  }
  return closeTime;
}

/**
 * Returns the reserves of a constant-product pool with p = 0.5 for a probability: NO / (YES + NO) = probability and
 * sqrt(YES * NO) = liquidity.
 */
export function poolOf(probability: number, liquidity: number): { YES: number; NO: number } {
  const odds = Math.sqrt(probability / (1 - probability));
  return { YES: liquidity / odds, NO: liquidity * odds };
}

export function liquidityOf(traderCount: number | null): number {
  return ANTE_MANA + LIQUIDITY_MANA_PER_TRADER * (traderCount ?? 0);
}
