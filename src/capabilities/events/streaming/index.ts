/** Server-Sent Events. One reader of the event log serves all clients of a process. */

export type { StreamLimits } from "./model.ts";
export { streamRoutes } from "./routes.ts";
export { createStreaming, type StreamFigures } from "./service.ts";
