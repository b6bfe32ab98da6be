import { MINUTE_MS } from "../../src/lib/durations.ts";
import { evenBands, TAPERED_BANDS } from "./price-bands.ts";
import { uniform } from "./random.ts";
import type { EventDefinition, TrapKind } from "./templates/index.ts";
import { deadlineOf, decisionTimeOf, type OutcomeProcess, type ResolutionCriterion } from "./truth.ts";
import { type ListedEvent, type ListedMarket, type PriceBand, SANDBOX_VENUES, type SandboxVenue } from "./types.ts";

const MARKETS_PER_EVENT_MAX = 64;

/** The simulated process that determines a market's outcome. Venues do not publish it. */
export interface GroundTruth {
  readonly process: OutcomeProcess;
  readonly criterion: ResolutionCriterion;
  /** End of trading: the scheduled closing time, or earlier if the event occurs. */
  readonly tradingEndsAt: number;
  /** Null if the market is not part of a trap. */
  readonly trap: TrapOrigin | null;
}

export interface TrapOrigin {
  readonly kind: TrapKind;
  /** Number of the event that the trap looks like. */
  readonly original: number;
  /** Position of the market that this market looks like in the definition of that event; null if there is none. */
  readonly resembles: number | null;
}

/** Key of a market's ground truth. It is not exported, so that venues cannot read the ground truth. */
const truthKey = Symbol("ground truth");

interface SimulatedMarket extends ListedMarket {
  readonly [truthKey]: GroundTruth;
}

/** Hash keys by purpose of the random number; they must differ from the keys in universe.ts. */
const Draw = { disputed: 4, amm: 5, tick: 6, delay: 7, featured: 8, omitLast: 9 } as const;

/** @throws Error when the market does not belong to a simulated world */
export function groundTruthOf(market: ListedMarket): GroundTruth {
  if (!(truthKey in market)) throw new Error("the market does not belong to a simulated world");
  return (market as SimulatedMarket)[truthKey];
}

export interface EventListing {
  /** Number of the listed event. A trap that shares the process of the original event has a number of its own. */
  readonly number: number;
  readonly definition: EventDefinition;
  readonly process: OutcomeProcess;
  readonly closeAt: number;
  readonly trap: Pick<TrapOrigin, "kind" | "original"> | null;
}

/** Lists an event with the texts and rules of a venue. */
export function listOnVenue(
  venue: SandboxVenue,
  { number, definition, process, closeAt, trap }: EventListing,
): ListedEvent {
  const { seed, openAt } = process;
  const index = number * SANDBOX_VENUES.length + SANDBOX_VENUES.indexOf(venue);
  const markets: ListedMarket[] = [];
  const event: ListedEvent = {
    venue,
    index,
    underlying: number,
    series: definition.series,
    seriesTitle: definition.seriesTitle,
    title: definition.titles[venue],
    description: definition.descriptions[venue],
    category: definition.category,
    tags: definition.tags,
    isRound: definition.isRound === true,
    sides: definition.sides,
    mutuallyExclusive: definition.mutuallyExclusive,
    exhaustive: definition.exhaustive,
    ladder: definition.ladder,
    featured: venue === "polymarket" && uniform(seed, number, Draw.featured) < 0.08,
    openAt,
    closeAt,
    markets,
  };
  const { length: count } = definition.markets;
  const isAmm =
    venue === "manifold" || (venue === "limitless" && count === 1 && uniform(seed, number, Draw.amm) < 0.15);
  const bands = bandsOf(venue, uniform(seed, number, Draw.tick));
  const isRound = definition.isRound === true;
  const isDisputed = !isRound && uniform(seed, index, Draw.disputed) < 0.06;
  const delay = uniform(seed, index, Draw.delay);
  const determineDelayMs = isRound ? 15_000 : (1 + 29 * delay) * MINUTE_MS;
  const finalizeDelayMs = isRound ? 30_000 : Math.round((isDisputed ? 150 : 5 + 55 * delay) * MINUTE_MS);
  // Some venues omit the last threshold of a ladder, so that ladders differ between venues.
  const omitsLast = definition.ladder && count > 1 && uniform(seed, index, Draw.omitLast) < 0.25;
  const listedDefinitions = definition.markets.slice(0, omitsLast ? count - 1 : count).slice(0, MARKETS_PER_EVENT_MAX);
  for (const [position, market] of listedDefinitions.entries()) {
    const { criterion, resembles } = market;
    const marketCloseAt = deadlineOf(criterion) ?? closeAt;
    const tradingEndsAt = Math.min(marketCloseAt, decisionTimeOf(process, criterion));
    const determineAt = Math.round(tradingEndsAt + determineDelayMs);
    const listedMarket: SimulatedMarket = {
      venue,
      event,
      index: index * MARKETS_PER_EVENT_MAX + position,
      position,
      question: market.questions[venue],
      label: market.labels[venue],
      rules: market.rules[venue],
      resolutionSource: definition.source,
      strike: market.strike,
      mechanism: isAmm ? "amm" : "clob",
      bands,
      tick: Math.min(...bands.map(({ step }) => step)),
      openAt,
      closeAt: marketCloseAt,
      determineAt,
      disputed: isDisputed,
      finalizeAt: determineAt + finalizeDelayMs,
      [truthKey]: {
        process,
        criterion,
        tradingEndsAt,
        trap: trap === null ? null : { ...trap, resembles: resembles ?? null },
      },
    };
    markets.push(listedMarket);
  }
  return event;
}

/** Returns the price grid of an event's markets at a venue, selected by a number in [0, 1). */
function bandsOf(venue: SandboxVenue, draw: number): readonly PriceBand[] {
  if (venue === "limitless") return evenBands(0.001);
  if (venue === "kalshi") return draw < 0.3 ? TAPERED_BANDS : evenBands(0.01);
  if (venue === "manifold" || draw >= 0.3) return evenBands(0.01);
  if (draw < 0.2) return evenBands(0.001);
  return evenBands(draw < 0.25 ? 0.0025 : 0.005);
}
