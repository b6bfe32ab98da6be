import type { Now } from "../exchange.ts";

const REQUESTS_MAX = 500;
const WINDOW_MS = 60_000;
const CLIENTS_MAX = 10_000;

/** Allows each client 500 requests in any 60 seconds, as the venue does per address. */
export class MinuteLimit {
  readonly #now: Now;
  /** Times of the requests of the last minute by client, the least recently active client first. */
  readonly #requests = new Map<string, number[]>();

  constructor(now: Now) {
    this.#now = now;
  }

  allows(client: string): boolean {
    const now = this.#now();
    const recent = (this.#requests.get(client) ?? []).filter((at) => at > now - WINDOW_MS);
    const isAllowed = recent.length < REQUESTS_MAX;
    if (isAllowed) recent.push(now);
    this.#requests.delete(client);
    this.#requests.set(client, recent);
    if (this.#requests.size > CLIENTS_MAX) {
      const oldest = this.#requests.keys().next();
      if (oldest.done !== true) this.#requests.delete(oldest.value);
    }
    return isAllowed;
  }
}
