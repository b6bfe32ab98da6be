/** Analyses of markets: runs, results, freshness, and the latest probability of each market. */
export { type Analyses, createAnalyses } from "./analyses.ts";
export { deleteParticipations } from "./analysis-queries.ts";
export { createMarketViews, type VenueTraits } from "./market-views.ts";
export {
  type AnalysisRun,
  type CurrentAnalysis,
  type CurrentEstimate,
  type EndedRun,
  FRESHNESS_LEVELS,
  type ResearchRunner,
  type StoredAnalysis,
} from "./model.ts";
export { pollUrlOf, presentAnalysis, presentCausal, presentRunning } from "./present.ts";
export { ANALYZE_METERING, analysisRoutes } from "./routes.ts";
export { analysisStatusSchema, causalSchema } from "./schema.ts";
export type { AnalysesService } from "./service.ts";
