/** Health: is it alive, is it ready, and what is wrong where. Free, without a key. */
export { type HealthReport, healthRoutes } from "./routes.ts";
export { StoreProbe } from "./store-probe.ts";
