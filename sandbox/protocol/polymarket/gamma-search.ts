import type { ListedEvent } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import { gammaEvent, isEventClosed } from "./gamma-objects.ts";
import type { SortKey } from "./gamma-query.ts";
import type { Listing } from "./listing.ts";
import type { Tag } from "./series-and-tags.ts";

export interface SearchRequest {
  readonly text: string;
  readonly limit: number;
  /** From 1. */
  readonly page: number;
  /** "active", "resolved" or null for both. */
  readonly status: string | null;
  /** What to sort by, largest first unless `ascending`; null for open ones first, then by title match. */
  readonly key: SortKey<ListedEvent>;
  readonly ascending: boolean;
  readonly keepClosed: boolean;
  readonly withTags: boolean;
  readonly tags: () => readonly Tag[];
}

const WORDS_MAX = 16;

/** Events in whose titles, questions or tags every word occurs; open ones first, then by title match. */
export function searchEvents(context: ExchangeContext, listing: Listing, request: SearchRequest) {
  const now = context.now();
  const words = request.text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
    .slice(0, WORDS_MAX);
  const hits: { readonly event: ListedEvent; readonly isClosed: boolean; readonly inTitle: boolean }[] = [];
  for (const event of listing.events()) {
    const isClosed = isEventClosed(event, now);
    if (request.status === "active" && isClosed) continue;
    if ((request.status === "resolved" || request.status === "closed") && !isClosed) continue;
    const title = event.title.toLowerCase();
    const inTitle = words.every((word) => title.includes(word));
    if (inTitle || matchesAnywhere(event, title, words)) hits.push({ event, isClosed, inTitle });
  }
  hits.sort((a, b) => a.event.index - b.event.index);
  const { key, ascending } = request;
  if (key !== null) sortBy(hits, ({ event }) => key(event), ascending);
  else
    hits.sort(
      (a, b) =>
        Number(a.isClosed) - Number(b.isClosed) ||
        Number(b.inTitle) - Number(a.inTitle) ||
        a.event.index - b.event.index,
    );
  const start = (request.page - 1) * request.limit;
  const shown = hits.slice(start, start + request.limit).map(({ event }) => gammaEvent(context.world, event, now));
  const tags = request.withTags ? request.tags().filter((tag) => words.some((word) => tag.slug.includes(word))) : [];
  return {
    events: request.keepClosed
      ? shown
      : shown.map((event) => ({ ...event, markets: event.markets.filter((market) => !market.closed) })),
    tags: tags.slice(0, request.limit),
    profiles: [],
    pagination: { hasMore: start + request.limit < hits.length, totalResults: hits.length },
  };
}

function sortBy<Item>(items: Item[], key: (item: Item) => number | string, ascending: boolean): void {
  const keyed = items.map((item) => ({ item, value: key(item) }));
  const sign = ascending ? 1 : -1;
  keyed.sort((a, b) => (a.value === b.value ? 0 : sign * (a.value < b.value ? -1 : 1)));
  items.splice(0, items.length, ...keyed.map(({ item }) => item));
}

function matchesAnywhere(event: ListedEvent, title: string, words: readonly string[]): boolean {
  const text = [title, ...event.tags, ...event.markets.map((market) => market.question)].join(" ").toLowerCase();
  return words.every((word) => text.includes(word));
}
