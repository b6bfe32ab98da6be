import type { BoardMarket } from "../../board/index.ts";
import type { VenueId } from "../../domain/market.ts";
import { type EarlierShift, isLargeMove, type PriceShiftLimits, shiftSigmas } from "../../quant/alerts/price-shift.ts";
import { type PricePoint, PriceWindow } from "../../quant/alerts/price-window.ts";
import { CANDIDATES_MAX, type ShiftCandidate } from "./model.ts";

const HOUR_MS = 3_600_000;
/** Limit of markets whose price changed in the last hour. Further markets are not watched until others are removed. */
const WATCHED_MARKETS_MAX = 100_000;

/** What is known of a market whose price changed in the last hour. */
interface Watched {
  readonly window: PriceWindow;
  /** First observation of a move that awaits its confirmation. */
  pending: { readonly at: number; readonly isUp: boolean } | null;
  /** Whether a confirmed move waits for the store. */
  isQueued: boolean;
  lastShift: EarlierShift | null;
  /** Standard deviation of the hourly moves as of an hour (number of hours since 1970); null if unknown in that hour. */
  sigma: { readonly hour: number; readonly value: number | null } | null;
}

/**
 * Watches the prices of the markets that change, and collects moves that are large in price units. Two observations must show
 * a move, because a single one can be an error of the venue. The standard deviation is read from the store only then, so a
 * price without a large move costs no read.
 */
export class PriceWatch {
  readonly #limits: PriceShiftLimits;
  readonly #watched = new Map<VenueId, Map<string, Watched>>();
  readonly #candidates: ShiftCandidate[] = [];
  #size = 0;
  #dropped = 0;

  constructor(limits: PriceShiftLimits) {
    this.#limits = limits;
  }

  /** Number of watched markets. */
  get size(): number {
    return this.#size;
  }

  /** Number of confirmed moves that wait. */
  get candidateCount(): number {
    return this.#candidates.length;
  }

  /** Number of price changes and moves that a limit dropped. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Forgets the markets of a venue. */
  forget(venue: VenueId): void {
    this.#size -= this.#watched.get(venue)?.size ?? 0;
    this.#watched.delete(venue);
  }

  /** Forgets the markets whose price did not change in the last hour. */
  prune(now: number): void {
    for (const markets of this.#watched.values()) {
      for (const [marketId, { window, lastShift, isQueued }] of markets) {
        if (isQueued || !window.isEmpty(now) || (lastShift !== null && now - lastShift.at < HOUR_MS)) continue;
        markets.delete(marketId);
        this.#size -= 1;
      }
    }
  }

  /**
   * Adds an observation of an active market's price.
   *
   * @param previous  the market before; null if it is new
   * @param at  when the price held, Unix milliseconds
   * @returns whether the price must be observed again
   */
  add(market: BoardMarket, previous: BoardMarket | null, at: number): boolean {
    const { yesPrice } = market;
    const watched = this.#watch(market);
    if (yesPrice === null || watched === null) return false;
    const { window } = watched;
    // A price that awaits its confirmation may be wrong, and is no price from which others move.
    if (previous !== null && watched.pending === null) addPrevious(window, previous, at);
    const old = this.#oldPrice(watched, yesPrice, at);
    if (watched.isQueued || old === null || !this.#isLarge(watched, old, yesPrice, at)) {
      watched.pending = null;
      window.add(at, yesPrice);
      return false;
    }
    const isUp = yesPrice > old.yesPrice;
    if (watched.pending?.isUp !== isUp) watched.pending = { at, isUp };
    if (at <= watched.pending.at) return true;
    window.add(at, yesPrice);
    watched.pending = null;
    if (this.#candidates.length >= CANDIDATES_MAX) this.#dropped += 1;
    else {
      watched.isQueued = true;
      this.#candidates.push({ market, old, latest: { at, yesPrice } });
    }
    return false;
  }

  /** Returns the first candidates, at most `limit`. They stay queued until `settle`. */
  peek(limit: number): readonly ShiftCandidate[] {
    return this.#candidates.slice(0, limit);
  }

  /**
   * Removes the first candidates, with what is now known of their markets.
   *
   * @param results  by candidate: the standard deviation and the market's last alert, null if unknown
   */
  settle(results: readonly { readonly sigma: number | null; readonly lastShift: EarlierShift | null }[]): void {
    const settled = this.#candidates.splice(0, results.length);
    settled.forEach(({ market: { listing }, latest }, index) => {
      const watched = this.#watched.get(listing.venue)?.get(listing.marketId);
      const result = results[index];
      if (watched === undefined || result === undefined) return;
      watched.isQueued = false;
      watched.lastShift = result.lastShift;
      watched.sigma = { hour: Math.floor(latest.at / HOUR_MS), value: result.sigma };
    });
  }

  #watch({ listing: { venue, marketId } }: BoardMarket): Watched | null {
    const markets = this.#watched.get(venue) ?? new Map<string, Watched>();
    this.#watched.set(venue, markets);
    const known = markets.get(marketId);
    if (known !== undefined) return known;
    if (this.#size >= WATCHED_MARKETS_MAX) {
      this.#dropped += 1;
      return null;
    }
    const watched = { window: new PriceWindow(), pending: null, isQueued: false, lastShift: null, sigma: null };
    markets.set(marketId, watched);
    this.#size += 1;
    return watched;
  }

  /** The price from which a move is measured: within an hour of an alert, the price of that alert. */
  #oldPrice({ window, lastShift }: Watched, yesPrice: number, at: number): PricePoint | null {
    return originOf(lastShift, at) ?? window.furthestFrom(yesPrice, at);
  }

  #isLarge({ sigma, lastShift }: Watched, old: PricePoint, yesPrice: number, at: number): boolean {
    const { minMove, minSigmas, sigmaFloor } = this.#limits;
    if (!isLargeMove(old.yesPrice, yesPrice, at, lastShift, minMove)) return false;
    if (sigma?.hour !== Math.floor(at / HOUR_MS)) return true;
    if (sigma.value === null) return false;
    return Math.abs(shiftSigmas(old.yesPrice, yesPrice, sigma.value, sigmaFloor)) >= minSigmas;
  }
}

/** The price of an alert of the last hour, from which the next move is measured; null if there was none. */
export function originOf(lastShift: EarlierShift | null, at: number): PricePoint | null {
  return lastShift !== null && at - lastShift.at < HOUR_MS ? { at: lastShift.at, yesPrice: lastShift.newPrice } : null;
}

/** Adds the price that a market had until now, if it was seen within the hour and the market was open. */
function addPrevious(window: PriceWindow, { yesPrice, updatedAt, listing }: BoardMarket, at: number): void {
  const isRecent = updatedAt <= at && at - updatedAt < HOUR_MS;
  if (yesPrice !== null && isRecent && listing.status === "active") window.add(updatedAt, yesPrice);
}
