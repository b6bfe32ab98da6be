import { VenueError } from "../../domain/errors.ts";
import type { VenueId } from "../../domain/market.ts";
import { deleteOldest } from "../../lib/delete-oldest.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { ListingPage, VenueAdapter } from "../../ports/venue.ts";
import type { LookUpClaim, UnknownMarketStore } from "./unknown-market-store.ts";
import type { VenueRequestQueue } from "./venue-request-queue.ts";

/** Time for one look-up, of which at most half is the wait for its turn. */
const LOOK_UP_MS_MAX = 6_000;
/** A market that a venue does not have is not requested again for this time. */
export const UNKNOWN_MARKET_MS = 10 * 60_000;
/** Limit of unknown markets in the memory of this process. The store has those of all processes. */
export const UNKNOWN_MARKETS_MAX = 10_000;
/** A claim of a process that died ends after this time. It is longer than any look-up. */
const CLAIM_MS = 10_000;
/** The store has this time for a statement. Without an answer, the look-up continues without the store. */
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
  /** Null if the store did not answer in time. */
  readonly claim: Promise<LookUpClaim | null>;
  callers: number;
  /** Whether the venue answered that it does not have the market. */
  isUnknown: boolean;
}

/**
 * Requests markets that are not on the board from their venues. Concurrent look-ups of a market, also of other
 * processes, share one request. Markets that a venue does not have are stored. A look-up is claimed in the store before
 * it waits for its turn at the venue, so that a slow store does not use up turns and does not count as a failure of the
 * venue.
 */
export class LookUps {
  readonly #options: LookUpsOptions;
  /** By venue and market id. */
  readonly #running = new Map<string, LookUp>();
  /** Monotonic time until which a market counts as unknown, by venue and market id, oldest answer first. */
  readonly #unknownUntil = new Map<string, number>();

  constructor(options: LookUpsOptions) {
    this.#options = options;
  }

  /** Number of unknown markets in memory. */
  get unknownCount(): number {
    return this.#unknownUntil.size;
  }

  /**
   * Requests a market and applies it to the board. Returns false if the venue does not have it.
   *
   * @throws VenueError as `VenueRequestQueue.run`, with 6 seconds
   */
  async find(venue: VenueId, marketId: string): Promise<boolean> {
    const { venues, clock, isListed } = this.#options;
    const adapter = venues.get(venue)?.adapter;
    if (adapter === undefined) return false;
    const endsAt = clock.monotonic() + LOOK_UP_MS_MAX;
    while (clock.monotonic() < endsAt) {
      const outcome = await this.#ask(venue, marketId, adapter, endsAt);
      if (outcome !== "asked_elsewhere") return outcome === "found";
      await clock.sleep(CLAIMED_ELSEWHERE_PAUSE_MS);
      // The process that requested the market stores it, and this one loads it.
      if (isListed(venue, marketId)) return true;
    }
    throw new VenueError("rate_limited", `${venue}: another process looks up the market`, { retryable: true });
  }

  async #ask(
    venue: VenueId,
    marketId: string,
    adapter: Pick<VenueAdapter, "findMarket">,
    endsAt: number,
  ): Promise<"found" | "unknown" | "asked_elsewhere"> {
    const { requests, clock, applyPage } = this.#options;
    const id = `${venue}/${marketId}`;
    if ((this.#unknownUntil.get(id) ?? 0) > clock.monotonic()) return "unknown";
    const lookUp = this.#running.get(id) ?? this.#start(venue, marketId);
    lookUp.callers += 1;
    try {
      const claim = await lookUp.claim;
      if (claim?.kind === "asked_elsewhere") return "asked_elsewhere";
      if (claim?.kind === "unknown") {
        this.#remember(id, claim.expiresInMs);
        return "unknown";
      }
      const send = async (signal: AbortSignal) => {
        const page = await adapter.findMarket(marketId, signal);
        if (page !== null) applyPage(venue, page);
        lookUp.isUnknown = page === null;
        if (page === null) this.#remember(id, UNKNOWN_MARKET_MS);
        return page === null ? "unknown" : "found";
      };
      const timeoutMs = endsAt - clock.monotonic();
      return await requests.runShared(venue, `look-up ${marketId}`, timeoutMs, send, { isLookUp: true });
    } finally {
      lookUp.callers -= 1;
      if (lookUp.callers === 0) this.#end(venue, marketId, lookUp);
    }
  }

  #start(venue: VenueId, marketId: string): LookUp {
    const claim = this.#beforeTimeout(this.#options.unknownMarkets.claim(venue, marketId, CLAIM_MS));
    const lookUp = { claim, callers: 0, isUnknown: false };
    this.#running.set(`${venue}/${marketId}`, lookUp);
    return lookUp;
  }

  /** Settles the claim in the store. The caller does not wait for it: an unsettled claim expires. */
  #end(venue: VenueId, marketId: string, { claim, isUnknown }: LookUp): void {
    this.#running.delete(`${venue}/${marketId}`);
    const { unknownMarkets, log } = this.#options;
    const settle = async () => {
      if (isUnknown) await unknownMarkets.recordUnknown(venue, marketId, UNKNOWN_MARKET_MS);
      else if ((await claim)?.kind === "claimed") await unknownMarkets.release(venue, marketId);
    };
    settle().catch((error: unknown) => log.debug({ venue, err: error }, "a look-up was not settled in the store"));
  }

  #remember(id: string, durationMs: number): void {
    this.#unknownUntil.delete(id);
    this.#unknownUntil.set(id, this.#options.clock.monotonic() + durationMs);
    deleteOldest(this.#unknownUntil, UNKNOWN_MARKETS_MAX);
  }

  /** Returns null if the store fails or does not answer in time. */
  async #beforeTimeout(claim: Promise<LookUpClaim>): Promise<LookUpClaim | null> {
    const { clock, log } = this.#options;
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
  }
}
