import type { FastifyInstance } from "fastify";
import type { ListedEvent } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import { type Catalogue, roundSymbol } from "./catalogue.ts";
import { CATEGORIES } from "./categories.ts";
import { queryEnum, queryInteger } from "./http-errors.ts";
import { isGroup, limitlessEventSlug, limitlessSlug } from "./ids.ts";
import { activeEvents, matches, presentRow, SORTS, type Sort, sortEvents } from "./listing.ts";
import { presentGroup, presentMarket, strikeText } from "./market-json.ts";

/** The venue rejects larger pages instead of truncating them. */
const PAGE_ROWS_MAX = 25;
const PAGE_ROWS_DEFAULT = 10;
const PAGE_MAX = 100_000;

export function installMarketRoutes(app: FastifyInstance, context: ExchangeContext, catalogue: Catalogue): void {
  const { now } = context;

  app.get("/markets/active", async (request) => {
    const at = now();
    const page = queryInteger(request, "page", { fallback: 1, min: 1, max: PAGE_MAX });
    const limit = queryInteger(request, "limit", { fallback: PAGE_ROWS_DEFAULT, min: 1, max: PAGE_ROWS_MAX });
    const sort = (queryEnum(request, "sortBy", SORTS) ?? "newest") as Sort;
    const filter = {
      tradeType: queryEnum(request, "tradeType", ["amm", "clob", "group"]),
      automationType: queryEnum(request, "automationType", ["manual", "lumy", "sports"]),
    };
    const events = activeEvents(context, at).filter((event) => matches(event, filter));
    const rows = sortEvents(context, events, sort, at).slice((page - 1) * limit, page * limit);
    return { data: rows.map((event) => presentRow(context, event, at)), totalMarketsCount: events.length };
  });

  app.get("/markets/active/slugs", async () => activeEvents(context, now()).map((event) => slugRow(event, now())));

  app.get("/categories", async () =>
    CATEGORIES.map((category, priority) => ({ id: category.id, name: category.name, priority })),
  );

  app.get<{ Params: { slug: string } }>("/markets/:slug", async (request) => {
    const entry = catalogue.get(request.params.slug);
    return entry.kind === "group"
      ? presentGroup(context, entry.event, now())
      : presentMarket(context, entry.market, now());
  });
}

function slugRow(event: ListedEvent, now: number): Record<string, unknown> {
  const [only] = event.markets;
  return {
    slug: limitlessEventSlug(event),
    strikePrice: isGroup(event) || only === undefined ? null : strikeText(only, now),
    ticker: event.category === "Crypto" ? roundSymbol(event) : null,
    deadline: Number.isFinite(event.closeAt) ? new Date(event.closeAt).toISOString() : null,
    markets: isGroup(event) ? event.markets.map((market) => ({ slug: limitlessSlug(market) })) : undefined,
  };
}
