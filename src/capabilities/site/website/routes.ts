import type { FastifyInstance } from "fastify";
import { CATEGORIES } from "../../../domain/category.ts";
import { InvalidRequestError } from "../../../domain/errors.ts";
import { PLAN_ALLOWANCES } from "../../../domain/plan.ts";
import {
  assetRoutes,
  createProblemPage,
  definePage,
  fileRoute,
  type ProblemPage,
  prefersHtml,
  resolveExampleSite,
  sendPublicPage,
} from "../../../http/html/index.ts";
import { decodeCursor, encodeCursor, type ListingKey } from "../../../http/pagination.ts";
import { PLANS_PATH } from "../../accounts/account-pages/index.ts";
import { presentMarket } from "../../markets/market-data/index.ts";
import { createLandingPage } from "./landing-page.ts";
import { defineMarketRoutes } from "./market-routes.ts";
import { createMarketsPage, type MarketFilters, readFilter } from "./markets-page.ts";
import { createPricingPage } from "./pricing-page.ts";
import { createReaders, type SiteContext, type WebsiteOptions } from "./readers.ts";
import { CATEGORY_LENGTH_MAX, createListQuery, type MarketSort, SEARCH_LENGTH_MAX } from "./schema.ts";
import { WEBSITE_STYLESHEET_ASSET } from "./styles.ts";
import { createTrackRecordPage } from "./track-record-page.ts";

const LANDING_MARKETS = 8;
const MARKETS_PER_PAGE = 25;

/** The public pages: start page, markets, track record and pricing. */
export function websiteRoutes(app: FastifyInstance, options: WebsiteOptions): void {
  const website = { ...options, ...createReaders(options) };
  defineLandingRoute(app, website);
  defineMarketsRoute(app, website);
  defineMarketRoutes(app, website);
  defineTrackRecordRoute(app, website);
  definePricingRoutes(app, website);
  const robots = { url: "/robots.txt", type: "text/plain; charset=utf-8", content: ROBOTS };
  fileRoute(app, robots, "public, max-age=86400");
  assetRoutes(app, [WEBSITE_STYLESHEET_ASSET]);
}

function defineLandingRoute(app: FastifyInstance, website: SiteContext): void {
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
        venues,
        markets,
        acceptsPayments,
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

function defineMarketsRoute(app: FastifyInstance, website: SiteContext): void {
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
      markets: [],
      isContinued: false,
      next: null,
      isStarting: false,
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
          sort: filters.sort,
          status: "active",
          limit: MARKETS_PER_PAGE,
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

/** Returns our spelling of one of our categories, ignoring case. Returns any other category unchanged. */
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

function defineTrackRecordRoute(app: FastifyInstance, website: SiteContext): void {
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

function definePricingRoutes(app: FastifyInstance, { data, upgradeUrl, acceptsPayments }: SiteContext): void {
  definePage(app, {
    method: "GET",
    url: PLANS_PATH,
    handler: ({ reply }) =>
      sendPublicPage(
        reply,
        createPricingPage({
          upgradeUrl,
          acceptsPayments,
          routes: app.routeTable.entries,
          isSandbox: data === "sandbox",
        }),
      ),
  });
}

/** Crawlers may read the public pages, but not the API, the account pages and every combination of filters. */
const ROBOTS = `User-agent: *
Disallow: /account
Disallow: /v1/
Disallow: /markets?
Allow: /
`;
