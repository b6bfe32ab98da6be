import { toIso } from "../../../lib/dates/iso-time.ts";
import { roundTo } from "../../../lib/numbers.ts";
import type { MarketResolution } from "./service.ts";

const toIsoOrNull = (at: number | null): string | null => (at === null ? null : toIso(at));
/** Rounds to 1e-4: hours to a third of a second, theta to a hundredth of a basis point. */
const round = (value: number | null): number | null => (value === null ? null : roundTo(value, 4));

/** Creates the Resolution object of the API. */
export function presentResolution({ market, resolution, generatedAt }: MarketResolution) {
  return {
    market_id: market.listing.marketId,
    platform: market.listing.venue,
    title: market.listing.title,
    status: resolution.status,
    expiration_date: toIsoOrNull(resolution.expirationAt),
    close_date: toIsoOrNull(resolution.closeAt),
    resolution_date: toIsoOrNull(resolution.expectedResolutionAt),
    hours_to_expiration: round(resolution.hoursToExpiration),
    resolution_mechanism: resolution.mechanism,
    rules_summary: resolution.rulesSummary,
    time_urgency: resolution.timeUrgency,
    theta_estimate: round(resolution.thetaEstimate),
    key_dates: resolution.keyDates.map(({ at, label, impact }) => ({ date: toIso(at), label, impact })),
    recurring_schedule: resolution.recurringSchedule,
    generated_at: toIso(generatedAt),
  };
}
