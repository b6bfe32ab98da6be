import { VenueError } from "../../domain/errors.ts";
import { limitsFor, VenueClient } from "../shared/venue-client.ts";
import type { VenuePorts } from "../shared/venue-ports.ts";

/** Where Manifold itself listens. */
export const MANIFOLD_LIVE_URLS = {
  restUrl: "https://api.manifold.markets/v0",
  wsUrl: "wss://api.manifold.markets/ws",
} as const;

/** 500 requests a minute are allowed per address; 60 at once and 7 a second are never more than 480 in any minute. */
const LIMITS = { perSecond: 7, burst: 60, concurrency: 6 } as const;

export type ContractType = "BINARY" | "DEPENDENT_MULTIPLE_CHOICE" | "INDEPENDENT_MULTIPLE_CHOICE";

export interface Rows {
  readonly rows: readonly unknown[];
  readonly requestedAt: number;
  readonly receivedAt: number;
}

export interface BetQuery {
  readonly contractId?: string;
  readonly answerId?: string;
  /** Unix milliseconds, exclusive. */
  readonly beforeTime?: number;
  /** Unix milliseconds, exclusive. */
  readonly afterTime?: number;
  readonly limit: number;
}

/** Bytes to and from Manifold's REST interface; rows are unchecked. */
export class ManifoldClient {
  readonly #client: VenueClient;
  readonly #restUrl: string;

  constructor(
    options: Pick<VenuePorts, "http" | "clock" | "random" | "drop" | "areLimitsLifted"> & { restUrl: string },
  ) {
    const { http, clock, random, drop } = options;
    this.#client = new VenueClient({ http, clock, random, drop, limits: limitsFor(options, LIMITS) });
    this.#restUrl = options.restUrl.replace(/\/+$/, "");
  }

  /** Open contracts of one type created before `beforeTime`, newest first, with their answers' probabilities. */
  searchOpen(
    contractType: ContractType,
    page: { readonly limit: number; readonly beforeTime?: number },
    signal: AbortSignal,
  ): Promise<Rows> {
    const query = { filter: "open", sort: "newest", contractType, includeLiteAnswers: true, ...page };
    return this.#rows("search-markets", query, signal);
  }

  /** FullMarket of one contract, or null when the venue does not know it. */
  async contract(id: string, signal: AbortSignal): Promise<(Omit<Rows, "rows"> & { row: unknown }) | null> {
    const url = `${this.#restUrl}/market/${encodeURIComponent(id)}`;
    const answer = await this.#client.fetchJson(url, { signal, accept: [404] });
    if (answer.status === 404) return null;
    return { row: answer.json, requestedAt: answer.requestedAt, receivedAt: answer.receivedAt };
  }

  /** Bets, newest first, without those that only turn equal YES and NO shares back into mana. */
  bets(query: BetQuery, signal: AbortSignal): Promise<Rows> {
    return this.#rows("bets", { ...query, filterRedemptions: true }, signal);
  }

  /** Probabilities between two times, in no promised order; a market the venue does not know has none. */
  betPoints(
    query: BetQuery & { readonly contractId: string; readonly beforeTime: number; readonly afterTime: number },
    signal: AbortSignal,
  ): Promise<Rows> {
    return this.#rows("bet-points", { ...query, filterRedemptions: true }, signal);
  }

  async #rows(path: string, query: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<Rows> {
    const params = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) if (value !== undefined) params.set(name, String(value));
    const answer = await this.#client.fetchJson(`${this.#restUrl}/${path}?${params}`, { signal });
    if (!Array.isArray(answer.json)) {
      throw new VenueError("bad_body", `${path} answered something else than a list`, { retryable: true });
    }
    return { rows: answer.json, requestedAt: answer.requestedAt, receivedAt: answer.receivedAt };
  }
}
