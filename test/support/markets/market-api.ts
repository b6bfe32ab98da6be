import type { FastifyInstance, LightMyRequestResponse } from "fastify";
import { MarketBoard } from "../../../src/board/index.ts";
import { marketRoutes } from "../../../src/capabilities/markets/market-data/routes.ts";
import {
  createMarketsService,
  type MarketsDependencies,
} from "../../../src/capabilities/markets/market-data/service.ts";
import { createResolutionService, resolutionRoutes } from "../../../src/capabilities/markets/resolution/index.ts";
import type { PriceHistory } from "../../../src/storage/index.ts";
import { FakeClock } from "../fake-clock.ts";
import { NO_MATCHES } from "../matching/no-matches.ts";
import { sampleCandle } from "../storage-samples.ts";
import { testServer, VALID_KEY } from "../test-app.ts";
import { SAMPLE_AT } from "./market-samples.ts";

export interface MarketApi {
  readonly app: FastifyInstance;
  readonly board: MarketBoard;
  readonly clock: FakeClock;
  /** Sends a GET request with a valid key. */
  get(url: string, headers?: Readonly<Record<string, string>>): Promise<LightMyRequestResponse>;
}

export interface MarketApiOptions {
  readonly trading?: readonly string[];
  readonly reference?: readonly string[];
  readonly publicUrl?: string | null;
  /** Fetches a market that is not on the board. The default returns false (unknown market). */
  readonly fetchMarket?: MarketsDependencies["fetchMarket"];
  /** Overrides of the history, which has one point by default. */
  readonly pastPrices?: Partial<MarketsDependencies["pastPrices"]>;
  readonly readTrend?: MarketsDependencies["readTrend"];
  /** Reads order books. The default returns null (no book). */
  readonly books?: MarketsDependencies["books"];
  /** Reads trades. The default returns none. */
  readonly trades?: MarketsDependencies["trades"];
  readonly detailsOf?: MarketsDependencies["detailsOf"];
  /** Creates the matching of the board. By default nothing matches. */
  readonly openMatches?: (board: MarketBoard, clock: FakeClock) => MarketsDependencies["matches"];
}

/**
 * Opens the routes of markets and their resolution on a real server with an empty board. The venues are alpha, beta and the reference venue
 * gamma.
 */
export async function openMarketApi(options: MarketApiOptions = {}): Promise<MarketApi> {
  const clock = new FakeClock(SAMPLE_AT);
  const board = new MarketBoard(() => clock.now());
  const trading = options.trading ?? ["alpha", "beta"];
  const publicUrl = options.publicUrl ?? null;
  const { app } = await testServer({ publicUrl });
  const service = createMarketsService({
    board,
    clock,
    venues: trading,
    fetchMarket: options.fetchMarket ?? (async () => false),
    pastPrices: {
      read: async (_market, period): Promise<PriceHistory> => ({
        period,
        intervalSeconds: 3_600,
        generatedAt: clock.now(),
        points: [
          sampleCandle(SAMPLE_AT - 3_600_000, SAMPLE_AT, 0.4, {
            bid: 0.39,
            ask: 0.41,
            open: 0.38,
            high: 0.45,
            low: 0.3,
          }),
        ],
      }),
      readRange: async (_market, { intervalMs }): Promise<PriceHistory> => ({
        period: null,
        intervalSeconds: intervalMs / 1_000,
        generatedAt: clock.now(),
        points: [],
      }),
      ...options.pastPrices,
    },
    readTrend:
      options.readTrend ?? (async () => ({ volumeUsd: null, volumeBeforeUsd: null, spread: null, spreadBefore: null })),
    books: options.books ?? { readOrLast: async () => ({ book: null, isStale: false }) },
    trades: options.trades ?? { read: async () => ({ trades: [], next: null }) },
    detailsOf: options.detailsOf ?? (() => ({ bookType: "clob", ids: {} })),
    matches: options.openMatches?.(board, clock) ?? NO_MATCHES,
    estimateOf: () => null,
  });
  const venues = { trading, all: [...trading, ...(options.reference ?? ["gamma"])] };
  marketRoutes(app, {
    service,
    board,
    venues,
    publicUrl,
    now: () => clock.now(),
    readAnalysis: async ({ listing }) => (listing.marketId === "m" ? { analysis_id: "plx-m" } : null),
  });
  const resolution = createResolutionService({ board, clock, getMarket: service.getListedMarket });
  resolutionRoutes(app, resolution, venues);
  const get: MarketApi["get"] = (url, headers = {}) =>
    app.inject({ method: "GET", url, headers: { authorization: `Bearer ${VALID_KEY}`, ...headers } });
  return { app, board, clock, get };
}

interface ValidationBody {
  readonly detail: readonly { readonly type: string; readonly loc: readonly (string | number)[] }[];
}

/** Returns the errors of a 422 as "type at location", or the status of any other response. */
export function describeErrors(response: LightMyRequestResponse): string[] {
  if (response.statusCode !== 422) return [String(response.statusCode)];
  return describeDetail(response.json<ValidationBody>());
}

/** Returns the errors of the body of a 422 as "type at location". */
export const describeDetail = ({ detail }: ValidationBody): string[] =>
  detail.map(({ type, loc }) => `${type} at ${loc.join(".")}`);
