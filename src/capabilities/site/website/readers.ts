import { type BoardMarket, eventSlug, type MarketBoard } from "../../../board/index.ts";
import { rateLimited } from "../../../domain/errors.ts";
import { MINUTE_MS } from "../../../lib/durations.ts";
import { rateLimitedPrefixes } from "../../../lib/ip-prefix.ts";
import type { BrowserSessions } from "../../accounts/account-pages/index.ts";
import { SlidingLog } from "../../accounts/metering/index.ts";
import type { AnalysesService, CurrentAnalysis } from "../../analysis/analyses/index.ts";
import type { Calibration } from "../../analysis/calibration/index.ts";
import type { AreaPorts } from "../../area-ports.ts";
import type { MarketsService } from "../../markets/market-data/index.ts";
import type { HealthReport } from "../../operations/health/index.ts";
import type { ListedMarket } from "./market-table.ts";
import type { ShownPerformance } from "./track-record-page.ts";

/**
 * Maximum number of pages with market data per IP address. The pages need no key and consume no quota. The limit allows
 * one click per second, but the pages are no substitute for the API: 60 pages of 25 markets are equivalent to 15
 * requests for 100 markets.
 */
const MARKET_PAGES_PER_MINUTE = 60;

export interface WebsiteOptions extends Pick<AreaPorts, "clock" | "random" | "publicUrl" | "data"> {
  readonly service: MarketsService;
  readonly board: MarketBoard;
  /** Public ids of the venues that clients can query. */
  readonly venues: readonly string[];
  readonly health: () => HealthReport;
  /** The key in examples of a sandbox; null shows a placeholder. */
  readonly demoKey: string | null;
  /** URL of the operator's page where customers upgrade; null if not configured. */
  readonly upgradeUrl: string | null;
  /** Whether callers without a key can pay per request. */
  readonly acceptsPayments: boolean;
  /** Ids of the venues whose prices are only references, for example because they trade play money. */
  readonly referenceVenues: readonly string[];
  readonly analyses: Pick<AnalysesService, "analyse" | "findRunning" | "getStatus">;
  readonly browserSessions: Pick<BrowserSessions, "find" | "formTokenOf">;
  /** Returns the market's latest analysis, or null. May reject. */
  readonly readAnalysis: (market: BoardMarket) => Promise<CurrentAnalysis | null>;
  /** Returns the calibration of all our analyses. May reject. */
  readonly readCalibration: () => Promise<Calibration>;
  /** Returns the performance of the shadow book, or null if there is none. May reject. */
  readonly readPerformance: () => Promise<ShownPerformance | null>;
}

export type SiteContext = WebsiteOptions & ReturnType<typeof createReaders>;

/** Creates the functions with which several pages read data. */
export function createReaders({ board, clock, service }: WebsiteOptions) {
  const visits = new SlidingLog({ windowMs: MINUTE_MS });
  const withEvent = (market: BoardMarket): ListedMarket => {
    const { venue, eventId } = market.listing;
    return { market, event: eventId === null ? null : board.findEvent(eventSlug(venue, eventId)) };
  };
  const listMostTraded = (limit: number): ListedMarket[] =>
    service.listMarkets({ sort: "volume_24h", status: "active", limit }, null).markets.map(withEvent);
  return {
    withEvent,
    listMostTraded,
    /** @throws AppError `rate_limited` if the IP address has requested too many pages with market data */
    takeVisit({ ip }: { readonly ip: string }): void {
      for (const { block, factor } of rateLimitedPrefixes(ip)) {
        const { isAllowed, waitMs } = visits.take(block, factor * MARKET_PAGES_PER_MINUTE, clock.monotonic());
        if (!isAllowed) throw rateLimited("Too many pages", waitMs);
      }
    },
  };
}
