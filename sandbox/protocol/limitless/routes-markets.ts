import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ListedEvent } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import { type Catalogue, roundSymbol } from "./catalogue.ts";
import { CATEGORIES, categoryIds } from "./categories.ts";
import { queryInteger, queryText, queryWord, VenueHttpError } from "./http-errors.ts";
import { isGroup, limitlessEventSlug, limitlessSlug } from "./ids.ts";
import { activeRows, matches, presentRow, SORTS, type Sort, sorted } from "./listing.ts";
import { presentGroup, presentMarket, strikeText } from "./market-json.ts";

/** A larger page is an error on this venue, not a shorter page. */
const PAGE_ROWS_MAX = 25;
const PAGE_ROWS = 10;
const SEARCH_ROWS_MAX = 100;
const PAGES_MAX = 100_000;

/** Lists, single markets, search and categories. */
export function installMarketRoutes(app: FastifyInstance, context: ExchangeContext, catalogue: Catalogue): void {
  const { now } = context;

  const browse = (request: FastifyRequest, categoryId: number | null) => {
    const at = now();
    const page = queryInteger(request, "page", { fallback: 1, min: 1, max: PAGES_MAX });
    const limit = queryInteger(request, "limit", { fallback: PAGE_ROWS, min: 1, max: PAGE_ROWS_MAX });
    const sort = (queryWord(request, "sortBy", SORTS) ?? "newest") as Sort;
    const filter = {
      tradeType: queryWord(request, "tradeType", ["amm", "clob", "group"]),
      automationType: queryWord(request, "automationType", ["manual", "lumy", "sports"]),
    };
    const rows = activeRows(context, at).filter(
      (event) => matches(event, filter) && (categoryId === null || categoryIds(event).includes(categoryId)),
    );
    const shown = sorted(context, rows, sort, at).slice((page - 1) * limit, page * limit);
    return { data: shown.map((event) => presentRow(context, event, at)), totalMarketsCount: rows.length };
  };

  app.get("/markets/active", async (request) => browse(request, null));

  app.get("/markets/active/slugs", async () => activeRows(context, now()).map((event) => slugRow(event, now())));

  app.get<{ Params: { categoryId: string } }>("/markets/active/:categoryId", async (request) => {
    const { categoryId } = request.params;
    if (!/^\d{1,9}$/.test(categoryId)) {
      throw new VenueHttpError(400, "Validation failed (numeric string is expected)");
    }
    return browse(request, Number(categoryId));
  });

  app.get("/categories", async () =>
    CATEGORIES.map((category, priority) => ({ id: category.id, name: category.name, priority })),
  );

  app.get("/markets/categories/count", async () => {
    const rows = activeRows(context, now());
    const category: Record<string, number> = {};
    for (const event of rows) {
      for (const id of categoryIds(event)) category[id] = (category[id] ?? 0) + 1;
    }
    return { category, totalCount: rows.length };
  });

  app.get("/markets/search", async (request) => {
    const at = now();
    const query = queryText(request, "query");
    if (query === null) throw new VenueHttpError(400, "query should not be empty");
    const limit = queryInteger(request, "limit", { fallback: 10, min: 1, max: SEARCH_ROWS_MAX });
    const page = queryInteger(request, "page", { fallback: 1, min: 0, max: PAGES_MAX });
    const threshold = Number(queryText(request, "similarityThreshold") ?? "0.5");
    const wanted = words(query);
    const scored = activeRows(context, at)
      .map((event) => ({ event, score: similarity(wanted, event) }))
      .filter((entry) => entry.score > 0 && entry.score >= threshold)
      .sort((a, b) => b.score - a.score || a.event.index - b.event.index);
    const first = (Math.max(1, page) - 1) * limit;
    const markets = scored.slice(first, first + limit).map((entry) => presentRow(context, entry.event, at));
    return { markets, totalMarketsCount: scored.length };
  });

  app.get<{ Params: { slug: string } }>("/markets/:slug", async (request) => {
    const listed = catalogue.find(request.params.slug);
    if (listed === null) throw new VenueHttpError(404, `Market ${request.params.slug} not found`);
    return listed.kind === "group"
      ? presentGroup(context, listed.event, now())
      : presentMarket(context, listed.market, now());
  });
}

function slugRow(event: ListedEvent, now: number): Record<string, unknown> {
  const [only] = event.markets;
  return {
    slug: limitlessEventSlug(event),
    strikePrice: isGroup(event) || only === undefined ? null : strikeText(only, now),
    ticker: event.category === "Crypto" ? roundSymbol(event) : null,
    deadline: Number.isFinite(event.closeAt) ? new Date(event.closeAt).toISOString() : null,
    ...(isGroup(event) ? { markets: event.markets.map((market) => ({ slug: limitlessSlug(market) })) } : {}),
  };
}

function words(text: string): Set<string> {
  return new Set(
    text
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .filter((word) => word !== ""),
  );
}

/** Share of the wanted words that the row's titles and tags contain. */
function similarity(wanted: ReadonlySet<string>, event: ListedEvent): number {
  const said = words([event.title, ...event.tags, ...event.markets.map((market) => market.question)].join(" "));
  let hits = 0;
  for (const word of wanted) if (said.has(word)) hits += 1;
  return wanted.size === 0 ? 0 : hits / wanted.size;
}
