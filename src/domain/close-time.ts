import type { MarketListing } from "./market.ts";

/**
 * Returns the close time for decisions; null if it is unknown. A close time that is not after `now` is unknown while
 * the venue lists the market as active or pending: some venues publish an approximate end date, and trading continues
 * after it. Once trading has ended, the published time is kept.
 *
 * @param now  Unix milliseconds
 */
export function openCloseTime(
  { status, closeAt }: Pick<MarketListing, "status" | "closeAt">,
  now: number,
): number | null {
  return isStillTrue(status, closeAt, now) ? closeAt : null;
}

/**
 * Returns when the result is expected: the venue's expected time, else the close time, each by the rule of
 * `openCloseTime`. Null if neither is known.
 *
 * @param now  Unix milliseconds
 */
export function openResolutionTime(
  listing: Pick<MarketListing, "status" | "closeAt" | "expectedResolutionAt">,
  now: number,
): number | null {
  return openExpectedTime(listing, now) ?? openCloseTime(listing, now);
}

/**
 * Returns the venue's expected time of the result by the rule of `openCloseTime`.
 *
 * @param now  Unix milliseconds
 */
export function openExpectedTime(
  { status, expectedResolutionAt }: Pick<MarketListing, "status" | "expectedResolutionAt">,
  now: number,
): number | null {
  return isStillTrue(status, expectedResolutionAt, now) ? expectedResolutionAt : null;
}

/**
 * Whether the venue accepts orders in a market, as far as known. A close time in the past counts only if the market
 * has not been confirmed since: the venue may have closed it. After a later confirmation, the close time was wrong.
 *
 * @param confirmedAt  when the market was last confirmed, Unix milliseconds
 * @param now  Unix milliseconds
 */
export function acceptsOrders(
  { status, paused, closeAt }: Pick<MarketListing, "status" | "paused" | "closeAt">,
  confirmedAt: number,
  now: number,
): boolean {
  return status === "active" && !paused && (closeAt === null || closeAt > now || closeAt <= confirmedAt);
}

function isStillTrue(status: MarketListing["status"], at: number | null, now: number): boolean {
  return at !== null && (at > now || (status !== "active" && status !== "pending"));
}
