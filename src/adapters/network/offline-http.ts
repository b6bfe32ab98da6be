import { VenueError } from "../../domain/errors.ts";
import type { HttpOut } from "../../ports/http-out.ts";

/** Creates an HTTP client whose requests always fail, for a process that must not send requests. */
export function createOfflineHttp(): HttpOut & { close(): Promise<void> } {
  return {
    async send() {
      throw new VenueError("network", "This process is read-only and sends no requests", { retryable: false });
    },
    async close() {},
  };
}
