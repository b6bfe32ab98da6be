import { type BoardMarket, eventSlug, type MarketBoard } from "../../board/index.ts";
import type { VenueId } from "../../domain/market.ts";
import { loadTimeZones } from "../../lib/zoned-time.ts";
import type { Clock } from "../../ports/clock.ts";
import { describeResolution } from "./describe-resolution.ts";
import type { Resolution } from "./model.ts";

export interface ResolutionPorts {
  readonly board: Pick<MarketBoard, "findEvent">;
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
  return {
    /** @throws AppError `market_not_found`; VenueError if the venue request fails */
    async getResolution(venue: VenueId, marketId: string): Promise<MarketResolution> {
      const market = await getMarket(venue, marketId);
      const { eventId } = market.listing;
      const event = eventId === null ? null : board.findEvent(eventSlug(venue, eventId));
      const now = clock.now();
      const resolution = describeResolution(market, event?.listing.title ?? null, now);
      return { market, resolution, generatedAt: now };
    },
  };
}
