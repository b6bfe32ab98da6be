import { VenueError } from "../../domain/errors.ts";
import type { HttpOut } from "../../ports/http-out.ts";

/** HTTP of a process that may not send requests: every request fails. */
export function createOfflineHttp(): HttpOut & { close(): Promise<void> } {
  return {
    async send() {
      throw new VenueError("network", "This process is read-only and sends no requests", { retryable: false });
    },
    async close() {},
  };
}
