import type { CurrentAnalysis, StoredAnalysis } from "../../../src/capabilities/analysis/analyses/index.ts";

/** Returns a stored analysis with the price at which it was made. */
export const unmoved = (
  stored: StoredAnalysis,
  freshness: CurrentAnalysis["freshness"] = "fresh",
): CurrentAnalysis => ({ ...stored, original: stored.result.analysis, freshness, at: stored.analysedAt });
