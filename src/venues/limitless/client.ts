import { VenueError } from "../../domain/errors.ts";
import { limitsFor, type RequestLimits, VenueClient, type VenueResponse } from "../shared/venue-client.ts";
import type { VenuePorts } from "../shared/venue-ports.ts";

/** A larger page is an error on this venue. */
export const LIST_ROWS_MAX = 25;
export const TAPE_ROWS_MAX = 100;
const FEED_ROWS = 50;
/** The feed's own page size; it may not honour a larger one, so only a shorter page means the end. */
export const FEED_ROWS_MIN = 10;
/** The venue asks for at most two requests at once and 300 ms between them; short bursts are tolerated. */
const LIMITS: RequestLimits = { perSecond: 3, burst: 6, concurrency: 2 };

/** The requests we make; answers are JSON that nobody has checked yet, null where the venue knows no such thing. */
export interface LimitlessClient {
  listActive(page: number, signal: AbortSignal): Promise<VenueResponse>;
  /** Slugs of all open rows, with those of their children: tells which group a child belongs to. */
  listSlugs(signal: AbortSignal): Promise<VenueResponse>;
  /** A market or a group by slug or address, resolved ones too; null without asking for what cannot be an id. */
  findMarket(slugOrAddress: string, signal: AbortSignal): Promise<VenueResponse | null>;
  findBook(slug: string, signal: AbortSignal): Promise<VenueResponse | null>;
  listTape(slug: string, page: number, signal: AbortSignal): Promise<VenueResponse | null>;
  listFeed(address: string, page: number, signal: AbortSignal): Promise<VenueResponse | null>;
  findHistory(
    slug: string,
    range: { fromMs: number; toMs: number },
    signal: AbortSignal,
  ): Promise<VenueResponse | null>;
}

export function createLimitlessClient(
  ports: Pick<VenuePorts, "http" | "clock" | "random" | "drop" | "areLimitsLifted">,
  restUrl: string,
): LimitlessClient {
  const venue = new VenueClient({
    http: ports.http,
    clock: ports.clock,
    random: ports.random,
    drop: ports.drop,
    limits: limitsFor(ports, LIMITS),
  });
  const base = restUrl.replace(/\/$/, "");

  const fetchKnown = async (path: string, signal: AbortSignal): Promise<VenueResponse | null> => {
    // Unknown ids are a 404, ids of the wrong kind (the book of a group or an AMM) a 400, ids too long for it a 414.
    const answer = await venue.fetchJson(`${base}${path}`, { signal, accept: [400, 404, 414] });
    return answer.status >= 400 ? null : answer;
  };

  return {
    // Newest first: rows that appear meanwhile push others to later pages, where they are seen twice and not missed.
    listActive: (page, signal) =>
      venue.fetchJson(`${base}/markets/active?page=${page}&limit=${LIST_ROWS_MAX}&sortBy=newest`, { signal }),
    findMarket: async (id, signal) =>
      isMarketId(id) ? fetchKnown(`/markets/${encodeURIComponent(id)}`, signal) : null,
    listSlugs: (signal) => venue.fetchJson(`${base}/markets/active/slugs`, { signal }),
    findBook: (slug, signal) => fetchKnown(`/markets/${encodeURIComponent(slug)}/orderbook`, signal),
    listTape: (slug, page, signal) =>
      fetchKnown(`/markets/${encodeURIComponent(slug)}/events?page=${page}&limit=${TAPE_ROWS_MAX}`, signal),
    listFeed: (address, page, signal) =>
      fetchKnown(`/markets/${encodeURIComponent(address)}/get-feed-events?page=${page}&limit=${FEED_ROWS}`, signal),
    findHistory(slug, range, signal) {
      const query = new URLSearchParams({
        interval: "1h",
        from: new Date(range.fromMs).toISOString(),
        to: new Date(range.toMs).toISOString(),
      });
      return fetchKnown(`/markets/${encodeURIComponent(slug)}/historical-price?${query}`, signal);
    },
  };
}

/** Paths beside the markets that a slug must not be mistaken for. */
const RESERVED = new Set([".", "..", "active", "search", "timeline", "categories"]);
const ID_CHARS_MAX = 512;

/** Whether an id can be one of this venue's; others are not worth a request. */
function isMarketId(id: string): boolean {
  return id.length <= ID_CHARS_MAX && /^[^\s/\\?#%\p{Cc}\p{Cs}]+$/u.test(id) && !RESERVED.has(id);
}

/** The venue answered, but not with what it documents. */
export function badBody(what: string): VenueError {
  return new VenueError("bad_body", `limitless answered with something that is not ${what}`, { retryable: false });
}
