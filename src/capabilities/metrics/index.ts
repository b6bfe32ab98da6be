/** Metrics for Prometheus. Off unless a port or a token is configured. */
export { createMetrics } from "./metrics.ts";
export { openMetricsServer } from "./routes.ts";
