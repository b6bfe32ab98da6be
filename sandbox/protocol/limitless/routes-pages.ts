import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ListedEvent } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import { CATEGORIES, categoryNamesOf } from "./categories.ts";
import { queryEnum, queryInteger, queryText, VenueHttpError } from "./http-errors.ts";
import { slugify } from "./ids.ts";
import { listActiveEvents, presentRow } from "./listing.ts";

const PAGE_ROWS_MAX = 25;
const PAGE_ROWS_DEFAULT = 10;
const SORT_FIELDS = ["createdAt", "updatedAt", "deadline", "id"];
const SORT_ORDERS = SORT_FIELDS.flatMap((field) => [field, `-${field}`]);
const PROPERTY_CREATED_AT = "2026-01-01T00:00:00.000Z";

interface Page {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly path: string;
  /** Null for the page of all markets. */
  readonly category: string | null;
}

const PAGES: readonly Page[] = [
  { id: "page-0", name: "All markets", slug: "markets", path: "/markets", category: null },
  ...CATEGORIES.map((category) => ({
    id: `page-${category.id}`,
    name: category.name,
    slug: slugify(category.name),
    path: `/${slugify(category.name)}`,
    category: category.name,
  })),
];

/** Installs the routes that the venue's web front end uses: navigation, market pages and property keys. */
export function installPageRoutes(app: FastifyInstance, context: ExchangeContext): void {
  app.get("/navigation", async () =>
    PAGES.map((page) => ({ id: page.id, name: page.name, slug: page.slug, path: page.path, children: [] })),
  );

  app.get("/market-pages/by-path", async (request, reply) => {
    const path = queryText(request, "path");
    if (path === null) throw new VenueHttpError(400, "path should not be empty");
    if (path === "/") {
      return reply.code(301).header("location", "/market-pages/by-path?path=%2Fmarkets").send();
    }
    const page = PAGES.find((candidate) => candidate.path === path);
    if (page === undefined) throw new VenueHttpError(404, `Market page ${path} not found`);
    return presentPage(page);
  });

  app.get<{ Params: { id: string } }>("/market-pages/:id/markets", async (request) => {
    const page = PAGES.find((candidate) => candidate.id === request.params.id);
    if (page === undefined) throw new VenueHttpError(404, `Market page ${request.params.id} not found`);
    return presentPageMarkets(context, page, request);
  });

  app.get("/property-keys", async () => [CATEGORY_PROPERTY]);
}

function presentPageMarkets(context: ExchangeContext, page: Page, request: FastifyRequest): Record<string, unknown> {
  const now = context.now();
  const limit = queryInteger(request, "limit", { fallback: PAGE_ROWS_DEFAULT, min: 1, max: PAGE_ROWS_MAX });
  const sortOrder = queryEnum(request, "sort", SORT_ORDERS) ?? "-createdAt";
  const { category } = page;
  const events = listActiveEvents(context, now)
    .filter((event) => category === null || categoryNamesOf(event).includes(category))
    .sort((a, b) => (sortOrder.startsWith("-") ? -1 : 1) * compareBy(sortOrder.replace("-", ""), a, b));
  const cursor = queryText(request, "cursor");
  const pageNumber = queryInteger(request, "page", { fallback: 1, min: 1, max: 100_000 });
  const presentRowsFrom = (firstIndex: number) =>
    events.slice(firstIndex, firstIndex + limit).map((event) => presentRow(context, event, now));
  if (cursor === null) {
    const total = events.length;
    return {
      data: presentRowsFrom((pageNumber - 1) * limit),
      pagination: { page: pageNumber, limit, total, totalPages: Math.ceil(total / limit) },
    };
  }
  if (queryText(request, "page") !== null) {
    throw new VenueHttpError(400, "cursor and page are mutually exclusive");
  }
  const firstIndex = cursor === "start" ? 0 : Number(cursor);
  if (!Number.isSafeInteger(firstIndex) || firstIndex < 0) throw new VenueHttpError(400, "cursor is invalid");
  return {
    data: presentRowsFrom(firstIndex),
    cursor: { nextCursor: firstIndex + limit < events.length ? String(firstIndex + limit) : null },
  };
}

function compareBy(field: string, a: ListedEvent, b: ListedEvent): number {
  if (field === "deadline") return a.closeAt - b.closeAt || a.index - b.index;
  if (field === "id") return a.index - b.index;
  return a.openAt - b.openAt || a.index - b.index;
}

function presentPage(page: Page): Record<string, unknown> {
  return {
    id: page.id,
    name: page.name,
    slug: page.slug,
    fullPath: page.path,
    description: null,
    baseFilter: page.category === null ? {} : { categories: [page.category] },
    filterGroups: [],
    metadata: {},
    breadcrumb: [{ name: page.name, slug: page.slug, path: page.path }],
  };
}

const CATEGORY_PROPERTY_ID = "property-category";

/** The only property by which clients can filter markets: the category. */
const CATEGORY_PROPERTY = {
  id: CATEGORY_PROPERTY_ID,
  name: "Category",
  slug: "category",
  type: "select",
  metadata: {},
  isSystem: true,
  createdAt: PROPERTY_CREATED_AT,
  updatedAt: PROPERTY_CREATED_AT,
  options: CATEGORIES.map((category, sortOrder) => ({
    id: `option-${category.id}`,
    propertyKeyId: CATEGORY_PROPERTY_ID,
    value: slugify(category.name),
    label: category.name,
    sortOrder,
    parentOptionId: null,
    metadata: {},
    createdAt: PROPERTY_CREATED_AT,
    updatedAt: PROPERTY_CREATED_AT,
  })),
};
