/** Server-Sent Events. One reader of the event log serves all clients of a process. */

export { streamRoutes } from "./routes.ts";
export { createStreaming, type StreamFigures } from "./service.ts";
export type { StreamLimits } from "./stream-slots.ts";
