import type { NewEvent } from "../../../event-log/index.ts";
import type { AnalysisRun, StoredAnalysis } from "./model.ts";

const TITLE_LENGTH_MAX = 1_000;

const createEvent = (
  { analysisId, venue, marketId }: Pick<AnalysisRun, "analysisId" | "venue" | "marketId">,
  now: number,
  payload: NewEvent["payload"],
): NewEvent => ({
  type: "analysis_complete",
  // A run ends once, so it has one event.
  key: `analysis_complete/${analysisId}`,
  occurredAt: now,
  venue,
  marketId,
  payload: { analysis_id: analysisId, platform: venue, market_id: marketId, ...payload },
});

export function createCompletionEvent(stored: StoredAnalysis, now: number): NewEvent {
  const { title, analysis } = stored.result;
  return createEvent(stored, now, {
    status: "complete",
    probability: analysis.probability,
    title: title.slice(0, TITLE_LENGTH_MAX).toWellFormed(),
    model_probability: analysis.probability,
    market_price: analysis.marketPrice,
    edge: analysis.edge,
    confidence: analysis.confidence,
    recommendation: analysis.recommendation,
    analysis_type: stored.type,
    analyzed_at: new Date(stored.analysedAt).toISOString(),
  });
}

/** Returns the id of the analysis of an `analysis_complete` event; null if the run had no result. */
export function readCompletedAnalysisId({ status, analysis_id: analysisId }: NewEvent["payload"]): string | null {
  return status === "complete" && typeof analysisId === "string" ? analysisId : null;
}

/** Creates the `analysis_complete` event of a run without a result, so that its subscribers do not wait for one. */
export const createErrorEvent = (run: Parameters<typeof createEvent>[0], now: number): NewEvent =>
  createEvent(run, now, { status: "error", probability: null });
