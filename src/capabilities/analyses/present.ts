import type { CausalFactor, Scenario } from "../../engine/index.ts";
import { expiryOf, freshnessOf } from "./freshness.ts";
import type { ResearchFacts, StoredAnalysis } from "./model.ts";
import type { RunStatusReport } from "./runs.ts";

/** The causal decomposition, as analyses and signals contain it. */
export function presentCausal({ analysedAt, result: { analysis } }: StoredAnalysis) {
  return {
    factors: analysis.factors.map(
      ({ claim, direction, evidence, prior, posterior, weight, confidence }: CausalFactor) => ({
        claim,
        direction,
        evidence,
        prior,
        posterior,
        weight,
        confidence,
      }),
    ),
    method: "log_odds",
    overall_probability: analysis.probability,
    overall_confidence: analysis.confidence,
    generated_at: new Date(analysedAt).toISOString(),
  };
}

const presentScenario = ({ name, probability, conditionalProbability, description, trigger }: Scenario) => ({
  name,
  probability,
  conditional_probability: conditionalProbability,
  description,
  trigger,
});

/** Standard deviation of the trials' probabilities; null with fewer than two. */
function disagreementOf(ensemble: readonly number[]): number | null {
  if (ensemble.length < 2) return null;
  const mean = ensemble.reduce((sum, value) => sum + value, 0) / ensemble.length;
  const squares = ensemble.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / (ensemble.length - 1));
}

function describeMethod({ view, isReused, missingReason }: ResearchFacts): string {
  if (view === null) return `Factors of market data, added in log-odds. ${missingReason ?? ""}`.trim();
  const method = "Factors of market data and research by language models, added in log-odds.";
  return isReused ? `${method} The research is that of an analysis of ${new Date(view.at).toISOString()}.` : method;
}

/** How the analysis was made. */
export function presentMeta({ result: { analysis, research, durationMs } }: StoredAnalysis) {
  return {
    method: describeMethod(research),
    what_would_change_mind: analysis.whatWouldChangeMind,
    edge_assessment: analysis.edgeAssessment,
    models_used: research.models,
    duration_ms: durationMs,
    market_price_at_analysis: analysis.marketPrice,
    interval: analysis.interval,
    raw_probability: analysis.rawProbability,
    calibration_applied: analysis.calibrationApplied,
    ensemble_estimates: research.ensemble,
    ensemble_disagreement: disagreementOf(research.ensemble),
    cost_usd: research.costUsd,
  };
}

/**
 * An analysis without expansions. Numbers are not rounded.
 *
 * @param price  the market's current price; null if unknown
 */
export function presentAnalysis(stored: StoredAnalysis, price: number | null, now: number) {
  const { analysisId, venue, marketId, type, analysedAt } = stored;
  const { title, analysis, research } = stored.result;
  return {
    analysis_id: analysisId,
    platform: venue,
    market_id: marketId,
    title,
    probability: analysis.probability,
    model_probability: analysis.probability,
    market_price: analysis.marketPrice,
    confidence: analysis.confidence,
    edge: analysis.edge,
    recommendation: analysis.recommendation,
    risk_rating: analysis.riskRating,
    summary: analysis.summary,
    key_factors: analysis.keyFactors,
    risks: [...analysis.risks, ...research.risks],
    source_count: research.sourceCount,
    analyzed_at: new Date(analysedAt).toISOString(),
    expires_at: new Date(expiryOf(stored)).toISOString(),
    freshness: freshnessOf({ analysedAt, interval: analysis.interval, marketPrice: analysis.marketPrice }, price, now),
    analysis_type: type,
  };
}

export const presentScenarios = ({ result }: StoredAnalysis) => result.analysis.scenarios.map(presentScenario);

export const presentStatus = ({ run, estimatedSeconds }: RunStatusReport) => ({
  analysis_id: run.analysisId,
  status: run.status,
  poll_url: pollUrlOf(run),
  estimated_seconds: estimatedSeconds,
  error_message: run.errorMessage,
});

export const pollUrlOf = (run: { readonly analysisId: string; readonly venue: string; readonly marketId: string }) =>
  `/v1/markets/${run.venue}/${encodeURIComponent(run.marketId)}/analyze/${run.analysisId}/status`;
