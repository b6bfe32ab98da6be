import type { StoredAnalysis } from "../../../src/capabilities/analysis/analyses/index.ts";

/** The research part of an analysis without research. */
export const NO_RESEARCH: StoredAnalysis["result"]["research"] = {
  view: null,
  isReused: false,
  missingReason: null,
  risks: [],
  sourceCount: 0,
  models: [],
  ensemble: [],
  costUsd: 0,
};
