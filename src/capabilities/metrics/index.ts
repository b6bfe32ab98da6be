/** Metrics for Prometheus. Off unless a port or a token is configured. */
export { createMetrics, type Metrics } from "./metrics.ts";
export { metricsRoutes } from "./routes.ts";
