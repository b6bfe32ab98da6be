import type { GroundTruth } from "./list-event.ts";
import type { Pause } from "./order-flow.ts";
import { uniform } from "./random.ts";
import { trueProbability } from "./truth.ts";
import type { Lifecycle, ListedMarket, WorldOutcome } from "./types.ts";

const PAUSE_MS = 10 * 60_000;

/** Hash keys by purpose of the random number. */
const Draw = { outcome: 1, paused: 2, pausedAt: 3 } as const;

/** Returns the pause of a market, or null. One market in 50 is paused, once; 15-minute markets are not paused. */
export function pauseOf(market: ListedMarket, seed: number): Pause | null {
  if (market.event.isRound || uniform(seed, market.index, Draw.paused) > 0.02) return null;
  const lifeMs = market.closeAt - market.openAt;
  const from = Math.round(market.openAt + uniform(seed, market.index, Draw.pausedAt) * lifeMs);
  return { from, to: from + PAUSE_MS };
}

function outcomeOf(market: ListedMarket, seed: number, { process, criterion }: GroundTruth): WorldOutcome {
  const u = uniform(seed, market.event.index, Draw.outcome);
  if (u < 0.015) return { kind: "void" };
  if (u < 0.025 && !market.event.mutuallyExclusive && !market.event.ladder) return { kind: "partial", value: 0.5 };
  return trueProbability(process, criterion, process.revealAt) >= 0.5 ? { kind: "yes" } : { kind: "no" };
}

/** Returns when the dispute starts: after a third of the time between the proposed and the final result. */
const disputedAt = (market: ListedMarket): number => market.determineAt + (market.finalizeAt - market.determineAt) / 3;

export function lifecycleAt(market: ListedMarket, at: number, seed: number, truth: GroundTruth): Lifecycle {
  const { tradingEndsAt } = truth;
  if (at < market.openAt) return { phase: "pending", outcome: null, since: Number.NEGATIVE_INFINITY };
  if (at < tradingEndsAt) {
    const pause = pauseOf(market, seed);
    if (pause === null || at < pause.from) return { phase: "active", outcome: null, since: market.openAt };
    if (at >= pause.to) return { phase: "active", outcome: null, since: pause.to };
    return { phase: "paused", outcome: null, since: pause.from };
  }
  if (at < market.determineAt) return { phase: "closed", outcome: null, since: tradingEndsAt };
  const outcome = outcomeOf(market, seed, truth);
  if (at >= market.finalizeAt) return { phase: "finalized", outcome, since: market.finalizeAt };
  if (market.disputed && at >= disputedAt(market)) return { phase: "disputed", outcome, since: disputedAt(market) };
  return { phase: "determined", outcome, since: market.determineAt };
}

export function nextPhaseAt(market: ListedMarket, after: number, seed: number, { tradingEndsAt }: GroundTruth): number {
  const pause = pauseOf(market, seed);
  const changes = [market.openAt, tradingEndsAt, market.determineAt, market.finalizeAt];
  if (pause !== null && pause.from < tradingEndsAt) changes.push(pause.from, Math.min(pause.to, tradingEndsAt));
  if (market.disputed) changes.push(disputedAt(market));
  return Math.min(...changes.filter((at) => at > after));
}
