import type { ListedEvent, ListedMarket, World } from "../../world/types.ts";
import { isEventClosed, isMarketClosed } from "./gamma-objects.ts";
import {
  polymarketConditionId,
  polymarketEventId,
  polymarketEventSlug,
  polymarketMarketId,
  polymarketMarketSlug,
  polymarketQuestionId,
  polymarketTokenIds,
} from "./ids.ts";
import { marketState, oracleState } from "./market-state.ts";
import { recurrenceOf, seriesId, tagsOf } from "./series-and-tags.ts";

export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A request that the venue answers with 422. */
export class ValidationError extends Error {}

const IDS_MAX = 100;

/** All values of a parameter, whether repeated or separated by commas; null when it was not given. */
export function listParam(query: Query, name: string): string[] | null {
  const given = query[name];
  if (given === undefined || given === "") return null;
  const values = (typeof given === "string" ? [given] : given).flatMap((value) => value.split(","));
  return values.filter((value) => value !== "");
}

export function textParam(query: Query, name: string): string | null {
  const given = query[name];
  const value = typeof given === "string" || given === undefined ? given : given[0];
  return value === undefined || value === "" ? null : value;
}

export function numberParam(query: Query, name: string): number | null {
  const text = textParam(query, name);
  if (text === null) return null;
  const value = Number(text);
  if (!Number.isFinite(value)) throw new ValidationError(`${name} must be a number`);
  return value;
}

export function integerParam(query: Query, name: string): number | null {
  const value = numberParam(query, name);
  if (value !== null && (!Number.isInteger(value) || value < 0))
    throw new ValidationError(`${name} must be a non-negative integer`);
  return value;
}

/** The spellings that the venue's language reads as a boolean; Python clients send True and False. */
const BOOLEANS: Readonly<Record<string, boolean>> = {
  ...{ "1": true, t: true, T: true, true: true, True: true, TRUE: true },
  ...{ "0": false, f: false, F: false, false: false, False: false, FALSE: false },
};

export function booleanParam(query: Query, name: string): boolean | null {
  const text = textParam(query, name);
  if (text === null) return null;
  const value = Object.hasOwn(BOOLEANS, text) ? BOOLEANS[text] : undefined;
  if (value === undefined) throw new ValidationError(`${name} must be a boolean`);
  return value;
}

function dateParam(query: Query, name: string): number | null {
  const text = textParam(query, name);
  if (text === null) return null;
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw new ValidationError(`${name} must be a date`);
  return at;
}

type Test<Item> = (item: Item) => boolean;

function rangeTests<Item>(min: number | null, max: number | null, value: (item: Item) => number): Test<Item>[] {
  const tests: Test<Item>[] = [];
  if (min !== null) tests.push((item) => value(item) >= min);
  if (max !== null) tests.push((item) => value(item) <= max);
  return tests;
}

function tagTests(query: Query): Test<ListedEvent>[] {
  const tests: Test<ListedEvent>[] = [];
  const ids = listParam(query, "tag_id");
  const every = textParam(query, "tag_match") === "all";
  if (ids !== null) {
    tests.push((event) => {
      const known = new Set(tagsOf(event).map((tag) => tag.id));
      return every ? ids.every((id) => known.has(id)) : ids.some((id) => known.has(id));
    });
  }
  const slug = textParam(query, "tag_slug");
  if (slug !== null) tests.push((event) => tagsOf(event).some((tag) => tag.slug === slug));
  const excluded = listParam(query, "exclude_tag_id");
  if (excluded !== null) tests.push((event) => !tagsOf(event).some((tag) => excluded.includes(tag.id)));
  return tests;
}

function memberTest<Item>(query: Query, name: string, ids: (item: Item) => readonly string[]): Test<Item>[] {
  const wanted = listParam(query, name);
  if (wanted === null) return [];
  if (wanted.length > IDS_MAX) throw new ValidationError(`${name} takes at most ${IDS_MAX} values`);
  const set = new Set(wanted);
  return [(item) => ids(item).some((id) => set.has(id))];
}

/** The market filters of the listing, as one predicate. Unknown parameters are ignored, as the venue does. */
export function marketFilter(world: World, query: Query, now: number): Test<ListedMarket> {
  const closed = booleanParam(query, "closed");
  const status = textParam(query, "uma_resolution_status");
  const activity = (market: ListedMarket) => world.activity(market, now);
  const tests: Test<ListedMarket>[] = [
    ...(closed === null ? [] : [(market: ListedMarket) => isMarketClosed(market, now) === closed]),
    ...(booleanParam(query, "active") === false || booleanParam(query, "archived") === true ? [() => false] : []),
    ...memberTest<ListedMarket>(query, "id", (market) => [polymarketMarketId(market)]),
    ...memberTest<ListedMarket>(query, "slug", (market) => [polymarketMarketSlug(market)]),
    ...memberTest<ListedMarket>(query, "condition_ids", (market) => [polymarketConditionId(market)]),
    ...memberTest<ListedMarket>(query, "question_ids", (market) => [polymarketQuestionId(market)]),
    ...memberTest<ListedMarket>(query, "clob_token_ids", polymarketTokenIds),
    ...tagTests(query).map((test) => (market: ListedMarket) => test(market.event)),
    ...(status === null ? [] : [(market: ListedMarket) => umaStatus(world, market, now) === status]),
    ...rangeTests<ListedMarket>(
      dateParam(query, "start_date_min"),
      dateParam(query, "start_date_max"),
      (m) => m.openAt,
    ),
    ...rangeTests<ListedMarket>(dateParam(query, "end_date_min"), dateParam(query, "end_date_max"), (m) => m.closeAt),
    ...rangeTests<ListedMarket>(
      numberParam(query, "volume_num_min"),
      numberParam(query, "volume_num_max"),
      (m) => activity(m).volumeUsd ?? 0,
    ),
    ...rangeTests<ListedMarket>(
      numberParam(query, "liquidity_num_min"),
      numberParam(query, "liquidity_num_max"),
      (m) => activity(m).liquidityUsd ?? 0,
    ),
  ];
  return (market) => tests.every((test) => test(market));
}

function umaStatus(world: World, market: ListedMarket, now: number): string {
  const { phase, since } = world.lifecycle(market, now);
  return oracleState(market, phase, since, now).umaResolutionStatus;
}

/** The event filters of the listing, as one predicate. */
export function eventFilter(world: World, query: Query, now: number): Test<ListedEvent> {
  const closed = booleanParam(query, "closed");
  const featured = booleanParam(query, "featured");
  const title = textParam(query, "title_search")?.toLowerCase() ?? null;
  const series = listParam(query, "series_id");
  const recurrence = textParam(query, "recurrence");
  const ended = booleanParam(query, "ended");
  const tests: Test<ListedEvent>[] = [
    ...(closed === null ? [] : [(event: ListedEvent) => isEventClosed(event, now) === closed]),
    ...(ended === null ? [] : [(event: ListedEvent) => isEventClosed(event, now) === ended]),
    ...(booleanParam(query, "active") === false || booleanParam(query, "archived") === true ? [() => false] : []),
    ...(booleanParam(query, "live") === true || textParam(query, "parent_event_id") !== null ? [() => false] : []),
    ...(featured === null ? [] : [(event: ListedEvent) => event.featured === featured]),
    ...memberTest<ListedEvent>(query, "id", (event) => [polymarketEventId(event)]),
    ...memberTest<ListedEvent>(query, "slug", (event) => [polymarketEventSlug(event)]),
    ...tagTests(query),
    ...(series === null ? [] : [(event: ListedEvent) => series.includes(seriesId(event))]),
    ...(recurrence === null ? [] : [(event: ListedEvent) => recurrenceOf(event) === recurrence]),
    ...(title === null ? [] : [(event: ListedEvent) => event.title.toLowerCase().includes(title)]),
    ...rangeTests<ListedEvent>(dateParam(query, "start_date_min"), dateParam(query, "start_date_max"), (e) => e.openAt),
    ...rangeTests<ListedEvent>(dateParam(query, "end_date_min"), dateParam(query, "end_date_max"), (e) => e.closeAt),
    ...rangeTests<ListedEvent>(numberParam(query, "volume_min"), numberParam(query, "volume_max"), (e) =>
      eventSum(world, e, now, "volumeUsd"),
    ),
    ...rangeTests<ListedEvent>(numberParam(query, "liquidity_min"), numberParam(query, "liquidity_max"), (e) =>
      eventSum(world, e, now, "liquidityUsd"),
    ),
  ];
  return (event) => tests.every((test) => test(event));
}

function eventSum(
  world: World,
  event: ListedEvent,
  now: number,
  name: "volumeUsd" | "volume24hUsd" | "liquidityUsd" | "openInterestContracts",
): number {
  return event.markets.reduce((sum, market) => sum + (world.activity(market, now)[name] ?? 0), 0);
}

/** Value to sort by; null for the default order by id. */
export type SortKey<Item> = ((item: Item) => number | string) | null;

/**
 * Fields are called as in the objects, not in snake case as filters are. There may be several with commas: all must be
 * known, and as values are hardly ever equal only the first decides.
 */
function sortKey<Item>(query: Query, keys: Readonly<Record<string, (item: Item) => number | string>>): SortKey<Item> {
  const names = listParam(query, "order") ?? ["id"];
  const found = names.map((name) => {
    const field = name.trim();
    const key = field === "id" ? null : Object.hasOwn(keys, field) ? keys[field] : undefined;
    if (key === undefined) throw new ValidationError("order fields are not valid");
    return key;
  });
  return found[0] ?? null;
}

const DAY_MS = 86_400_000;
/** Volume of a look-back that begins before the listing did; that of others is not kept, and sorts as the least. */
function youngVolume(openAt: number, now: number, days: number, volume: () => number): number {
  return now - openAt <= days * DAY_MS ? volume() : -1;
}

export function marketSortKey(world: World, query: Query, now: number): SortKey<ListedMarket> {
  const activity = (market: ListedMarket) => world.activity(market, now);
  const state = (market: ListedMarket) => marketState(world, market, now);
  return sortKey<ListedMarket>(query, {
    question: (market) => market.question,
    slug: polymarketMarketSlug,
    createdAt: (market) => market.openAt,
    startDate: (market) => market.openAt,
    endDate: (market) => market.closeAt,
    closedTime: (market) => (isMarketClosed(market, now) ? market.finalizeAt : 0),
    updatedAt: (market) => world.book(market, now).changedAt,
    volume: (market) => activity(market).volumeUsd ?? 0,
    volumeNum: (market) => activity(market).volumeUsd ?? 0,
    volumeClob: (market) => activity(market).volumeUsd ?? 0,
    volume24hr: (market) => activity(market).volume24hUsd ?? 0,
    volume24hrClob: (market) => activity(market).volume24hUsd ?? 0,
    volume1wk: (market) => youngVolume(market.openAt, now, 7, () => activity(market).volumeUsd ?? 0),
    volume1mo: (market) => youngVolume(market.openAt, now, 30, () => activity(market).volumeUsd ?? 0),
    volume1yr: (market) => youngVolume(market.openAt, now, 365, () => activity(market).volumeUsd ?? 0),
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

export function eventSortKey(world: World, query: Query, now: number): SortKey<ListedEvent> {
  return sortKey<ListedEvent>(query, {
    title: (event) => event.title,
    slug: polymarketEventSlug,
    createdAt: (event) => event.openAt,
    creationDate: (event) => event.openAt,
    startDate: (event) => event.openAt,
    endDate: (event) => event.closeAt,
    updatedAt: (event) => event.openAt,
    closedTime: (event) =>
      isEventClosed(event, now) ? Math.max(...event.markets.map((market) => market.finalizeAt)) : 0,
    volume: (event) => eventSum(world, event, now, "volumeUsd"),
    volume24hr: (event) => eventSum(world, event, now, "volume24hUsd"),
    volume1wk: (event) => youngVolume(event.openAt, now, 7, () => eventSum(world, event, now, "volumeUsd")),
    volume1mo: (event) => youngVolume(event.openAt, now, 30, () => eventSum(world, event, now, "volumeUsd")),
    volume1yr: (event) => youngVolume(event.openAt, now, 365, () => eventSum(world, event, now, "volumeUsd")),
    liquidityClob: (event) => eventSum(world, event, now, "liquidityUsd"),
    featured: (event) => Number(event.featured),
    competitive: () => 0,
    commentCount: () => 0,
    liquidity: (event) => eventSum(world, event, now, "liquidityUsd"),
    openInterest: (event) => eventSum(world, event, now, "openInterestContracts"),
  });
}
