import type { Scenario } from "../../../engine/index.ts";
import { expiryByAge } from "./freshness.ts";
import type { AnalysisRun, CurrentAnalysis, ResearchSummary } from "./model.ts";

/** The causal decomposition of analyses and signals. */
export function presentCausal({ at, result: { analysis } }: CurrentAnalysis) {
  return {
    factors: analysis.factors,
    method: "log_odds",
    overall_probability: analysis.probability,
    overall_confidence: analysis.confidence,
    generated_at: new Date(at).toISOString(),
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

function describeMethod({ view, isReused, missingReason }: ResearchSummary): string {
  if (view === null) return `Factors of market data, added in log-odds. ${missingReason ?? ""}`.trim();
  const method = "Factors of market data and research by language models, added in log-odds.";
  return isReused ? `${method} The research is that of an analysis of ${new Date(view.at).toISOString()}.` : method;
}

/** The method of an analysis, and its figures as they were stored. */
export function presentMeta({ original: analysis, result: { research, durationMs } }: CurrentAnalysis) {
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

/** An analysis at the current price, without expansions. Numbers are not rounded. */
export function presentAnalysis(stored: CurrentAnalysis) {
  const { analysisId, venue, marketId, type, analysedAt, freshness, at } = stored;
  const { title, analysis, research } = stored.result;
  return {
    analysis_id: analysisId,
    platform: venue,
    market_id: marketId,
    title,
    probability: analysis.probability,
    model_probability: analysis.probability,
    model_probability_at: new Date(at).toISOString(),
    market_price: analysis.marketPrice,
    interval: analysis.interval,
    confidence: analysis.confidence,
    edge: analysis.edge,
    recommendation: analysis.recommendation,
    risk_rating: analysis.riskRating,
    summary: analysis.summary,
    key_factors: analysis.keyFactors,
    risks: [...analysis.risks, ...research.risks],
    source_count: research.sourceCount,
    analyzed_at: new Date(analysedAt).toISOString(),
    expires_at: new Date(expiryByAge(stored)).toISOString(),
    freshness,
    analysis_type: type,
  };
}

type RunName = Pick<AnalysisRun, "analysisId" | "venue" | "marketId">;

export const presentScenarios = ({ result }: CurrentAnalysis) => result.analysis.scenarios.map(presentScenario);

export const presentStatus = ({
  run,
  estimatedSeconds,
}: {
  readonly run: Omit<AnalysisRun, "type" | "requestedAt">;
  readonly estimatedSeconds: number;
}) => ({
  analysis_id: run.analysisId,
  status: run.status,
  poll_url: pollUrlOf(run),
  estimated_seconds: estimatedSeconds,
  error_message: run.errorMessage,
});

/** The status of a run that was started or joined. */
export const presentRunning = (run: RunName, estimatedSeconds: number) =>
  presentStatus({ run: { ...run, status: "running", errorMessage: null }, estimatedSeconds });

export const pollUrlOf = (run: RunName) =>
  `/v1/markets/${run.venue}/${encodeURIComponent(run.marketId)}/analyze/${run.analysisId}/status`;
