import type { CurrentAnalysis, StoredAnalysis } from "../../../src/capabilities/analysis/analyses/index.ts";

/** A stored analysis as it is at the price of its own moment. */
export const unmoved = (
  stored: StoredAnalysis,
  freshness: CurrentAnalysis["freshness"] = "fresh",
): CurrentAnalysis => ({ ...stored, original: stored.result.analysis, freshness, at: stored.analysedAt });
