import type { BoardMarket, MarketBoard } from "../../../board/index.ts";
import type { VenueId } from "../../../domain/market.ts";
import { loadTimeZones } from "../../../lib/dates/zoned-time.ts";
import type { Clock } from "../../../ports/clock.ts";
import { describeResolution } from "./describe-resolution.ts";
import type { KeyDate, Resolution } from "./model.ts";

export interface ResolutionPorts {
  readonly board: Pick<MarketBoard, "eventOf">;
  readonly clock: Pick<Clock, "now">;
  /** Returns a market, with or without a price; throws as `MarketsService.getListedMarket` does. */
  readonly getMarket: (venue: VenueId, marketId: string) => Promise<BoardMarket>;
}

export interface MarketResolution {
  readonly market: BoardMarket;
  readonly resolution: Resolution;
  /** Unix milliseconds. */
  readonly generatedAt: number;
}

export type ResolutionService = ReturnType<typeof createResolutionService>;

export function createResolutionService({ board, clock, getMarket }: ResolutionPorts) {
  loadTimeZones();
  const describe = (market: BoardMarket, now: number): Resolution => {
    return describeResolution(market, board.eventOf(market)?.listing.title ?? null, now);
  };
  return {
    /** Returns the nearest key date after `now` (Unix milliseconds), or null if none is known. */
    nextKeyDate: (market: BoardMarket, now: number): KeyDate | null =>
      describe(market, now).keyDates.find(({ at }) => at > now) ?? null,

    /** @throws AppError `market_not_found`; VenueError if the venue request fails */
    async getResolution(venue: VenueId, marketId: string): Promise<MarketResolution> {
      const market = await getMarket(venue, marketId);
      const now = clock.now();
      return { market, resolution: describe(market, now), generatedAt: now };
    },
  };
}
