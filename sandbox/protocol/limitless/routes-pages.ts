import type { FastifyInstance } from "fastify";
import { VenueError } from "../errors.ts";
import type { ExchangeContext } from "../exchange.ts";
import { CATEGORIES, categoryNamesOf } from "./categories.ts";
import { slugify } from "./ids.ts";
import { listActiveEvents, presentRow } from "./listing.ts";
import { queryEnum, queryInteger, queryText } from "./requests.ts";

const PAGE_ROWS_MAX = 25;
const PAGE_ROWS_DEFAULT = 10;

interface Page {
  readonly id: string;
  readonly name: string;
  readonly path: string;
}

const PAGES: readonly Page[] = ["markets", ...CATEGORIES].map((name, index) => ({
  id: `page-${index}`,
  name,
  path: `/${slugify(name)}`,
}));
const [ALL_MARKETS] = PAGES;

/** Installs the routes that the venue's web front end uses: navigation, market pages and property keys. */
export function installPageRoutes(app: FastifyInstance, context: ExchangeContext): void {
  app.get("/navigation", async () => PAGES.map((page) => ({ ...page, slug: page.path.slice(1), children: [] })));

  app.get("/market-pages/by-path", async (request, reply) => {
    const path = queryText(request, "path");
    if (path === "/") return reply.code(301).header("location", "/market-pages/by-path?path=%2Fmarkets").send();
    const page = PAGES.find((candidate) => candidate.path === path);
    if (page === undefined) throw new VenueError(404, `Market page ${path} not found`);
    return { id: page.id, name: page.name, slug: page.path.slice(1), fullPath: page.path };
  });

  app.get<{ Params: { id: string } }>("/market-pages/:id/markets", async (request) => {
    const page = PAGES.find((candidate) => candidate.id === request.params.id);
    if (page === undefined) throw new VenueError(404, `Market page ${request.params.id} not found`);
    const now = context.now();
    const limit = queryInteger(request, "limit", { fallback: PAGE_ROWS_DEFAULT, min: 1, max: PAGE_ROWS_MAX });
    const pageNumber = queryInteger(request, "page", { fallback: 1, min: 1, max: 100_000 });
    const events = listActiveEvents(context, now).filter(
      (event) => page === ALL_MARKETS || categoryNamesOf(event).includes(page.name),
    );
    if (queryEnum(request, "sort", ["deadline"]) !== null)
      events.sort((a, b) => a.closeAt - b.closeAt || a.index - b.index);
    const total = events.length;
    return {
      data: events.slice((pageNumber - 1) * limit, pageNumber * limit).map((event) => presentRow(context, event, now)),
      pagination: { page: pageNumber, limit, total, totalPages: Math.ceil(total / limit) },
    };
  });

  // The category is the only property by which clients can filter markets.
  app.get("/property-keys", async () => [
    {
      id: "property-category",
      name: "Category",
      slug: "category",
      type: "select",
      options: CATEGORIES.map((label) => ({ id: `option-${slugify(label)}`, value: slugify(label), label })),
    },
  ]);
}
