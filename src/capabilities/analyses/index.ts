/** Analyses of markets: runs, results, freshness, and the latest probability of each market. */
export { type Analyses, createAnalyses } from "./analyses.ts";
export { deleteParticipant } from "./analysis-queries.ts";
export { createMarketViews } from "./market-views.ts";
export type { ResearchRunner } from "./model.ts";
export { analysisRoutes } from "./routes.ts";
