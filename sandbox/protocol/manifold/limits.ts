import type { Now } from "../exchange.ts";

const REQUESTS_MAX = 500;
const WINDOW_MS = 60_000;
const CLIENTS_MAX = 10_000;

/** Allows each client 500 requests in any 60 seconds, as the venue does per address. */
export function createRateLimit(now: Now): (client: string) => boolean {
  /** Times of the requests of the last minute by client, the least recently active client first. */
  const requests = new Map<string, number[]>();
  return (client) => {
    const at = now();
    const recent = (requests.get(client) ?? []).filter((requestedAt) => requestedAt > at - WINDOW_MS);
    const isAllowed = recent.length < REQUESTS_MAX;
    if (isAllowed) recent.push(at);
    requests.delete(client);
    requests.set(client, recent);
    const [oldest] = requests.keys();
    if (requests.size > CLIENTS_MAX && oldest !== undefined) requests.delete(oldest);
    return isAllowed;
  };
}
