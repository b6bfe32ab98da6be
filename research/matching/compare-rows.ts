/** Applies the service's matcher to labelled pairs. */
import {
  decideEvents,
  decideMarkets,
  findEventVetoes,
  findMarketVetoes,
  type MatchDecision,
  type MatchingCoefficients,
  VETOED_PROBABILITY,
} from "../../src/matching/decide.ts";
import { compareEvents } from "../../src/matching/event-features.ts";
import { createEventFingerprint } from "../../src/matching/event-fingerprint.ts";
import { compareMarkets } from "../../src/matching/features.ts";
import { createFingerprint } from "../../src/matching/fingerprint.ts";
import { isSameQuestion } from "../../src/matching/model.ts";
import type { WordWeights } from "../../src/matching/text/word-weights.ts";
import type { PairRow, PairSide } from "./rows.ts";

const timeOf = (text: string | null | undefined): number | null => {
  const time = text === null || text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(time) ? null : time;
};

function marketFingerprint(side: PairSide) {
  return createFingerprint({
    title: side.title,
    outcomeLabel: null,
    eventTitle: side.event_title ?? null,
    closeAt: timeOf(side.close),
    expectedResolutionAt: timeOf(side.event_date),
  });
}

function eventFingerprint(side: PairSide) {
  return createEventFingerprint({
    title: side.title,
    legs: side.legs_sample ?? [],
    legCount: side.legs_total ?? null,
    closeAt: timeOf(side.close),
    expectedResolutionAt: timeOf(side.event_date),
  });
}

/** Compares the sides of a pair of markets or events. */
export function compareRow({ grain, a, b }: PairRow, weightOf: WordWeights) {
  if (grain === "market") {
    const comparison = compareMarkets(marketFingerprint(a), marketFingerprint(b), weightOf);
    return {
      features: comparison.features,
      findVetoes: () => findMarketVetoes(comparison),
      decide: (coefficients: MatchingCoefficients) => decideMarkets(comparison, coefficients),
    };
  }
  const comparison = compareEvents(eventFingerprint(a), eventFingerprint(b), weightOf);
  return {
    features: comparison.features,
    findVetoes: () => findEventVetoes(comparison),
    decide: (coefficients: MatchingCoefficients) => decideEvents(comparison, coefficients),
  };
}

export interface Prediction {
  readonly decision: MatchDecision;
  readonly features: Readonly<Record<string, number>>;
  /** Probability that both sides ask the same or the opposite question, in [0, 1]. */
  readonly probability: number;
}

/** For relations other than `identical` and `inverse`, the probability is at most `VETOED_PROBABILITY`. */
export function predictRow(row: PairRow, coefficients: MatchingCoefficients, weightOf: WordWeights): Prediction {
  const { features, decide } = compareRow(row, weightOf);
  const decision = decide(coefficients);
  return {
    decision,
    features,
    probability: isSameQuestion(decision) ? decision.probability : Math.min(decision.probability, VETOED_PROBABILITY),
  };
}
