import type { BoardMarket } from "../../../board/index.ts";
import type { VenueId } from "../../../domain/market.ts";
import { toIso } from "../../../lib/dates/iso-time.ts";
import { loadTimeZones } from "../../../lib/dates/zoned-time.ts";
import { roundTo } from "../../../lib/numbers.ts";
import type { MarketDependencies } from "../ports.ts";
import { describeResolution } from "./describe-resolution.ts";
import type { KeyDate, Resolution } from "./model.ts";
import type { ResolutionResponse } from "./schema.ts";

const toIsoOrNull = (at: number | null): string | null => (at === null ? null : toIso(at));
/** Rounds to 1e-4: for hours about a third of a second, for theta a hundredth of a basis point. */
const round = (value: number | null): number | null => (value === null ? null : roundTo(value, 4));

export type ResolutionService = ReturnType<typeof createResolutionService>;

/** Describes how and when markets resolve. */
export function createResolutionService({
  board,
  clock,
  getMarket,
}: Pick<MarketDependencies, "board" | "clock" | "getMarket">) {
  loadTimeZones();
  const describe = (market: BoardMarket, now: number): Resolution =>
    describeResolution(market, board.eventOf(market)?.listing.title ?? null, now);

  return {
    /** Returns the nearest key date after `now` (Unix milliseconds), or null if none is known. */
    nextKeyDate: (market: BoardMarket, now: number): KeyDate | null =>
      describe(market, now).keyDates.find(({ at }) => at > now) ?? null,

    /** @throws AppError `market_not_found`; VenueError if the venue request fails */
    async getResolution(venue: VenueId, marketId: string): Promise<ResolutionResponse> {
      const market = await getMarket(venue, marketId);
      const now = clock.now();
      const resolution = describe(market, now);
      return {
        market_id: marketId,
        platform: venue,
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
        generated_at: toIso(now),
      };
    },
  };
}
