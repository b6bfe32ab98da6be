import type { FastifyInstance, LightMyRequestResponse } from "fastify";
import { systemRandom } from "../../../src/adapters/system/system-random.ts";
import { MarketBoard } from "../../../src/board/index.ts";
import {
  createMarketsService,
  type MarketsDependencies,
} from "../../../src/capabilities/markets/market-data/service.ts";
import type { HealthReport } from "../../../src/capabilities/operations/health/index.ts";
import type { WebsiteOptions } from "../../../src/capabilities/site/website/readers.ts";
import { websiteRoutes } from "../../../src/capabilities/site/website/routes.ts";
import { AppError } from "../../../src/domain/errors.ts";
import { HOUR_MS } from "../../../src/lib/durations.ts";
import { FakeClock } from "../fake-clock.ts";
import { SAMPLE_AT } from "../markets/market-samples.ts";
import { NO_MATCHES } from "../matching/no-matches.ts";
import { sampleCandle } from "../storage-samples.ts";
import { testServer } from "../test-app.ts";

const BROWSER = { accept: "text/html,application/xhtml+xml", host: "127.0.0.1:8787" };

export interface SiteContext {
  readonly app: FastifyInstance;
  readonly board: MarketBoard;
  readonly clock: FakeClock;
  /** Requests a page like a browser, each time from another IP address unless `from` is set. */
  visit(
    path: string,
    options?: { readonly headers?: Readonly<Record<string, string>>; readonly from?: string; readonly method?: "HEAD" },
  ): Promise<LightMyRequestResponse>;
}

/** Opens the public pages on a real server with an empty board. The venues are alpha and beta; it is a sandbox. */
export async function openWebsite(
  options: Partial<WebsiteOptions> & { readonly readHistory?: MarketsDependencies["pastPrices"]["read"] } = {},
): Promise<SiteContext> {
  const { readHistory, data = "sandbox", publicUrl = null, ...others } = options;
  const clock = new FakeClock(SAMPLE_AT);
  const board = new MarketBoard(() => clock.now());
  const { app } = await testServer({ data, publicUrl, clock });
  const service = createMarketsService({
    board,
    clock,
    venues: ["alpha", "beta"],
    fetchMarket: async () => {
      throw new Error("A page must not request a market from its venue");
    },
    pastPrices: {
      read:
        readHistory ??
        (async (_market, period) => ({
          period,
          intervalSeconds: 3_600,
          generatedAt: clock.now(),
          points: [0.35, 0.5, 0.41].map((price, index) =>
            sampleCandle(SAMPLE_AT - (3 - index) * HOUR_MS, SAMPLE_AT - (2 - index) * HOUR_MS, price),
          ),
        })),
      readRange: async () => {
        throw new Error("A page reads its history by period");
      },
    },
    readTrend: async () => ({ volumeUsd: null, volumeBeforeUsd: null, spread: null, spreadBefore: null }),
    books: { readOrLast: async () => ({ book: null, isStale: false }) },
    trades: { read: async () => ({ trades: [], next: null }) },
    detailsOf: () => null,
    matches: NO_MATCHES,
    estimateOf: () => null,
  });
  const describeVenue = (status: "ok" | "down", markets: number) => ({
    status,
    markets,
    role: "ingest" as const,
    stream: "up" as const,
    last_success_at: null,
    lag_seconds: 1,
    drops: {},
    drift: [],
    sweep: { rows: 0, total: null, completed: 1, incomplete: 0 },
  });
  const health: HealthReport = {
    status: "degraded",
    version: "1",
    data,
    uptime_seconds: 1,
    checks: {
      store: { status: "ok" },
      bus: { status: "ok" },
      jobs: { status: "ok" },
      venues: { alpha: describeVenue("ok", 1_234), beta: describeVenue("down", 0) },
    },
  };
  websiteRoutes(app, {
    service,
    board,
    clock,
    venues: ["alpha", "beta"],
    publicUrl,
    data,
    demoKey: "plx_ent_demo",
    upgradeUrl: null,
    acceptsPayments: false,
    readAnalysis: async () => null,
    referenceVenues: [],
    random: systemRandom,
    analyses: {
      findRunning: async () => null,
      getStatus: () => Promise.reject(new AppError("analysis_not_found", "There is no such analysis")),
      analyse: () => Promise.reject(new Error("A visitor without a session started an analysis")),
    },
    browserSessions: { find: async () => null, formTokenOf: () => "" },
    readCalibration: async () => {
      throw new AppError("store_unavailable", "The store is unavailable.");
    },
    readPerformance: async () => null,
    health: () => health,
    ...others,
  });
  let addressCount = 0;
  const createAddress = () => {
    addressCount += 1;
    return `127.1.${addressCount >> 8}.${addressCount & 255}`;
  };
  const visit: SiteContext["visit"] = (url, { headers = {}, from = createAddress(), method = "GET" as const } = {}) =>
    app.inject({ method, url, headers: { ...BROWSER, ...headers }, remoteAddress: from });
  return { app, board, clock, visit };
}
