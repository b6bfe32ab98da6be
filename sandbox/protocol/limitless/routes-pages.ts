import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ListedEvent } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import { CATEGORIES, categoryNames } from "./categories.ts";
import { queryInteger, queryText, queryWord, VenueHttpError } from "./http-errors.ts";
import { slugify } from "./ids.ts";
import { activeRows, presentRow } from "./listing.ts";

const PAGE_ROWS_MAX = 25;
const PAGE_ROWS = 10;
const SORT_FIELDS = ["createdAt", "updatedAt", "deadline", "id"];
const SORTS = SORT_FIELDS.flatMap((field) => [field, `-${field}`]);
const FIRST_DAY = "2026-01-01T00:00:00.000Z";

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

/** Navigation, pages with their markets, and property keys: the web front-end's way through the same rows. */
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
    return pageOfMarkets(context, page, request);
  });

  const keys = [propertyKey()];
  app.get("/property-keys", async () => keys);
  app.get<{ Params: { id: string } }>("/property-keys/:id", async (request) => keyOf(request.params.id));
  app.get<{ Params: { id: string } }>("/property-keys/:id/options", async (request) => {
    return keyOf(request.params.id).options;
  });
}

function pageOfMarkets(context: ExchangeContext, page: Page, request: FastifyRequest): Record<string, unknown> {
  const now = context.now();
  const limit = queryInteger(request, "limit", { fallback: PAGE_ROWS, min: 1, max: PAGE_ROWS_MAX });
  const sort = queryWord(request, "sort", SORTS) ?? "-createdAt";
  const { category } = page;
  const rows = activeRows(context, now)
    .filter((event) => category === null || categoryNames(event).includes(category))
    .sort((a, b) => (sort.startsWith("-") ? -1 : 1) * compare(a, b, sort.replace("-", "")));
  const cursor = queryText(request, "cursor");
  const number = queryInteger(request, "page", { fallback: 1, min: 1, max: 100_000 });
  const present = (first: number) => rows.slice(first, first + limit).map((event) => presentRow(context, event, now));
  if (cursor === null) {
    const total = rows.length;
    return {
      data: present((number - 1) * limit),
      pagination: { page: number, limit, total, totalPages: Math.ceil(total / limit) },
    };
  }
  if (queryText(request, "page") !== null) {
    throw new VenueHttpError(400, "cursor and page are mutually exclusive");
  }
  const first = cursor === "start" ? 0 : Number(cursor);
  if (!Number.isSafeInteger(first) || first < 0) throw new VenueHttpError(400, "cursor is invalid");
  return {
    data: present(first),
    cursor: { nextCursor: first + limit < rows.length ? String(first + limit) : null },
  };
}

function compare(a: ListedEvent, b: ListedEvent, field: string): number {
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

function propertyKey() {
  const id = "property-category";
  return {
    id,
    name: "Category",
    slug: "category",
    type: "select",
    metadata: {},
    isSystem: true,
    createdAt: FIRST_DAY,
    updatedAt: FIRST_DAY,
    options: CATEGORIES.map((category, sortOrder) => ({
      id: `option-${category.id}`,
      propertyKeyId: id,
      value: slugify(category.name),
      label: category.name,
      sortOrder,
      parentOptionId: null,
      metadata: {},
      createdAt: FIRST_DAY,
      updatedAt: FIRST_DAY,
    })),
  };
}

function keyOf(id: string): ReturnType<typeof propertyKey> {
  const key = propertyKey();
  if (key.id !== id) throw new VenueHttpError(404, `Property key ${id} not found`);
  return key;
}
