/** Public API for how and when a market resolves: mechanism, dates, urgency and time decay. */
export { findEventDeadline } from "./describe-resolution.ts";
export type { KeyDate } from "./model.ts";
export { resolutionRoutes } from "./routes.ts";
export { createResolutionService } from "./service.ts";
