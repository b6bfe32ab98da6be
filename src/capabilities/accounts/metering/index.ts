/** Minute limits, monthly quotas and prices. */
export { type AddressLimits, createAddressLimits } from "./address-limits.ts";
export { createMeteringGuards, type QuotaRetryAfter } from "./guards.ts";
export { LIMIT_WINDOW_MS } from "./limits.ts";
export { pricingRoutes } from "./routes.ts";
export { createMetering, createUsageReader, type Metering } from "./service.ts";
export { SlidingLog } from "./sliding-log.ts";
