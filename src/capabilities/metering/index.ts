/** Minute limits, monthly quotas and prices: what a caller may ask for, and what it has asked for. */
export { LIMIT_WINDOW_MS } from "./limits.ts";
export { pricingRoutes } from "./routes.ts";
export { createMetering, type Metering } from "./service.ts";
