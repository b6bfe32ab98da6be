import type { Now } from "../exchange.ts";

const REQUESTS_PER_WINDOW_MAX = 500;
const WINDOW_MS = 60_000;
const CLIENTS_MAX = 10_000;

/** Returns a function that reports whether a request of the client is within 500 requests in the last 60 seconds. */
export function createRateLimiter(now: Now): (client: string) => boolean {
  /** Request times of the last minute by client; the client with the oldest last request is first. */
  const requestTimesByClient = new Map<string, number[]>();
  return (client) => {
    const at = now();
    const recentRequestTimes = (requestTimesByClient.get(client) ?? []).filter(
      (requestedAt) => requestedAt > at - WINDOW_MS,
    );
    const isAllowed = recentRequestTimes.length < REQUESTS_PER_WINDOW_MAX;
    if (isAllowed) recentRequestTimes.push(at);
    requestTimesByClient.delete(client);
    requestTimesByClient.set(client, recentRequestTimes);
    const [leastRecentClient] = requestTimesByClient.keys();
    if (requestTimesByClient.size > CLIENTS_MAX && leastRecentClient !== undefined)
      requestTimesByClient.delete(leastRecentClient);
    return isAllowed;
  };
}
