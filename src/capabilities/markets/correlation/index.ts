/** Correlations of market prices. */
export type { CorrelationTask } from "./model.ts";
export type { CorrelationReport } from "./report.ts";
export { correlationRoutes } from "./routes.ts";
export { type CorrelationService, createCorrelationService } from "./service.ts";

/** Module of the worker threads that compute large correlations. */
export const CORRELATION_WORKER = new URL("./compute.ts", import.meta.url);
