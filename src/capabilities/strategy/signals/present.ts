import { presentCausal } from "../../analysis/analyses/index.ts";
import type { QuestionAnswer } from "../../markets/question-search/index.ts";
import type { MarketSignal } from "./model.ts";

const presentAnswer = ({ similarity, alternatives }: QuestionAnswer) => ({
  similarity,
  alternatives: alternatives.map(({ market: { listing }, similarity: other }) => ({
    platform: listing.venue,
    market_id: listing.marketId,
    title: listing.title,
    similarity: other,
  })),
});

/** Creates the Signal object of the API. Numbers are not rounded. */
export function presentSignal(
  { market: { listing }, stored, signal, answer, bankrollUsd }: MarketSignal,
  { hedge, expandsCausal }: { readonly hedge: string | null; readonly expandsCausal: boolean },
) {
  const { fill } = signal;
  return {
    platform: listing.venue,
    market_id: listing.marketId,
    title: listing.title,
    recommendation: signal.recommendation,
    reason: signal.reason,
    target_price: signal.targetPrice,
    edge: signal.edge,
    model_probability: signal.probability,
    model_probability_at: new Date(stored.at).toISOString(),
    yes_price: signal.yesPrice,
    executable_edge: signal.executableEdge,
    confidence: signal.confidence,
    risk_rating: signal.riskRating,
    size_pct: signal.sizePct,
    size_usd: fill?.costUsd ?? 0,
    contracts: fill?.contracts ?? 0,
    average_cost: fill === null ? null : fill.costUsd / fill.contracts,
    capped_by: signal.cappedBy,
    order:
      fill === null
        ? null
        : {
            contracts: fill.contracts,
            average_price: fill.averagePrice,
            fee_usd: fill.feeUsd,
            cost_usd: fill.costUsd,
            bankroll_usd: bankrollUsd,
          },
    time_horizon: signal.timeHorizon,
    expires_at: new Date(signal.expiresAt).toISOString(),
    generated_at: new Date(signal.generatedAt).toISOString(),
    freshness: stored.freshness,
    hedge,
    analysis_id: stored.analysisId,
    ...(answer === null ? null : { match: presentAnswer(answer) }),
    ...(expandsCausal ? { causal: presentCausal(stored) } : null),
  };
}
