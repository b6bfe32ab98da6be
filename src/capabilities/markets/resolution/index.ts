/** Public API for how and when a market resolves: mechanism, dates, urgency and time decay. */
export { findEventDeadline } from "./describe-resolution.ts";
export { resolutionRoutes } from "./routes.ts";
export { createResolutionService } from "./service.ts";
