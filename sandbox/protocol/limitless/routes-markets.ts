import type { FastifyInstance } from "fastify";
import type { ExchangeContext } from "../exchange.ts";
import type { Catalogue } from "./catalogue.ts";
import { isGroup, limitlessEventSlug, limitlessSlug } from "./ids.ts";
import { listActiveEvents, presentRow } from "./listing.ts";
import { presentGroup, presentMarket } from "./market-json.ts";
import { queryEnum, queryInteger } from "./requests.ts";

/** Maximum page size. For a larger one, the venue returns no rows. */
const PAGE_ROWS_MAX = 25;
/** Page size above which the venue returns 400. Confirmed are only 100 (no rows) and 200 (status 400). */
const PAGE_LIMIT_MAX = 100;
const PAGE_ROWS_DEFAULT = 10;
const PAGE_MAX = 100_000;

export function installMarketRoutes(app: FastifyInstance, context: ExchangeContext, catalogue: Catalogue): void {
  const { now } = context;

  app.get("/markets/active", async (request) => {
    const at = now();
    const page = queryInteger(request, "page", { fallback: 1, min: 1, max: PAGE_MAX });
    const limit = queryInteger(request, "limit", { fallback: PAGE_ROWS_DEFAULT, min: 1, max: PAGE_LIMIT_MAX });
    queryEnum(request, "sortBy", ["newest"]);
    const events = listActiveEvents(context, at);
    const rows = limit > PAGE_ROWS_MAX ? [] : events.slice((page - 1) * limit, page * limit);
    return { data: rows.map((event) => presentRow(context, event, at)), totalMarketsCount: events.length };
  });

  app.get("/markets/active/slugs", async () =>
    listActiveEvents(context, now()).map((event) => ({
      slug: limitlessEventSlug(event),
      markets: isGroup(event) ? event.markets.map((market) => ({ slug: limitlessSlug(market) })) : undefined,
    })),
  );

  app.get<{ Params: { slug: string } }>("/markets/:slug", async (request) => {
    const entry = catalogue.get(request.params.slug);
    return entry.kind === "group"
      ? presentGroup(context, entry.event, now())
      : presentMarket(context, entry.market, now());
  });
}
