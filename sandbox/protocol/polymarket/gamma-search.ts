import type { FastifyInstance } from "fastify";
import type { ListedEvent } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import type { Catalogue } from "./catalogue.ts";
import { eventSortKeyOf, type SortKey } from "./gamma-filters.ts";
import { isEventClosed, presentGammaEvent } from "./gamma-json.ts";
import {
  parseBooleanParam,
  parseIntegerParam,
  parseNumberParam,
  parseTextParam,
  type Query,
  ValidationError,
} from "./query.ts";
import { type Tag, tagsOf } from "./series-and-tags.ts";

interface SearchOptions {
  readonly text: string;
  /** Events per page. */
  readonly limit: number;
  /** Page number, starting at 1. */
  readonly page: number;
  /** "active", "resolved", "closed", or null for all. */
  readonly status: string | null;
  /** Sort value; null: open events first, then events with all words in the title. */
  readonly key: SortKey<ListedEvent>;
  readonly ascending: boolean;
  /** Whether closed markets of the found events are included. */
  readonly keepClosed: boolean;
  readonly withTags: boolean;
}

const WORDS_MAX = 16;
const EVENTS_DEFAULT = 20;
const EVENTS_MAX = 50;

/** Registers `/public-search`. */
export function installSearch(app: FastifyInstance, context: ExchangeContext, catalogue: Catalogue): void {
  app.get<{ Querystring: Query }>("/public-search", async ({ query }) => {
    const text = parseTextParam(query, "q");
    if (text === null) throw new ValidationError("q is required");
    // Search requests use snake_case sort fields, for example volume_24hr; list requests use camelCase.
    const sort = parseTextParam(query, "sort")?.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    return searchEvents(context, catalogue, {
      text,
      key: sort === undefined ? null : eventSortKeyOf(context.world, { order: sort }, context.now()),
      ascending: parseBooleanParam(query, "ascending") ?? false,
      limit: Math.min(EVENTS_MAX, Math.max(1, parseNumberParam(query, "limit_per_type") ?? EVENTS_DEFAULT)),
      page: Math.max(1, parseIntegerParam(query, "page") ?? 1),
      status: parseTextParam(query, "events_status"),
      keepClosed: parseTextParam(query, "keep_closed_markets") !== "0",
      withTags: parseBooleanParam(query, "search_tags") ?? false,
    });
  });
}

/** Returns the tags of all listed events, sorted by id. */
function listTags(catalogue: Catalogue): Tag[] {
  const byId = new Map<string, Tag>();
  for (const event of catalogue.listEvents()) for (const tag of tagsOf(event)) byId.set(tag.id, tag);
  return [...byId.values()].sort((a, b) => Number(a.id) - Number(b.id));
}

/** Finds events whose title, tags and market questions together contain every word of the query. */
function searchEvents(context: ExchangeContext, catalogue: Catalogue, options: SearchOptions) {
  const now = context.now();
  const words = options.text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
    .slice(0, WORDS_MAX);
  const hits: { readonly event: ListedEvent; readonly isClosed: boolean; readonly isTitleMatch: boolean }[] = [];
  for (const event of catalogue.listEvents()) {
    const isClosed = isEventClosed(event, now);
    if (options.status === "active" && isClosed) continue;
    if ((options.status === "resolved" || options.status === "closed") && !isClosed) continue;
    const title = event.title.toLowerCase();
    const isTitleMatch = words.every((word) => title.includes(word));
    if (isTitleMatch || matchesAnyText(event, title, words)) hits.push({ event, isClosed, isTitleMatch });
  }
  // Sorting is stable: equal events stay sorted by index.
  const { key, ascending } = options;
  if (key === null)
    hits.sort((a, b) => Number(a.isClosed) - Number(b.isClosed) || Number(b.isTitleMatch) - Number(a.isTitleMatch));
  else sortBy(hits, ({ event }) => key(event), ascending);
  const start = (options.page - 1) * options.limit;
  const events = hits
    .slice(start, start + options.limit)
    .map(({ event }) => presentGammaEvent(context.world, event, now));
  const tags = options.withTags
    ? listTags(catalogue).filter((tag) => words.some((word) => tag.slug.includes(word)))
    : [];
  return {
    events: options.keepClosed
      ? events
      : events.map((event) => ({ ...event, markets: event.markets.filter((market) => !market.closed) })),
    tags: tags.slice(0, options.limit),
    profiles: [],
    pagination: { hasMore: start + options.limit < hits.length, totalResults: hits.length },
  };
}

function sortBy<Item>(items: Item[], key: (item: Item) => number | string, ascending: boolean): void {
  const keyed = items.map((item) => ({ item, value: key(item) }));
  const sign = ascending ? 1 : -1;
  keyed.sort((a, b) => (a.value === b.value ? 0 : sign * (a.value < b.value ? -1 : 1)));
  items.splice(0, items.length, ...keyed.map(({ item }) => item));
}

function matchesAnyText(event: ListedEvent, title: string, words: readonly string[]): boolean {
  const text = [title, ...event.tags, ...event.markets.map((market) => market.question)].join(" ").toLowerCase();
  return words.every((word) => text.includes(word));
}
