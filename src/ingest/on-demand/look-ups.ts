import { VenueError } from "../../domain/errors.ts";
import type { VenueId } from "../../domain/market.ts";
import { deleteOldest } from "../../lib/delete-oldest.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { ListingPage, VenueAdapter } from "../../ports/venue.ts";
import type { LookUpClaim, UnknownMarketStore } from "./unknown-market-store.ts";
import type { VenueRequestQueue } from "./venue-request-queue.ts";

/** Timeout of a look-up, in milliseconds. At most half of it is spent in the request queue. */
const LOOK_UP_MS_MAX = 6_000;
/** Time for which a market is not requested again after the venue reported that it does not exist. */
export const UNKNOWN_MARKET_MS = 10 * 60_000;
/** Maximum number of unknown markets in the memory of this process. The store has those of all processes. */
export const UNKNOWN_MARKETS_MAX = 10_000;
/** Time until a claim expires, for example because its process crashed. Longer than any look-up. */
const CLAIM_MS = 10_000;
/** Maximum time to wait for the store. After it, the look-up continues without the store. */
const STORE_MS_MAX = 1_000;
/** Pause between two attempts to claim a look-up that another process has claimed. */
const CLAIMED_ELSEWHERE_PAUSE_MS = 250;

export interface LookUpsOptions {
  readonly venues: ReadonlyMap<VenueId, { readonly adapter: Pick<VenueAdapter, "findMarket"> }>;
  readonly unknownMarkets: UnknownMarketStore;
  readonly requests: VenueRequestQueue;
  /** Whether the market is on the board of this process. */
  readonly isListed: (venue: VenueId, marketId: string) => boolean;
  readonly applyPage: (venue: VenueId, page: ListingPage) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** The look-up of one market in this process. */
interface LookUp {
  /** Null if the store did not respond in time. */
  readonly claim: Promise<LookUpClaim | null>;
  callers: number;
  /** True if the venue reported that the market does not exist. */
  isUnknown: boolean;
}

/**
 * Requests markets that are not on the board from their venues. Concurrent look-ups of a market share one request, even
 * across processes. Markets that do not exist are stored. A look-up is claimed in the store before it enters the
 * request queue, so that a slow store neither occupies the queue nor counts as a failure of the venue.
 */
export function createLookUps(options: LookUpsOptions) {
  const { requests, clock, applyPage, unknownMarkets, log, venues, isListed } = options;
  /** By venue and market id. */
  const running = new Map<string, LookUp>();
  /** Monotonic time until which a market counts as unknown, by venue and market id, oldest entry first. */
  const unknownUntil = new Map<string, number>();

  const request = async (
    venue: VenueId,
    marketId: string,
    adapter: Pick<VenueAdapter, "findMarket">,
    endsAt: number,
  ): Promise<"found" | "unknown" | "asked_elsewhere"> => {
    const id = `${venue}/${marketId}`;
    if ((unknownUntil.get(id) ?? 0) > clock.monotonic()) return "unknown";
    const lookUp = running.get(id) ?? start(venue, marketId);
    lookUp.callers += 1;
    try {
      const claim = await lookUp.claim;
      if (claim?.kind === "asked_elsewhere") return "asked_elsewhere";
      if (claim?.kind === "unknown") {
        remember(id, claim.expiresInMs);
        return "unknown";
      }
      const send = async (signal: AbortSignal) => {
        const page = await adapter.findMarket(marketId, signal);
        if (page !== null) applyPage(venue, page);
        lookUp.isUnknown = page === null;
        if (page === null) remember(id, UNKNOWN_MARKET_MS);
        return page === null ? "unknown" : "found";
      };
      const timeoutMs = endsAt - clock.monotonic();
      return await requests.run(venue, `look-up ${marketId}`, timeoutMs, send, { isLookUp: true });
    } finally {
      lookUp.callers -= 1;
      if (lookUp.callers === 0) end(venue, marketId, lookUp);
    }
  };

  const start = (venue: VenueId, marketId: string): LookUp => {
    const claim = beforeTimeout(unknownMarkets.claim(venue, marketId, CLAIM_MS));
    const lookUp = { claim, callers: 0, isUnknown: false };
    running.set(`${venue}/${marketId}`, lookUp);
    return lookUp;
  };

  /** Settles the claim in the store. The caller does not wait for it: an unsettled claim expires. */
  const end = (venue: VenueId, marketId: string, { claim, isUnknown }: LookUp): void => {
    running.delete(`${venue}/${marketId}`);
    const settle = async () => {
      if (isUnknown) await unknownMarkets.recordUnknown(venue, marketId, UNKNOWN_MARKET_MS);
      else if ((await claim)?.kind === "claimed") await unknownMarkets.release(venue, marketId);
    };
    settle().catch((error: unknown) => log.debug({ venue, err: error }, "a look-up was not settled in the store"));
  };

  const remember = (id: string, durationMs: number): void => {
    unknownUntil.delete(id);
    unknownUntil.set(id, clock.monotonic() + durationMs);
    deleteOldest(unknownUntil, UNKNOWN_MARKETS_MAX);
  };

  /** Returns null if the store fails or does not respond in time. */
  const beforeTimeout = async (claim: Promise<LookUpClaim>): Promise<LookUpClaim | null> => {
    const timeout = Promise.withResolvers<null>();
    const cancel = clock.setTimeout(() => timeout.resolve(null), STORE_MS_MAX);
    try {
      return await Promise.race([claim, timeout.promise]);
    } catch (error) {
      log.debug({ err: error }, "a look-up continues without the store");
      return null;
    } finally {
      cancel();
    }
  };

  return {
    /** Number of unknown markets in memory. */
    get unknownCount(): number {
      return unknownUntil.size;
    },
    /**
     * Requests a market and applies it to the board. Returns false if the venue does not have it.
     *
     * @throws VenueError under the conditions of `VenueRequestQueue.run`, with a timeout of 6 seconds
     */
    async find(venue: VenueId, marketId: string): Promise<boolean> {
      const adapter = venues.get(venue)?.adapter;
      if (adapter === undefined) return false;
      const endsAt = clock.monotonic() + LOOK_UP_MS_MAX;
      while (clock.monotonic() < endsAt) {
        const outcome = await request(venue, marketId, adapter, endsAt);
        if (outcome !== "asked_elsewhere") return outcome === "found";
        await clock.sleep(CLAIMED_ELSEWHERE_PAUSE_MS);
        // The process that requested the market stores it, and this process loads it from the store.
        if (isListed(venue, marketId)) return true;
      }
      throw new VenueError("rate_limited", `${venue}: another process looks up the market`, { retryable: true });
    },
  };
}
