/** Analyses of all markets of an event, and a comparison of their estimates. */
export { eventAnalysisRoutes } from "./routes.ts";
export { createEventAnalysesService } from "./service.ts";
