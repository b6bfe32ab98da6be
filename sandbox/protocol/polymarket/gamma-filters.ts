import { DAY_MS } from "../../../src/lib/durations.ts";
import type { ListedEvent, ListedMarket, World } from "../../world/types.ts";
import { isEventClosed } from "./gamma-json.ts";
import {
  polymarketConditionId,
  polymarketEventId,
  polymarketEventSlug,
  polymarketMarketId,
  polymarketMarketSlug,
  polymarketQuestionId,
  polymarketTokenIds,
} from "./ids.ts";
import { computeMarketState, deriveOracleState, isMarketClosed } from "./market-state.ts";
import {
  parseBooleanParam,
  parseDateParam,
  parseListParam,
  parseNumberParam,
  parseTextParam,
  type Query,
  ValidationError,
} from "./query.ts";
import { recurrenceOf, seriesIdOf, tagsOf } from "./series-and-tags.ts";

const IDS_MAX = 100;

type Predicate<Item> = (item: Item) => boolean;

/** Creates predicates for the optional parameters `<name>_min` and `<name>_max`. */
function createRangePredicates<Item>(
  query: Query,
  name: string,
  readParam: (query: Query, name: string) => number | null,
  value: (item: Item) => number,
): Predicate<Item>[] {
  const min = readParam(query, `${name}_min`);
  const max = readParam(query, `${name}_max`);
  const predicates: Predicate<Item>[] = [];
  if (min !== null) predicates.push((item) => value(item) >= min);
  if (max !== null) predicates.push((item) => value(item) <= max);
  return predicates;
}

function createTagPredicates(query: Query): Predicate<ListedEvent>[] {
  const predicates: Predicate<ListedEvent>[] = [];
  const ids = parseListParam(query, "tag_id");
  const matchesAll = parseTextParam(query, "tag_match") === "all";
  if (ids !== null) {
    predicates.push((event) => {
      const eventTags = new Set(tagsOf(event).map((tag) => tag.id));
      return matchesAll ? ids.every((id) => eventTags.has(id)) : ids.some((id) => eventTags.has(id));
    });
  }
  const slug = parseTextParam(query, "tag_slug");
  if (slug !== null) predicates.push((event) => tagsOf(event).some((tag) => tag.slug === slug));
  const excluded = parseListParam(query, "exclude_tag_id");
  if (excluded !== null) predicates.push((event) => !tagsOf(event).some((tag) => excluded.includes(tag.id)));
  return predicates;
}

function createIdPredicates<Item>(
  query: Query,
  name: string,
  ids: (item: Item) => readonly string[],
): Predicate<Item>[] {
  const values = parseListParam(query, name);
  if (values === null) return [];
  if (values.length > IDS_MAX) throw new ValidationError(`${name} takes at most ${IDS_MAX} values`);
  const accepted = new Set(values);
  return [(item) => ids(item).some((id) => accepted.has(id))];
}

/** Combines the filter parameters of the market list into one predicate. The venue ignores unknown parameters. */
export function createMarketFilter(world: World, query: Query, now: number): Predicate<ListedMarket> {
  const closed = parseBooleanParam(query, "closed");
  const status = parseTextParam(query, "uma_resolution_status");
  const activity = (market: ListedMarket) => world.activity(market, now);
  const predicates: Predicate<ListedMarket>[] = [
    ...(closed === null ? [] : [(market: ListedMarket) => isMarketClosed(world, market, now) === closed]),
    ...(parseBooleanParam(query, "active") === false || parseBooleanParam(query, "archived") === true
      ? [() => false]
      : []),
    ...createIdPredicates<ListedMarket>(query, "id", (market) => [polymarketMarketId(market)]),
    ...createIdPredicates<ListedMarket>(query, "slug", (market) => [polymarketMarketSlug(market)]),
    ...createIdPredicates<ListedMarket>(query, "condition_ids", (market) => [polymarketConditionId(market)]),
    ...createIdPredicates<ListedMarket>(query, "question_ids", (market) => [polymarketQuestionId(market)]),
    ...createIdPredicates<ListedMarket>(query, "clob_token_ids", polymarketTokenIds),
    ...createTagPredicates(query).map((predicate) => (market: ListedMarket) => predicate(market.event)),
    ...(status === null ? [] : [(market: ListedMarket) => umaStatusOf(world, market, now) === status]),
    ...createRangePredicates<ListedMarket>(query, "start_date", parseDateParam, (market) => market.openAt),
    ...createRangePredicates<ListedMarket>(query, "end_date", parseDateParam, (market) => market.closeAt),
    ...createRangePredicates<ListedMarket>(
      query,
      "volume_num",
      parseNumberParam,
      (market) => activity(market).volumeUsd ?? 0,
    ),
    ...createRangePredicates<ListedMarket>(
      query,
      "liquidity_num",
      parseNumberParam,
      (market) => activity(market).liquidityUsd ?? 0,
    ),
  ];
  return (market) => predicates.every((predicate) => predicate(market));
}

function umaStatusOf(world: World, market: ListedMarket, now: number): string {
  const step = world.plantedResolution?.(market, now)?.step ?? null;
  return deriveOracleState(market, world.lifecycle(market, now), step, now).umaResolutionStatus;
}

/** Combines the filter parameters of the event list into one predicate. */
export function createEventFilter(world: World, query: Query, now: number): Predicate<ListedEvent> {
  const closed = parseBooleanParam(query, "closed");
  const featured = parseBooleanParam(query, "featured");
  const title = parseTextParam(query, "title_search")?.toLowerCase() ?? null;
  const series = parseListParam(query, "series_id");
  const recurrence = parseTextParam(query, "recurrence");
  const ended = parseBooleanParam(query, "ended");
  const predicates: Predicate<ListedEvent>[] = [
    ...(closed === null ? [] : [(event: ListedEvent) => isEventClosed(event, now) === closed]),
    ...(ended === null ? [] : [(event: ListedEvent) => isEventClosed(event, now) === ended]),
    ...(parseBooleanParam(query, "active") === false || parseBooleanParam(query, "archived") === true
      ? [() => false]
      : []),
    ...(parseBooleanParam(query, "live") === true || parseTextParam(query, "parent_event_id") !== null
      ? [() => false]
      : []),
    ...(featured === null ? [] : [(event: ListedEvent) => event.featured === featured]),
    ...createIdPredicates<ListedEvent>(query, "id", (event) => [polymarketEventId(event)]),
    ...createIdPredicates<ListedEvent>(query, "slug", (event) => [polymarketEventSlug(event)]),
    ...createTagPredicates(query),
    ...(series === null ? [] : [(event: ListedEvent) => series.includes(seriesIdOf(event))]),
    ...(recurrence === null ? [] : [(event: ListedEvent) => recurrenceOf(event) === recurrence]),
    ...(title === null ? [] : [(event: ListedEvent) => event.title.toLowerCase().includes(title)]),
    ...createRangePredicates<ListedEvent>(query, "start_date", parseDateParam, (event) => event.openAt),
    ...createRangePredicates<ListedEvent>(query, "end_date", parseDateParam, (event) => event.closeAt),
    ...createRangePredicates<ListedEvent>(query, "volume", parseNumberParam, (event) =>
      sumOverMarkets(world, event, now, "volumeUsd"),
    ),
    ...createRangePredicates<ListedEvent>(query, "liquidity", parseNumberParam, (event) =>
      sumOverMarkets(world, event, now, "liquidityUsd"),
    ),
  ];
  return (event) => predicates.every((predicate) => predicate(event));
}

function sumOverMarkets(
  world: World,
  event: ListedEvent,
  now: number,
  name: "volumeUsd" | "volume24hUsd" | "liquidityUsd" | "openInterestContracts",
): number {
  return event.markets.reduce((sum, market) => sum + (world.activity(market, now)[name] ?? 0), 0);
}

/** Function that returns the sort value of an item; null for the default order by id. */
export type SortKey<Item> = ((item: Item) => number | string) | null;

/**
 * Reads the `order` parameter: one or more comma-separated camelCase field names, which must all be valid. Only the
 * first is used, because ties are rare.
 */
function sortKeyOf<Item>(query: Query, keys: Readonly<Record<string, (item: Item) => number | string>>): SortKey<Item> {
  const names = parseListParam(query, "order") ?? ["id"];
  const sortKeys = names.map((name) => {
    const field = name.trim();
    const key = field === "id" ? null : Object.hasOwn(keys, field) ? keys[field] : undefined;
    if (key === undefined) throw new ValidationError("order fields are not valid");
    return key;
  });
  return sortKeys[0] ?? null;
}

/** Returns the volume of the last `days` days, or -1 (unknown) for items listed before this period. */
function computeRecentVolume(openAt: number, now: number, days: number, volume: () => number): number {
  return now - openAt <= days * DAY_MS ? volume() : -1;
}

export function marketSortKeyOf(world: World, query: Query, now: number): SortKey<ListedMarket> {
  const activity = (market: ListedMarket) => world.activity(market, now);
  const state = (market: ListedMarket) => computeMarketState(world, market, now);
  return sortKeyOf<ListedMarket>(query, {
    question: (market) => market.question,
    slug: polymarketMarketSlug,
    createdAt: (market) => market.openAt,
    startDate: (market) => market.openAt,
    endDate: (market) => market.closeAt,
    closedTime: (market) => (isMarketClosed(world, market, now) ? market.finalizeAt : 0),
    updatedAt: (market) => world.book(market, now).changedAt,
    volume: (market) => activity(market).volumeUsd ?? 0,
    volumeNum: (market) => activity(market).volumeUsd ?? 0,
    volumeClob: (market) => activity(market).volumeUsd ?? 0,
    volume24hr: (market) => activity(market).volume24hUsd ?? 0,
    volume24hrClob: (market) => activity(market).volume24hUsd ?? 0,
    volume1wk: (market) => computeRecentVolume(market.openAt, now, 7, () => activity(market).volumeUsd ?? 0),
    volume1mo: (market) => computeRecentVolume(market.openAt, now, 30, () => activity(market).volumeUsd ?? 0),
    volume1yr: (market) => computeRecentVolume(market.openAt, now, 365, () => activity(market).volumeUsd ?? 0),
    liquidityClob: (market) => activity(market).liquidityUsd ?? 0,
    competitive: () => 0,
    liquidity: (market) => activity(market).liquidityUsd ?? 0,
    liquidityNum: (market) => activity(market).liquidityUsd ?? 0,
    lastTradePrice: (market) => state(market).book.lastPrice ?? 0,
    bestBid: (market) => state(market).book.bids[0]?.price ?? 0,
    bestAsk: (market) => state(market).book.asks[0]?.price ?? 1,
    spread: (market) => (state(market).book.asks[0]?.price ?? 1) - (state(market).book.bids[0]?.price ?? 0),
  });
}

export function eventSortKeyOf(world: World, query: Query, now: number): SortKey<ListedEvent> {
  return sortKeyOf<ListedEvent>(query, {
    title: (event) => event.title,
    slug: polymarketEventSlug,
    createdAt: (event) => event.openAt,
    creationDate: (event) => event.openAt,
    startDate: (event) => event.openAt,
    endDate: (event) => event.closeAt,
    updatedAt: (event) => event.openAt,
    closedTime: (event) =>
      isEventClosed(event, now) ? Math.max(...event.markets.map((market) => market.finalizeAt)) : 0,
    volume: (event) => sumOverMarkets(world, event, now, "volumeUsd"),
    volume24hr: (event) => sumOverMarkets(world, event, now, "volume24hUsd"),
    volume1wk: (event) =>
      computeRecentVolume(event.openAt, now, 7, () => sumOverMarkets(world, event, now, "volumeUsd")),
    volume1mo: (event) =>
      computeRecentVolume(event.openAt, now, 30, () => sumOverMarkets(world, event, now, "volumeUsd")),
    volume1yr: (event) =>
      computeRecentVolume(event.openAt, now, 365, () => sumOverMarkets(world, event, now, "volumeUsd")),
    liquidityClob: (event) => sumOverMarkets(world, event, now, "liquidityUsd"),
    featured: (event) => Number(event.featured),
    competitive: () => 0,
    commentCount: () => 0,
    liquidity: (event) => sumOverMarkets(world, event, now, "liquidityUsd"),
    openInterest: (event) => sumOverMarkets(world, event, now, "openInterestContracts"),
  });
}
