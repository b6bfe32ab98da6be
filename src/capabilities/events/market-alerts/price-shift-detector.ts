import type { BoardMarket } from "../../../board/index.ts";
import type { VenueId } from "../../../domain/market.ts";
import type { PricePoint } from "../../../domain/trade.ts";
import { HOUR_MS } from "../../../lib/durations.ts";
import {
  isLargeMove,
  type PriceShiftAlert,
  type PriceShiftLimits,
  shiftSigmas,
} from "../../../quant/alerts/price-shift.ts";
import { PriceWindow } from "../../../quant/alerts/price-window.ts";
import { CANDIDATES_MAX } from "./model.ts";

/**
 * Maximum number of watched markets (markets with a price change in the last hour). Further markets are not watched
 * until others are removed.
 */
const WATCHED_MARKETS_MAX = 100_000;

/** A price move that a second observation has confirmed. */
export interface ShiftCandidate {
  readonly market: BoardMarket;
  readonly old: PricePoint;
  readonly latest: PricePoint;
}

/** State of a market whose price changed in the last hour. */
interface Watched {
  readonly window: PriceWindow;
  /** First observation of a move that has not been confirmed yet; null if there is none. */
  pending: { readonly at: number; readonly isUp: boolean } | null;
  /** Whether a confirmed move of the market is queued in `#candidates`. */
  isQueued: boolean;
  lastShift: PriceShiftAlert | null;
  /** Standard deviation of the hourly moves in log-odds, read in `hour` (hours since 1970); null if unknown. */
  sigma: { readonly hour: number; readonly value: number | null } | null;
}

/**
 * Watches the prices of changing markets, and collects moves that are large in price units. A second observation must
 * confirm a move, because a single observation can be an error of the venue. The standard deviation is read from the
 * store only for confirmed moves.
 */
export class PriceShiftDetector {
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

  /** Number of confirmed moves that are queued. */
  get candidateCount(): number {
    return this.#candidates.length;
  }

  /** Number of price changes and moves that a limit dropped. */
  get dropped(): number {
    return this.#dropped;
  }

  forget(venue: VenueId): void {
    this.#size -= this.#watched.get(venue)?.size ?? 0;
    this.#watched.delete(venue);
  }

  /** Removes the markets whose price did not change in the last hour. */
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
   * @param previous  the market before the update; null if it is new
   * @param at  time of the price, Unix milliseconds
   * @returns whether a second observation must confirm the price
   */
  add(market: BoardMarket, previous: BoardMarket | null, at: number): boolean {
    const { yesPrice } = market;
    const watched = this.#watch(market);
    if (yesPrice === null || watched === null) return false;
    const { window } = watched;
    // An unconfirmed price may be wrong, so later moves are not measured from it.
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

  /** Returns the first candidates, at most `limit`. `settle` removes them from the queue. */
  peek(limit: number): readonly ShiftCandidate[] {
    return this.#candidates.slice(0, limit);
  }

  /**
   * Removes the first candidates from the queue, and stores the results for their markets.
   *
   * @param results  for each candidate: the market's standard deviation in log-odds and its last alert; null if unknown
   */
  settle(results: readonly { readonly sigma: number | null; readonly lastShift: PriceShiftAlert | null }[]): void {
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

  /**
   * Returns the price from which a move is measured: the new price of the last alert within an hour, else the price in
   * the window that is furthest away.
   */
  #oldPrice({ window, lastShift }: Watched, yesPrice: number, at: number): PricePoint | null {
    return shiftOriginOf(lastShift, at) ?? window.furthestFrom(yesPrice, at);
  }

  #isLarge({ sigma, lastShift }: Watched, old: PricePoint, yesPrice: number, at: number): boolean {
    const { minMove, minSigmas, sigmaFloor } = this.#limits;
    if (!isLargeMove(old.yesPrice, yesPrice, at, lastShift, minMove)) return false;
    if (sigma?.hour !== Math.floor(at / HOUR_MS)) return true;
    if (sigma.value === null) return false;
    return Math.abs(shiftSigmas(old.yesPrice, yesPrice, sigma.value, sigmaFloor)) >= minSigmas;
  }
}

/** Returns the new price of the last alert, from which the next move is measured; null if it is older than an hour. */
export function shiftOriginOf(lastShift: PriceShiftAlert | null, at: number): PricePoint | null {
  return lastShift !== null && at - lastShift.at < HOUR_MS ? { at: lastShift.at, yesPrice: lastShift.newPrice } : null;
}

/** Adds the price that a market had before this update, if it is at most an hour old and the market was open. */
function addPrevious(window: PriceWindow, { yesPrice, updatedAt, listing }: BoardMarket, at: number): void {
  const isRecent = updatedAt <= at && at - updatedAt < HOUR_MS;
  if (yesPrice !== null && isRecent && listing.status === "active") window.add(updatedAt, yesPrice);
}
