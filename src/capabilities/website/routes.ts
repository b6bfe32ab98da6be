import type { FastifyInstance, FastifyRequest } from "fastify";
import { type BoardMarket, eventSlug, type MarketBoard } from "../../board/index.ts";
import { CATEGORIES } from "../../domain/category.ts";
import { AppError, InvalidRequestError, rateLimited, VenueError } from "../../domain/errors.ts";
import { METERING } from "../../domain/metering.ts";
import { PLAN_ALLOWANCES } from "../../domain/plan.ts";
import {
  assetRoutes,
  createNoticePage,
  createProblemPage,
  definePage,
  describeProblem,
  html,
  type ProblemPage,
  prefersHtml,
  resolveExampleSite,
  selectProblemTitle,
  sendPublicPage,
} from "../../http/html/index.ts";
import { decodeCursor, encodeCursor, type ListingKey } from "../../http/pagination.ts";
import { limitedBlocks } from "../../lib/address-block.ts";
import type { Clock } from "../../ports/clock.ts";
import type { HistoryReading } from "../../storage/index.ts";
import { PLANS_PATH } from "../account/index.ts";
import type { CurrentAnalysis } from "../analyses/index.ts";
import type { Calibration } from "../calibration/index.ts";
import type { HealthReport } from "../health/index.ts";
import { type MarketsService, presentMarket } from "../markets/index.ts";
import { SlidingLog } from "../metering/index.ts";
import { createLandingPage } from "./landing-page.ts";
import { createMarketPage } from "./market-page.ts";
import type { ListedMarket } from "./market-table.ts";
import { createMarketsPage, type MarketFilters, readFilter } from "./markets-page.ts";
import { createPricingPage } from "./pricing-page.ts";
import {
  CATEGORY_LENGTH_MAX,
  createListQuery,
  MarketPath,
  MarketQuery,
  type MarketSort,
  type Period,
  SEARCH_LENGTH_MAX,
} from "./schema.ts";
import { WEBSITE_STYLESHEET_ASSET } from "./styles.ts";
import { createTrackRecordPage, type ShownPerformance } from "./track-record-page.ts";

const LANDING_MARKETS = 8;
const MARKETS_PER_PAGE = 25;
const RELATED_MARKETS_MAX = 10;
const CHART_POINTS = 200;
/** A page is sent without the history if reading it takes longer, for example if the venue must be asked. */
const HISTORY_WAIT_MS = 1_500;

/**
 * Pages with market data per IP address. They need no key and consume no quota, so that visitors can look around. The
 * limit allows a person to click once a second, and makes the pages useless as a substitute for the API: 60 pages of 25
 * markets per minute are less than 15 requests for 100 markets.
 */
const MARKET_PAGES_PER_MINUTE = 60;
const MINUTE_MS = 60_000;

export interface WebsiteOptions {
  readonly service: MarketsService;
  readonly board: MarketBoard;
  readonly clock: Clock;
  /** Public ids of the venues that clients can query. */
  readonly venues: readonly string[];
  readonly health: () => HealthReport;
  readonly publicUrl: string | null;
  readonly data: "sandbox" | "live";
  /** The key in examples of a sandbox; null shows a placeholder. */
  readonly demoKey: string | null;
  /** URL of the operator's page where customers upgrade; null if not configured. */
  readonly upgradeUrl: string | null;
  /** Whether callers without a key can pay per request. */
  readonly acceptsPayments: boolean;
  /** Returns the market's latest analysis, or null. May reject. */
  readonly readAnalysis: (market: BoardMarket) => Promise<CurrentAnalysis | null>;
  /** Returns the calibration of all our analyses. May reject. */
  readonly readCalibration: () => Promise<Calibration>;
  /** Returns the performance of the shadow book, or null if there is none. May reject. */
  readonly readPerformance: () => Promise<ShownPerformance | null>;
}

type Website = WebsiteOptions & ReturnType<typeof createReaders>;

/** The public pages: start page, markets, track record and pricing. */
export function websiteRoutes(app: FastifyInstance, options: WebsiteOptions): void {
  const website = { ...options, ...createReaders(options) };
  defineLandingRoute(app, website);
  defineMarketsRoute(app, website);
  defineMarketRoute(app, website);
  defineTrackRecordRoute(app, website);
  definePricingRoutes(app, website);
  defineRobotsRoute(app);
  assetRoutes(app, [WEBSITE_STYLESHEET_ASSET]);
}

function createReaders({ board, clock, service }: WebsiteOptions) {
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
    takeVisit({ ip }: FastifyRequest): void {
      for (const { block, factor } of limitedBlocks(ip)) {
        const { isAllowed, waitMs } = visits.take(block, factor * MARKET_PAGES_PER_MINUTE, clock.monotonic());
        if (!isAllowed) throw rateLimited("Too many pages", waitMs);
      }
    },
  };
}

function defineLandingRoute(app: FastifyInstance, website: Website): void {
  const { clock, venues, health, acceptsPayments, publicUrl, data } = website;
  const base = publicUrl?.replace(/\/+$/, "") ?? "";
  definePage(app, {
    method: "GET",
    url: "/",
    handler({ request, reply }) {
      reply.header("vary", "accept");
      if (!prefersHtml(request.headers.accept)) return reply.send(createIndex(base, data));
      const markets = website.listMostTraded(LANDING_MARKETS);
      const [first] = markets;
      const page = createLandingPage({
        ...{ venues, markets, acceptsPayments },
        ...resolveExampleSite(request, website),
        health: health(),
        example: first === undefined ? null : presentMarket(first.market, first.event, website.service.lookups),
        freeCallsPerMonth: PLAN_ALLOWANCES.free.quotas.LISTING,
        now: clock.now(),
      });
      return sendPublicPage(reply, page);
    },
  });
}

/** The response at `/` for clients that do not ask for HTML. */
const createIndex = (base: string, data: "sandbox" | "live") => ({
  name: "Parallax",
  data,
  docs: `${base}/docs`,
  openapi: `${base}/openapi.json`,
  health: `${base}/v1/health`,
  pricing: `${base}/v1/pricing`,
  markets: `${base}/v1/markets`,
  sign_up: `${base}/account`,
});

function defineMarketsRoute(app: FastifyInstance, website: Website): void {
  const { service, board, venues } = website;
  const showErrors: ProblemPage = (status, error, { query }) => {
    if (!(error instanceof InvalidRequestError)) return createProblemPage(status, error);
    const filters: MarketFilters = {
      q: readFilter(query, "q"),
      venue: readFilter(query, "venue"),
      category: readFilter(query, "category"),
      sort: "volume_24h",
    };
    const errors = Object.fromEntries(error.errors.map(({ loc }) => [loc.at(-1), FIELD_ERRORS[String(loc.at(-1))]]));
    return createMarketsPage({
      filters,
      errors,
      venues,
      categories: CATEGORIES,
      ...{ markets: [], isContinued: false, next: null, isStarting: false },
    });
  };
  definePage(app, {
    method: "GET",
    url: "/markets",
    query: createListQuery(venues),
    problemPage: showErrors,
    handler({ query, request, reply }) {
      website.takeVisit(request);
      const { q = "", venue = "", category = "", sort = "volume_24h", cursor } = query;
      const filters = { q: q.trim(), venue, category: toOffered(category), sort: sort as MarketSort };
      const listing: ListingKey = { ...filters, category: category.toLowerCase() };
      const { markets, next } = service.listMarkets(
        {
          ...(filters.q === "" ? {} : { query: filters.q }),
          ...(venue === "" ? {} : { source: venue }),
          ...(category === "" ? {} : { category }),
          ...{ sort: filters.sort, status: "active", limit: MARKETS_PER_PAGE },
        },
        cursor === undefined ? null : toPosition(decodeCursor(cursor, listing)),
      );
      const page = createMarketsPage({
        filters,
        errors: {},
        venues,
        categories: CATEGORIES,
        markets: markets.map(website.withEvent),
        isContinued: cursor !== undefined,
        next: next === null ? null : encodeCursor(next, listing),
        isStarting: board.size === 0,
      });
      return sendPublicPage(reply, page);
    },
  });
}

/** Returns one of our categories as the form offers it, whatever its case, and a category of a venue as it is. */
const toOffered = (category: string): string =>
  CATEGORIES.find((name) => name.toLowerCase() === category.trim().toLowerCase()) ?? category;

/** Market lists have only numeric sort values, so a string becomes null. */
const toPosition = ({ value, id }: { readonly value: number | string | null; readonly id: string }) => ({
  value: typeof value === "number" ? value : null,
  id,
});

/** Error messages of the filter form. Each field can be invalid in one way only. */
const FIELD_ERRORS: Readonly<Record<string, string>> = {
  q: `Use at most ${SEARCH_LENGTH_MAX} characters.`,
  venue: "There is no such venue.",
  category: `Use at most ${CATEGORY_LENGTH_MAX} characters.`,
  sort: "There is no such order.",
  cursor: "This link does not belong to a page of the list.",
};

function defineMarketRoute(app: FastifyInstance, website: Website): void {
  const { board, venues } = website;
  const notFoundPage: ProblemPage = (status, error) =>
    createNoticePage(
      selectProblemTitle(status),
      error instanceof AppError && error.code === "market_not_found" ? error.message : describeProblem(status, error),
      html`<p><a href="/markets">Browse markets</a></p>`,
    );
  definePage(app, {
    method: "GET",
    url: "/markets/:platform/:market_id",
    params: MarketPath,
    query: MarketQuery,
    problemPage: notFoundPage,
    async handler({ params, query, request, reply }) {
      website.takeVisit(request);
      // Only the board: a visitor without a key must not cause requests for arbitrary ids to a venue.
      const market = venues.includes(params.platform) ? board.find(params.platform, params.market_id) : null;
      if (market === null || market.listing.status === "pending")
        throw new AppError("market_not_found", "There is no such market, or it was settled long ago.");
      const period: Period = query.period ?? "7d";
      const { event } = website.withEvent(market);
      const page = createMarketPage({
        ...{ market, event, period },
        ...resolveExampleSite(request, website),
        history: await readHistory(website, market, period),
        // The page is useful without it, for example while the store is unavailable.
        analysis: await website.readAnalysis(market).catch(() => "unavailable" as const),
        related: event === null ? [] : listRelated(website, market, event.slug),
      });
      return sendPublicPage(reply, page);
    },
  });
}

/** Returns the history, or null if it cannot be read or takes too long. Venue history is fetched once per market. */
async function readHistory(
  { service, clock }: Website,
  market: BoardMarket,
  period: Period,
): Promise<HistoryReading | null> {
  let cancel = () => {};
  const timeout = new Promise<null>((resolve) => {
    cancel = clock.setTimeout(() => resolve(null), HISTORY_WAIT_MS);
  });
  try {
    return await Promise.race([service.getHistory(market, period, CHART_POINTS), timeout]);
  } catch (error) {
    if (error instanceof AppError || error instanceof VenueError) return null;
    throw error;
  } finally {
    cancel();
  }
}

function listRelated({ board }: Website, { row }: BoardMarket, slug: string): ListedMarket[] {
  const event = board.findEvent(slug);
  return board
    .marketsOfEvent(slug)
    .filter((market) => market.row !== row && market.yesPrice !== null && market.listing.status === "active")
    .sort((a, b) => (b.activity.volume24hUsd ?? 0) - (a.activity.volume24hUsd ?? 0))
    .slice(0, RELATED_MARKETS_MAX)
    .map((market) => ({ market, event }));
}

function defineTrackRecordRoute(app: FastifyInstance, website: Website): void {
  definePage(app, {
    method: "GET",
    url: "/track-record",
    async handler({ request, reply }) {
      website.takeVisit(request);
      // If the store is unavailable, the page is still useful without these figures.
      const [calibration, performance] = await Promise.all([
        website.readCalibration().catch(() => null),
        website.readPerformance().catch(() => null),
      ]);
      const isSandbox = website.data === "sandbox";
      return sendPublicPage(reply, createTrackRecordPage({ calibration, performance, isSandbox }));
    },
  });
}

function definePricingRoutes(app: FastifyInstance, { data, upgradeUrl, acceptsPayments }: Website): void {
  definePage(app, {
    method: "GET",
    url: PLANS_PATH,
    handler: ({ reply }) =>
      sendPublicPage(
        reply,
        createPricingPage({
          ...{ upgradeUrl, acceptsPayments },
          routes: app.routeTable.entries,
          isSandbox: data === "sandbox",
        }),
      ),
  });
  definePage(app, {
    method: "GET",
    url: "/account/plans",
    handler: ({ reply }) => reply.code(301).header("location", PLANS_PATH).send(),
  });
}

/** Crawlers may read the public pages, but not the API, the account pages and every combination of filters. */
const ROBOTS = `User-agent: *
Disallow: /account
Disallow: /v1/
Disallow: /markets?
Allow: /
`;

function defineRobotsRoute(app: FastifyInstance): void {
  app.route({
    method: ["GET", "HEAD"],
    url: "/robots.txt",
    config: { access: "public", metering: METERING.FREE, cacheControl: "public, max-age=86400" },
    schema: { hide: true },
    handler: (_request, reply) => reply.type("text/plain; charset=utf-8").send(ROBOTS),
  });
}
