import { VenueError } from "../../domain/errors.ts";
import { toIso } from "../../lib/dates/iso-time.ts";
import {
  BOOK_BODY_BYTES_MAX,
  type VenueCall,
  VenueClient,
  type VenueClientOptions,
  type VenueResponse,
} from "../shared/venue-client.ts";
import type { VenuePorts } from "../shared/venue-ports.ts";
import { isMarketId } from "./ids.ts";
import type { LimitlessDriftDetectors } from "./wire.ts";

/** Maximum rows per page of the market list. For a larger limit, the venue returns no rows or status 400. */
export const LIST_ROWS_MAX = 25;
export const TRADE_ROWS_MAX = 100;
const FEED_ROWS = 50;
/**
 * Default page size of the AMM feed. The feed may ignore a larger `limit`, so a page is the last page only if it is
 * shorter than this.
 */
export const FEED_ROWS_MIN = 10;
/** The venue recommends at most two concurrent requests, 300 ms apart, and tolerates short bursts. */
const LIMITS = { perSecond: 3, burst: 6, concurrency: 2 };

/** Dependencies of all functions that read from Limitless. */
export interface LimitlessContext extends VenuePorts {
  readonly client: LimitlessClient;
  readonly driftDetectors: LimitlessDriftDetectors;
}

export type LimitlessClient = ReturnType<typeof createLimitlessClient>;

/**
 * Creates the REST client of Limitless. Responses are unvalidated JSON, or null if the venue does not have the
 * resource.
 */
export function createLimitlessClient(options: Omit<VenueClientOptions, "limits">) {
  const client = new VenueClient({ ...options, limits: LIMITS });
  const find = async (
    id: string,
    path: string,
    call: Pick<VenueCall, "signal" | "query" | "maxBodyBytes">,
  ): Promise<VenueResponse | null> => {
    // 404: unknown id. 400: wrong kind of id, such as a group or an AMM in a request for an order book. 414: id too
    // long.
    const accept = [400, 404, 414];
    const response = await client.fetchJson(`/markets/${encodeURIComponent(id)}${path}`, { ...call, accept });
    return response.status >= 400 ? null : response;
  };

  return {
    requestsPerSecond: client.requestsPerSecond,
    /**
     * Lists open markets, newest first. A market added during the sweep shifts other rows to a later page, so rows may
     * be repeated but not missed.
     */
    listActive: (page: number, signal: AbortSignal) =>
      client.fetchJson("/markets/active", { query: { page, limit: LIST_ROWS_MAX, sortBy: "newest" }, signal }),
    /** Returns the slugs of all open rows and their children. No other endpoint links a child to its group. */
    listSlugs: (signal: AbortSignal) => client.fetchJson("/markets/active/slugs", { signal }),
    /**
     * Returns a market or group by slug or contract address, including resolved ones. Sends no request for an invalid
     * id.
     */
    findMarket: async (slugOrAddress: string, signal: AbortSignal) =>
      isMarketId(slugOrAddress) ? find(slugOrAddress, "", { signal }) : null,
    findBook: (slug: string, signal: AbortSignal) =>
      find(slug, "/orderbook", { signal, maxBodyBytes: BOOK_BODY_BYTES_MAX }),
    /** Trades of an order-book market. */
    listTrades: (slug: string, page: number, signal: AbortSignal) =>
      find(slug, "/events", { query: { page, limit: TRADE_ROWS_MAX }, signal }),
    /** Trades of an AMM market. */
    listFeed: (address: string, page: number, signal: AbortSignal) =>
      find(address, "/get-feed-events", { query: { page, limit: FEED_ROWS }, signal }),
    /** @param range  null for the whole look-back window that ends now */
    findHistory(
      slug: string,
      window: string,
      range: { readonly fromMs: number; readonly toMs: number } | null,
      signal: AbortSignal,
    ) {
      const times = range === null ? {} : { from: toIso(range.fromMs), to: toIso(range.toMs) };
      return find(slug, "/historical-price", { query: { interval: window, ...times }, signal });
    },
  };
}

/** Creates the error for a successful response whose body does not have the documented shape. */
export function createBadBodyError(expected: string): VenueError {
  return new VenueError("bad_body", `limitless response is not ${expected}`, { retryable: false });
}
