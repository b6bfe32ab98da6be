import type { MarketListing } from "./market.ts";

/**
 * Returns the closing time; null if it is unknown. While the venue lists the market as active or pending, a closing
 * time up to `now` counts as unknown: some venues publish only an approximate end date, after which trading continues.
 * After trading has ended, the published time is returned.
 *
 * @param now  Unix milliseconds
 */
export function validCloseTime(
  { status, closeAt }: Pick<MarketListing, "status" | "closeAt">,
  now: number,
): number | null {
  return isStillTrue(status, closeAt, now) ? closeAt : null;
}

/**
 * Returns when the resolution is expected: the venue's expected time, else the closing time, both by the rule of
 * `validCloseTime`. Null if both are unknown.
 *
 * @param now  Unix milliseconds
 */
export function validResolutionTime(
  listing: Pick<MarketListing, "status" | "closeAt" | "expectedResolutionAt">,
  now: number,
): number | null {
  return validExpectedTime(listing, now) ?? validCloseTime(listing, now);
}

/**
 * Returns the venue's expected resolution time, by the rule of `validCloseTime`.
 *
 * @param now  Unix milliseconds
 */
export function validExpectedTime(
  { status, expectedResolutionAt }: Pick<MarketListing, "status" | "expectedResolutionAt">,
  now: number,
): number | null {
  return isStillTrue(status, expectedResolutionAt, now) ? expectedResolutionAt : null;
}

/**
 * Whether the venue probably accepts orders in a market. A closing time in the past means that the market is closed,
 * unless the venue has listed it as active since then: the closing time was then wrong.
 *
 * @param confirmedAt  when the venue last confirmed the listing, Unix milliseconds
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
