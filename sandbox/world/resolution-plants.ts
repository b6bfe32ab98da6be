import { DAY_MS } from "../../src/lib/durations.ts";
import type {
  Lifecycle,
  ListedMarket,
  Phase,
  PlantedResolution,
  ResolutionStep,
  World,
  WorldOutcome,
} from "./types.ts";

const PHASES: Readonly<Record<ResolutionStep, Phase>> = {
  past_end_date: "active",
  proposed_trading: "active",
  disputed_trading: "active",
  proposed: "determined",
  disputed: "disputed",
  closed_disputed: "disputed",
  proposed_again: "disputed",
  final: "finalized",
};

export const RESOLUTION_STEPS = Object.keys(PHASES) as readonly ResolutionStep[];

/** Time from the published end date of a `past_end_date` plant to the plant. */
const PAST_END_MS = 2 * DAY_MS;

/** Planted resolution steps. The first step of a market ends its simulated life cycle. */
export class ResolutionPlants {
  readonly #steps = new Map<number, PlantedResolution[]>();

  add({ index, closeAt }: ListedMarket, at: number, step: ResolutionStep, outcome: WorldOutcome | null): void {
    const steps = this.#steps.get(index) ?? [];
    const endAt = step === "past_end_date" ? at - PAST_END_MS : (steps.at(-1)?.closeAt ?? closeAt);
    this.#steps.set(index, [...steps, { at, step, outcome, closeAt: endAt }]);
  }

  find({ index }: ListedMarket, at: number): PlantedResolution | null {
    return this.#steps.get(index)?.findLast((planted) => planted.at <= at) ?? null;
  }

  lifecycle(market: ListedMarket, at: number): Lifecycle | null {
    const planted = this.find(market, at);
    if (planted === null) return null;
    return { phase: PHASES[planted.step], outcome: planted.outcome, since: planted.at };
  }

  nextPhaseAt(world: World, market: ListedMarket, after: number): number {
    const next = this.#steps.get(market.index)?.find(({ at }) => at > after)?.at ?? Infinity;
    return this.find(market, after) === null ? Math.min(next, world.nextPhaseAt(market, after)) : next;
  }
}
