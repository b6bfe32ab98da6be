import { sumOf } from "../../lib/numbers.ts";
import { coherentPrices, type EventLogic, legSpread } from "../event-logic.ts";
import { formatNumber, formatPercent, formatPrice } from "../format.ts";
import { toLogOdds } from "../log-odds.ts";
import type { EventView, Factor, FactorReading, LegView, MarketView, Prior } from "../model.ts";

/** Mean spread of the event's markets at which the factor has half of its confidence. */
const SPREAD_OF_HALF_CONFIDENCE = 0.05;

/**
 * Compares the price with the prices of the event's other markets. Exclusive outcomes: the overround is removed (power
 * method), so that the probabilities sum to 1 if one outcome must happen, and to at most 1 otherwise. Ladder: the
 * probabilities must not increase, because YES of a market implies YES of the previous one (isotonic regression,
 * weighted by 1 / spread^2).
 *
 * lambda = log-odds of the coherent probability minus log-odds of the prior.
 */
export const eventCoherence: Factor = {
  name: "event_coherence",
  evaluate(view, prior) {
    const { event, marketId } = view;
    if (event === null || !event.legs.some((leg) => leg.marketId === marketId)) return null;
    return evaluateLadder(view, event, prior) ?? evaluateExclusive(view, event, prior);
  },
};

function evaluateLadder({ marketId }: MarketView, { ladder, legs }: EventView, prior: Prior): FactorReading | null {
  if (ladder === null) return null;
  const rungs = ladder.flatMap((id) => legs.find((leg) => leg.marketId === id) ?? []);
  const position = rungs.findIndex((leg) => leg.marketId === marketId);
  if (rungs.length < 2 || position === -1) return null;
  const probability = coherentPrice({ kind: "ladder" }, rungs, position, prior);
  if (Math.abs(probability - prior.probability) < 1e-9) return null;
  const rival = rungs[probability > prior.probability ? position + 1 : position - 1];
  return createReading(probability, prior, rungs, {
    claim: `The prices of this event's ${rungs.length} graded markets contradict each other; the nearest consistent prices give ${formatPercent(probability)}%.`,
    evidence: [
      ...(rival === undefined
        ? []
        : [
            `"${rival.label}" has the price ${formatPrice(rival.yesPrice)}; this market has ${formatPrice(prior.probability)}.`,
          ]),
      "Each market of the ladder implies the one before, so its probability cannot be higher.",
    ],
  });
}

function evaluateExclusive({ marketId }: MarketView, event: EventView, prior: Prior): FactorReading | null {
  const { isExclusive, isExhaustive, legs } = event;
  if (!isExclusive || legs.length < 2) return null;
  const position = legs.findIndex((leg) => leg.marketId === marketId);
  const sum = sumOf(legs.map((leg, index) => (index === position ? prior.probability : leg.yesPrice)));
  if (sum <= 1 && !isExhaustive) return null;
  const probability = coherentPrice({ kind: "exclusive", isExhaustive }, legs, position, prior);
  return createReading(probability, prior, legs, {
    claim: `${legs.length} outcomes of this event exclude each other, and their prices sum to ${formatPercent(sum)}%; scaled to 100%, this one has ${formatPercent(probability)}%.`,
    evidence: [
      `Sum of the prices of ${legs.length} markets: ${formatNumber(sum)}.`,
      isExhaustive ? "The venue guarantees that one of them happens." : "At most one of them happens.",
    ],
  });
}

/** Returns the consistent price of the market at a position, if its own price is the prior. */
function coherentPrice(logic: EventLogic, legs: readonly LegView[], position: number, { probability }: Prior): number {
  const priced = legs.map((leg, index) => (index === position ? { ...leg, yesPrice: probability } : leg));
  return coherentPrices(logic, priced)[position] ?? probability;
}

function createReading(
  probability: number,
  prior: Prior,
  legs: readonly LegView[],
  text: Pick<FactorReading, "claim" | "evidence">,
): FactorReading {
  const meanSpread = sumOf(legs.map(legSpread)) / legs.length;
  const lambda = toLogOdds(probability) - prior.logOdds;
  return {
    ...text,
    lambda,
    standardError: Math.min(
      Math.abs(lambda),
      meanSpread / 2 / Math.max(probability * (1 - probability), meanSpread / 2),
    ),
    confidence: 1 / (1 + meanSpread / SPREAD_OF_HALF_CONFIDENCE),
  };
}
