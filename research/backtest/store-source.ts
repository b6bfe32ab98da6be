/**
 * Reads facts from the service's store. Ticks, hourly bars and status changes have a time at which the service knew them.
 * Listings and events are stored only in their last version, so their fields that can reveal the future are omitted.
 */
import {
  EMPTY_QUOTE,
  type MarketListing,
  type MarketStatus,
  type Outcome,
  settlementValueOf,
} from "../../src/domain/market.ts";
import { keysetPages } from "../../src/lib/chunks.ts";
import { DAY_MS, HOUR_MS } from "../../src/lib/durations.ts";
import type { Database } from "../../src/ports/database.ts";
import type { Fact } from "../../src/recording/index.ts";
import { parseEvent, parseSnapshot } from "../../src/storage/snapshot-codec.ts";
import { toPrice } from "../../src/storage/storable.ts";
import type { BacktestOptions } from "./options.ts";

/** Length of the price history that is read before the period, because a market view contains it. */
const PRICES_BEFORE_MS = 8 * DAY_MS;
const VOLUME_HOURS = 24;
const PAGE_MARKETS = 1_000;
/** Maximum delay between a tick's time at the venue and its receipt. Ticks with a longer delay are skipped. */
const ARRIVAL_MS_MAX = HOUR_MS;

/** Limitations of a store as a source. Every report lists them. */
export const STORE_LIMITATIONS: readonly string[] = [
  "The store has no order books and no sizes of quotes. Without --assumed-size no signal can be traded.",
  "Times of close and of the expected result are not used, because the stored ones can reveal the outcome. So signals do not end at the close.",
  "Titles, rules, fees, tick sizes and categories are those of the last listing. Pauses of trading are unknown.",
  "Liquidity is not stored over time: markets are selected by the volume of the last 24 hours.",
];

interface StoredMarket {
  readonly key: number;
  readonly listing: MarketListing;
  readonly changes: readonly StatusChange[];
  isListed: boolean;
  lastTickAt: number;
  /** Hourly volume of the last 24 hours in USD, keyed by the end of the hour in Unix milliseconds. */
  readonly volumes: Map<number, number>;
}

interface StatusChange {
  readonly at: number;
  readonly from: MarketStatus | null;
  readonly to: MarketStatus;
  readonly outcome: Outcome | null;
}

/** A tick, hourly bar or status change of a market, with the time at which the service received it. */
type Row = { readonly at: number; readonly market: StoredMarket } & (
  | { readonly kind: "tick"; readonly tick: TickRow }
  | { readonly kind: "bar"; readonly bar: BarRow }
  | { readonly kind: "status"; readonly change: StatusChange }
);

interface TickRow {
  readonly market_key: number;
  readonly at: Date;
  readonly bid: number | null;
  readonly ask: number | null;
  readonly last: number | null;
  readonly yes_price: number | null;
}

interface BarRow {
  readonly market_key: number;
  readonly at: Date;
  readonly yes_close: number | null;
  readonly volume_usd: number | null;
}

const SELECT_MARKETS = `
select key, snapshot from markets
where key > $1::int4 and (status <> 'finalized' or updated_at >= to_timestamp($2::float8 / 1000))
order by key limit ${PAGE_MARKETS}`;

const SELECT_CHANGES = `
select market_key, changed_at, from_status, to_status, outcome::text as outcome
from status_changes where market_key = any($1::int4[]) order by market_key, changed_at`;

/** Selects the last tick of each market among the ticks received in a time window. */
const SELECT_TICKS = `
select distinct on (market_key) market_key, greatest(event_at, received_at) as at, bid, ask, last, yes_price
from ticks
where event_at > to_timestamp(($1::float8 - ${ARRIVAL_MS_MAX}) / 1000) and event_at <= to_timestamp($2::float8 / 1000)
  and greatest(event_at, received_at) > to_timestamp($1::float8 / 1000)
  and greatest(event_at, received_at) <= to_timestamp($2::float8 / 1000)
order by market_key, event_at desc`;

/** Selects hourly bars by their end, because a bar's closing price is known only then. */
const SELECT_BARS = `
select market_key, start_at + interval '1 hour' as at, yes_close, volume_usd from bars_1h
where start_at > to_timestamp(($1::float8 - ${HOUR_MS}) / 1000) and start_at <= to_timestamp(($2::float8 - ${HOUR_MS}) / 1000)`;

/**
 * Passes the facts of a period and of the eight days before it to `apply`, ordered by time of receipt.
 * Of a market's ticks in each window of `everyMs`, or of an hour if that is shorter, only the last is read.
 *
 * A stored listing contains information from the future: the outcome and the latest closing time. The outcome is passed
 * only from the time at which it became known, and the closing time is never passed.
 *
 * A tick becomes a quote. After a day without ticks, the closing price of an hourly bar becomes a quote without bid and
 * ask.
 */
export async function readStoredFacts(
  database: Database,
  { from, to, everyMs }: Pick<BacktestOptions, "from" | "to" | "everyMs">,
  apply: (fact: Fact) => boolean,
): Promise<void> {
  const start = from - PRICES_BEFORE_MS;
  const markets = await readMarkets(database, start);
  for (const fact of await readEvents(database, start)) apply(fact);
  const changes = [...markets.values()]
    .flatMap((market) => market.changes.map((change): Row => ({ kind: "status", at: change.at, market, change })))
    .sort((a, b) => a.at - b.at);
  let nextChange = changes.findIndex(({ at }) => at > start);
  if (nextChange === -1) nextChange = changes.length;
  const windowMs = Math.min(everyMs, HOUR_MS);
  for (let after = start; after < to; after += windowMs) {
    const until = Math.min(to, after + windowMs);
    const rows: Row[] = await readWindow(database, markets, after, until);
    for (let change = changes[nextChange]; change !== undefined && change.at <= until; change = changes[++nextChange])
      rows.push(change);
    rows.sort((a, b) => a.at - b.at || a.market.key - b.market.key);
    for (const row of rows) for (const fact of toFacts(row)) apply(fact);
  }
}

async function readMarkets(database: Database, since: number): Promise<Map<number, StoredMarket>> {
  const markets = new Map<number, StoredMarket>();
  const selectAfter = ({ key }: { readonly key: number }) =>
    database.query<{ key: number; snapshot: string }>(SELECT_MARKETS, [key, since]);
  for await (const rows of keysetPages({ key: 0 }, selectAfter)) {
    const changes = await readChanges(database, rows);
    for (const { key, snapshot } of rows) {
      const listing = parseSnapshot(snapshot)?.listing;
      if (listing === undefined) continue;
      markets.set(key, {
        key,
        listing,
        isListed: false,
        lastTickAt: Number.NEGATIVE_INFINITY,
        volumes: new Map(),
        changes: withSettlement(changes.get(key) ?? [], listing),
      });
    }
  }
  return markets;
}

interface ChangeRow {
  readonly market_key: number;
  readonly changed_at: Date;
  readonly from_status: MarketStatus | null;
  readonly to_status: MarketStatus;
  readonly outcome: string | null;
}

async function readChanges(
  database: Database,
  markets: readonly { readonly key: number }[],
): Promise<Map<number, StatusChange[]>> {
  const rows = await database.query<ChangeRow>(SELECT_CHANGES, [markets.map(({ key }) => key)]);
  const changes = new Map<number, StatusChange[]>();
  for (const { market_key, changed_at, from_status, to_status, outcome } of rows) {
    const change = { at: changed_at.getTime(), from: from_status, to: to_status, outcome: parseOutcome(outcome) };
    changes.set(market_key, [...(changes.get(market_key) ?? []), change]);
  }
  return changes;
}

/** Parses a stored outcome. Returns null if the JSON is invalid or the kind of outcome is unknown. */
function parseOutcome(text: string | null): Outcome | null {
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || !("kind" in value)) return null;
    const outcome = value as Outcome;
    if (!["yes", "no", "partial", "void"].includes(outcome.kind)) return null;
    const payout = settlementValueOf(outcome);
    return payout === null || (payout >= 0 && payout <= 1) ? outcome : null;
  } catch {
    return null;
  }
}

/** Adds the settlement of a market that settled while the service was not running, at the venue's time. */
function withSettlement(changes: readonly StatusChange[], listing: MarketListing): readonly StatusChange[] {
  const { status, outcome, resolvedAt } = listing;
  if (status !== "finalized" || outcome === null || resolvedAt === null) return changes;
  if (changes.some((change) => change.to === "finalized" && change.outcome !== null)) return changes;
  const lastAt = changes.at(-1)?.at ?? resolvedAt;
  return [...changes, { at: Math.max(lastAt, resolvedAt), from: null, to: "finalized", outcome }];
}

async function readEvents(database: Database, at: number): Promise<Fact[]> {
  const rows = await database.query<{ listing: string }>("select listing from events order by venue, event_id");
  return rows.flatMap(({ listing }): Fact[] => {
    const parsed = parseEvent(listing);
    if (parsed === null) return [];
    const { venue, ...event } = parsed;
    // A venue changes the end time of an event that ends early, so the stored end time can reveal the outcome.
    return [{ at, venue, kind: "event", event: { ...event, endAt: null } }];
  });
}

async function readWindow(
  database: Database,
  markets: ReadonlyMap<number, StoredMarket>,
  after: number,
  until: number,
): Promise<Row[]> {
  const [ticks, bars] = await Promise.all([
    database.query<TickRow>(SELECT_TICKS, [after, until]),
    database.query<BarRow>(SELECT_BARS, [after, until]),
  ]);
  const toRow = <Kind extends "tick" | "bar">(
    key: number,
    at: Date,
    row: (market: StoredMarket) => Row & { kind: Kind },
  ) => {
    const market = markets.get(key);
    return market === undefined || at.getTime() > until ? [] : [row(market)];
  };
  return [
    ...ticks.flatMap((tick) =>
      toRow(tick.market_key, tick.at, (market) => ({ kind: "tick", at: tick.at.getTime(), market, tick })),
    ),
    ...bars.flatMap((bar) =>
      toRow(bar.market_key, bar.at, (market) => ({ kind: "bar", at: bar.at.getTime(), market, bar })),
    ),
  ];
}

function* toFacts(row: Row): Generator<Fact> {
  const { at, market } = row;
  const { listing, changes } = market;
  const { venue, marketId } = listing;
  if (row.kind === "status") {
    market.isListed = true;
    yield listAt(market, at, row.change.to, row.change.outcome);
    return;
  }
  if (!market.isListed) {
    market.isListed = true;
    const last = changes.findLast((change) => change.at <= at);
    // Before the first stored change, the status is the previous status of that change.
    const status = last?.to ?? changes[0]?.from ?? "active";
    yield listAt(market, at, status, last?.outcome ?? null);
  }
  if (row.kind === "tick") {
    market.lastTickAt = at;
    yield { at, venue, kind: "quote", marketId, quote: quoteOf(row.tick) };
    return;
  }
  const { yes_close, volume_usd } = row.bar;
  if (volume_usd !== null) {
    market.volumes.set(at, volume_usd);
    for (const end of market.volumes.keys()) if (end <= at - VOLUME_HOURS * HOUR_MS) market.volumes.delete(end);
    const volume24hUsd = market.volumes.values().reduce((sum, volume) => sum + volume, 0);
    const unknown = { volumeTotalUsd: null, liquidityUsd: null, openInterestUsd: null };
    yield { at, venue, kind: "activity", marketId, activity: { ...unknown, volume24hUsd } };
  }
  const lastPrice = toPrice(yes_close);
  if (lastPrice === null || at - market.lastTickAt <= DAY_MS) return;
  yield { at, venue, kind: "quote", marketId, quote: { ...EMPTY_QUOTE, lastPrice } };
}

function quoteOf({ bid, ask, last, yes_price }: TickRow) {
  const hasQuote = bid !== null || ask !== null || last !== null;
  return {
    ...EMPTY_QUOTE,
    bid: toPrice(bid),
    ask: toPrice(ask),
    lastPrice: toPrice(last),
    indicativePrice: hasQuote ? null : toPrice(yes_price),
  };
}

/** Returns the listing as a fact at time `at`, without the fields that may have become known only later. */
function listAt({ listing }: StoredMarket, at: number, status: MarketStatus, outcome: Outcome | null): Fact {
  const { venue, ...market } = listing;
  const hindsight = { paused: false, closeAt: null, expectedResolutionAt: null, resolvedAt: null };
  return { at, venue, kind: "market", market: { ...market, ...hindsight, status, outcome } };
}
