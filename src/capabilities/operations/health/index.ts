/** Health report, liveness and readiness. Free, without a key. */
export { createHealthReport } from "./report.ts";
export { healthRoutes } from "./routes.ts";
export type { HealthReport } from "./schema.ts";
export { createStoreProbe } from "./store-probe.ts";
