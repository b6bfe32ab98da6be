import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { BoardMarket } from "../../../board/index.ts";
import { AppError, VenueError } from "../../../domain/errors.ts";
import {
  acceptForms,
  createFormId,
  createFormSubmissions,
  createNoticePage,
  createProblemPage,
  definePage,
  describeProblem,
  type Html,
  html,
  type Page,
  redirectTo,
  resolveExampleSite,
  selectProblemTitle,
  sendPage,
  sendPublicPage,
} from "../../../http/html/index.ts";
import type { PriceHistory } from "../../../storage/index.ts";
import { type FormSecrets, PLANS_PATH, toFormError } from "../../accounts/account-pages/index.ts";
import { ANALYZE_METERING, type AnalysisRun } from "../../analysis/analyses/index.ts";
import { offersAnalysis } from "./estimate-section.ts";
import { formatVenue } from "./format.ts";
import { createMarketPage } from "./market-page.ts";
import {
  ANALYSE_PATH_SUFFIX,
  buildMarketPath,
  buildRunPath,
  ESTIMATE_SECTION_ID,
  type ListedMarket,
} from "./market-table.ts";
import type { SiteContext } from "./readers.ts";
import { AnalyseForm, MarketPath, MarketQuery, type Period } from "./schema.ts";

const RELATED_MARKETS_MAX = 10;
const CHART_POINTS = 200;
/** Maximum wait for the history, which may need a request to the venue. After that, the page is sent without it. */
const HISTORY_WAIT_MS = 1_500;
const PERIOD_DEFAULT: Period = "7d";
const MARKET_URL = "/markets/:platform/:market_id";

/** Registers the page of a market and the form that starts an analysis of it. */
export function defineMarketRoutes(app: FastifyInstance, website: SiteContext): void {
  definePage(app, {
    method: "GET",
    url: MARKET_URL,
    params: MarketPath,
    query: MarketQuery,
    problemPage: createMarketProblemPage,
    async handler({ params, query, request, reply }) {
      website.takeVisit(request);
      const market = getShownMarket(website, params);
      return sendMarketPage(reply, await showMarket(website, market, request, query));
    },
  });
  // The target of the form, opened by a reload or a typed URL.
  definePage(app, {
    method: "GET",
    url: `${MARKET_URL}${ANALYSE_PATH_SUFFIX}`,
    params: MarketPath,
    problemPage: createMarketProblemPage,
    handler: ({ params, reply }) => redirectTo(reply, buildMarketPath(getShownMarket(website, params))),
  });
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    acceptForms(scope);
    defineAnalyseRoute(scope, website);
  });
}

const createMarketProblemPage = (status: number, error: unknown): Page =>
  createNoticePage(
    selectProblemTitle(status),
    error instanceof AppError && error.code === "market_not_found" ? error.message : describeProblem(status, error),
    html`<p><a href="/markets">Browse markets</a></p>`,
  );

interface MarketParams {
  readonly platform: string;
  readonly market_id: string;
}

/** @throws AppError `market_not_found` if the market has no page */
function getShownMarket(
  { board, venues, referenceVenues }: SiteContext,
  { platform, market_id }: MarketParams,
): BoardMarket {
  if (referenceVenues.includes(platform)) {
    const reason = `The prices of ${formatVenue(platform)} are only references here, for example because it trades play money. Its markets have no page and are not analysed.`;
    throw new AppError("market_not_found", reason);
  }
  // Searches only the board, so that visitors without a key cannot cause requests for arbitrary ids to a venue.
  const market = venues.includes(platform) ? board.find(platform, market_id) : null;
  if (market === null || market.listing.status === "pending")
    throw new AppError("market_not_found", "There is no such market, or it was settled long ago.");
  return market;
}

/** The page of a market, and whether it contains a form of the visitor's session. */
interface ShownPage {
  readonly page: Page;
  readonly isPrivate: boolean;
}

async function showMarket(
  website: SiteContext,
  market: BoardMarket,
  request: FastifyRequest,
  options: { readonly period?: Period; readonly analysis?: string; readonly refusal?: Html },
): Promise<ShownPage> {
  const { period = PERIOD_DEFAULT, analysis: analysisId = null, refusal = null } = options;
  const { event } = website.withEvent(market);
  const [history, analysis, run] = await Promise.all([
    readHistory(website, market, period),
    // The page is useful without the analysis, for example while the store is unavailable.
    website.readAnalysis(market).catch(() => "unavailable" as const),
    readRun(website, market, analysisId).catch(() => null),
  ]);
  const form = offersAnalysis({ market, analysis, run }) ? await createForm(website, request).catch(() => null) : null;
  const page = createMarketPage({
    ...resolveExampleSite(request, website),
    market,
    event,
    period,
    history,
    analysis,
    run,
    form,
    refusal,
    related: event === null ? [] : listRelated(website, market, event.slug),
  });
  return { page, isPrivate: form !== null };
}

function sendMarketPage(reply: FastifyReply, { page, isPrivate }: ShownPage): FastifyReply {
  reply.header("vary", "cookie");
  return isPrivate ? sendPage(reply, 200, page) : sendPublicPage(reply, page);
}

/** Creates the secrets of the form for a signed-in visitor; null for others. */
async function createForm(
  { browserSessions, random }: SiteContext,
  request: FastifyRequest,
): Promise<FormSecrets | null> {
  const session = await browserSessions.find(request);
  return session === null ? null : { token: browserSessions.formTokenOf(session), id: createFormId(random) };
}

/** Returns the run of a market that is running, else the one with this id; null if there is none. */
async function readRun(
  { analyses }: SiteContext,
  { listing }: BoardMarket,
  analysisId: string | null,
): Promise<AnalysisRun | null> {
  const running = await analyses.findRunning(listing);
  if (running !== null || analysisId === null) return running;
  return (await analyses.getStatus(analysisId, listing)).run;
}

/** Registers the form that starts an analysis. It has the limits of the equivalent API call. */
function defineAnalyseRoute(scope: FastifyInstance, website: SiteContext): void {
  const submitOnce = createFormSubmissions<{ readonly analysisId: string }>(scope, website.clock);
  definePage(scope, {
    method: "POST",
    url: `${MARKET_URL}${ANALYSE_PATH_SUFFIX}`,
    params: MarketPath,
    body: AnalyseForm,
    metering: ANALYZE_METERING,
    problemPage: (status, error, request) => createRefusalPage(website, status, error, request),
    async handler({ params, body, request, reply }) {
      const { principal } = request;
      if (principal === null) throw new Error("the form has no customer");
      const market = getShownMarket(website, params);
      const { venue, marketId } = market.listing;
      let isRepeated = true;
      const { analysisId } = await submitOnce(
        body.form,
        JSON.stringify([principal.customerId, venue, marketId]),
        () => {
          isRepeated = false;
          return website.analyses.analyse(venue, marketId, { customerId: principal.customerId, isForced: false });
        },
      );
      // A double click counts once.
      request.isDeferred = isRepeated;
      return redirectTo(reply, `${buildRunPath(market, PERIOD_DEFAULT, analysisId)}#${ESTIMATE_SECTION_ID}`);
    },
  });
}

/** The page of the market with the reason why no analysis was started. */
async function createRefusalPage(
  website: SiteContext,
  status: number,
  error: unknown,
  request: FastifyRequest,
): Promise<Page> {
  if (error instanceof AppError && error.code === "market_not_found") return createMarketProblemPage(status, error);
  try {
    website.takeVisit(request);
    const market = getShownMarket(website, request.params as MarketParams);
    return (await showMarket(website, market, request, { refusal: describeRefusal(status, error) })).page;
  } catch {
    return createProblemPage(status, error);
  }
}

function describeRefusal(status: number, error: unknown): Html {
  const code = error instanceof AppError ? error.code : null;
  if (code === "unauthorized") return html`You are signed out. <a href="/account">Sign in</a>, then try again.`;
  if (code === "plan_required")
    return html`Your plan does not include analyses. <a href="${PLANS_PATH}">Compare plans</a>`;
  if (code === "quota_exceeded" && error instanceof AppError)
    return html`You have used all INSIGHT calls of this month. Analyses count as INSIGHT calls. The quota resets on ${String(error.details.resetsOn)}. <a href="${PLANS_PATH}">Compare plans</a>`;
  if (error instanceof VenueError) return html`The venue cannot be reached at the moment. Try again in a minute.`;
  return html`${toFormError(status, error).message}`;
}

/** Returns the history, or null if it cannot be read or takes too long. Venue history is fetched once per market. */
async function readHistory(
  { service, clock }: SiteContext,
  market: BoardMarket,
  period: Period,
): Promise<PriceHistory | null> {
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

function listRelated({ board }: SiteContext, { row }: BoardMarket, slug: string): ListedMarket[] {
  const event = board.findEvent(slug);
  return board
    .marketsOfEvent(slug)
    .filter((market) => market.row !== row && market.yesPrice !== null && market.listing.status === "active")
    .sort((a, b) => (b.activity.volume24hUsd ?? 0) - (a.activity.volume24hUsd ?? 0))
    .slice(0, RELATED_MARKETS_MAX)
    .map((market) => ({ market, event }));
}
