/** Server-Sent Events: one follower of the event log, many clients. */

export type { StreamLimits } from "./model.ts";
export { streamRoutes } from "./routes.ts";
export { createStreaming, type StreamFigures } from "./service.ts";
