/** Metrics for Prometheus. Off unless a port or a token is configured. */
export { createMetrics, type MetricsSources } from "./metrics.ts";
export { openMetricsServer } from "./routes.ts";
