/** Analyses of an event: all its markets, and their estimates side by side. */
export { eventAnalysisRoutes } from "./routes.ts";
export { createEventAnalysesService } from "./service.ts";
