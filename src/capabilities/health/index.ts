/** Health: whether the process is alive, whether it is ready, and what does not work. Free, without a key. */
export { createHealthReport } from "./report.ts";
export { healthRoutes } from "./routes.ts";
export { StoreProbe } from "./store-probe.ts";
