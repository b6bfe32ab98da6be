import { VenueError } from "../../domain/errors.ts";
import type { VenueId } from "../../domain/market.ts";
import type { Clock } from "../../ports/clock.ts";
import type { DropCounter } from "../../ports/venue.ts";
import {
  BOOK_BODY_BYTES_MAX,
  limitsFor,
  type RequestLimits,
  VenueClient,
  type VenueResponse,
} from "../shared/venue-client.ts";
import type { VenuePorts } from "../shared/venue-ports.ts";
import { isMarketId } from "./ids.ts";
import type { LimitlessDriftDetectors } from "./wire.ts";

/** Rows per page of the market list. For a larger page, the venue returns no rows or status 400. */
export const LIST_ROWS_MAX = 25;
export const TRADE_ROWS_MAX = 100;
const FEED_ROWS = 50;
/**
 * Default page size of the AMM feed. The feed may ignore a larger `limit`, so a page is the last page only if it is
 * shorter than this.
 */
export const FEED_ROWS_MIN = 10;
/** The venue recommends at most two concurrent requests, 300 ms apart, and tolerates short bursts. */
export const LIMITS: RequestLimits = { perSecond: 3, burst: 6, concurrency: 2 };

/** Dependencies of all functions that read from Limitless. */
export interface LimitlessContext {
  readonly client: LimitlessClient;
  readonly venue: VenueId;
  readonly clock: Clock;
  readonly countDrop: DropCounter;
  readonly driftDetectors: LimitlessDriftDetectors;
}

/** REST requests to Limitless. Responses are unvalidated JSON, or null if the venue does not have the resource. */
export class LimitlessClient {
  readonly #client: VenueClient;
  readonly #restUrl: string;

  constructor(
    options: Pick<VenuePorts, "http" | "clock" | "random" | "countDrop" | "areLimitsLifted"> & {
      readonly restUrl: string;
    },
  ) {
    const { http, clock, random, countDrop } = options;
    this.#client = new VenueClient({ http, clock, random, countDrop, limits: limitsFor(options, LIMITS) });
    this.#restUrl = options.restUrl.replace(/\/$/, "");
  }

  /**
   * Lists open markets, newest first. A market added during the sweep moves other rows to a later page, where they are
   * repeated instead of missed.
   */
  listActive(page: number, signal: AbortSignal): Promise<VenueResponse> {
    const path = `/markets/active?page=${page}&limit=${LIST_ROWS_MAX}&sortBy=newest`;
    return this.#client.fetchJson(`${this.#restUrl}${path}`, { signal });
  }

  /** Returns the slugs of all open rows and their children. No other endpoint links a child to its group. */
  listSlugs(signal: AbortSignal): Promise<VenueResponse> {
    return this.#client.fetchJson(`${this.#restUrl}/markets/active/slugs`, { signal });
  }

  /**
   * Returns a market or group by slug or contract address, including resolved ones. Sends no request for an invalid id.
   */
  async findMarket(slugOrAddress: string, signal: AbortSignal): Promise<VenueResponse | null> {
    return isMarketId(slugOrAddress) ? this.#find(slugOrAddress, "", signal) : null;
  }

  findBook(slug: string, signal: AbortSignal): Promise<VenueResponse | null> {
    return this.#find(slug, "/orderbook", signal, BOOK_BODY_BYTES_MAX);
  }

  /** Trades of an order-book market. */
  listTrades(slug: string, page: number, signal: AbortSignal): Promise<VenueResponse | null> {
    return this.#find(slug, `/events?page=${page}&limit=${TRADE_ROWS_MAX}`, signal);
  }

  /** Trades of an AMM market. */
  listFeed(address: string, page: number, signal: AbortSignal): Promise<VenueResponse | null> {
    return this.#find(address, `/get-feed-events?page=${page}&limit=${FEED_ROWS}`, signal);
  }

  /** @param range Null requests the whole look-back window. */
  findHistory(
    slug: string,
    window: string,
    range: { readonly fromMs: number; readonly toMs: number } | null,
    signal: AbortSignal,
  ): Promise<VenueResponse | null> {
    const query = new URLSearchParams({ interval: window });
    if (range !== null) query.set("from", new Date(range.fromMs).toISOString());
    if (range !== null) query.set("to", new Date(range.toMs).toISOString());
    return this.#find(slug, `/historical-price?${query}`, signal);
  }

  async #find(id: string, path: string, signal: AbortSignal, maxBodyBytes?: number): Promise<VenueResponse | null> {
    const url = `${this.#restUrl}/markets/${encodeURIComponent(id)}${path}`;
    // 404: unknown id. 400: wrong kind of id (the book of a group or an AMM). 414: id too long.
    const response = await this.#client.fetchJson(url, { signal, accept: [400, 404, 414], maxBodyBytes });
    return response.status >= 400 ? null : response;
  }
}

/** Creates the error for a successful response whose body does not have the documented shape. */
export function badBody(expected: string): VenueError {
  return new VenueError("bad_body", `limitless response is not ${expected}`, { retryable: false });
}
