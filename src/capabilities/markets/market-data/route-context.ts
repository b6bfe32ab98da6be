import type { BoardMarket, MarketBoard } from "../../../board/index.ts";
import { METERING } from "../../../domain/metering.ts";
import type { createMarketSchemas, VenueIds } from "./schema.ts";
import type { MarketsService } from "./service.ts";

/** Options common to all routes of this capability. */
export const COMMON_OPTIONS = { method: "GET", access: "key", metering: METERING.LISTING, tag: "Markets" } as const;

export interface RouteContext {
  readonly service: MarketsService;
  readonly board: MarketBoard;
  readonly venues: VenueIds;
  readonly publicUrl: string | null;
  readonly now: () => number;
  /** Returns the Analysis object of the market's latest analysis; null if there is none. */
  readonly readAnalysis: (market: BoardMarket) => Promise<object | null>;
  readonly schemas: ReturnType<typeof createMarketSchemas>;
}
