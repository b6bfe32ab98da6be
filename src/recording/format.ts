/**
 * The lines of a recording (docs/recording.md): what venue adapters deliver, one fact a line, in our words. JSON fields
 * are snake_case and unknown ones are left out; everything is checked on reading, because a recording is a file that
 * anybody may have written.
 */
import Type, { type Static, type TSchema } from "typebox";
import { Compile } from "typebox/compile";
import type { Activity, EventListing, MarketListing, Outcome, Quote, TakerFee } from "../domain/market.ts";
import type { BookLevel, OrderBook } from "../domain/order-book.ts";
import type { Trade } from "../domain/trade.ts";

const RECORDING_FORMAT = "parallax-recording";
const RECORDING_VERSION = 1;
/** A longer line is refused unread. */
export const LINE_CHARS_MAX = 4_000_000;
const LEVELS_MAX = 10_000;
const AT_MIN = Date.UTC(2000, 0);
const AT_MAX = Date.UTC(2200, 0);

/** First line of a recording. */
export interface RecordingHeader {
  /** Unix milliseconds; no fact is older by its `at`. */
  readonly startedAt: number;
  /** Where the facts come from, for people: "live venues", the name of a tape. */
  readonly source: string;
}

/** Something that a venue's adapter delivered at `at`, Unix milliseconds. `venue` is the adapter's name. */
export type Fact = { readonly at: number; readonly venue: string } & (
  | { readonly kind: "event"; readonly event: Omit<EventListing, "venue"> }
  /** Everything slow about a market, its status and outcome among it. */
  | { readonly kind: "market"; readonly market: Omit<MarketListing, "venue"> }
  | { readonly kind: "quote"; readonly marketId: string; readonly quote: Omit<Quote, "receivedAt"> }
  | { readonly kind: "activity"; readonly marketId: string; readonly activity: Activity }
  | { readonly kind: "book"; readonly marketId: string; readonly book: Omit<OrderBook, "receivedAt"> }
  | { readonly kind: "trade"; readonly marketId: string; readonly trade: Trade }
);

/** What is wrong with a line, as one sentence without its number. */
export class LineFault extends Error {
  override readonly name = "LineFault";
}

const maybe = <T extends TSchema>(schema: T) => Type.Optional(schema);
const Instant = Type.Number({ minimum: AT_MIN, maximum: AT_MAX });
/** Dates that venues set may lie anywhere. */
const Moment = Type.Number({ minimum: -8.64e15, maximum: 8.64e15 });
const Price = Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1 });
const Share = Type.Number({ minimum: 0, maximum: 1 });
const Size = Type.Number({ exclusiveMinimum: 0, maximum: 1e15 });
const Amount = Type.Number({ minimum: 0, maximum: 1e18 });
const Id = Type.String({ minLength: 1, maxLength: 512 });
const Title = Type.String({ maxLength: 5_000 });
const Text = Type.String({ maxLength: 1_000_000 });
const Category = Type.String({ maxLength: 1_000 });
const Levels = Type.Array(Type.Tuple([Price, Size]), { maxItems: LEVELS_MAX });
const head = { at: Instant, venue: Type.String({ pattern: "^[a-z][a-z0-9_]{0,19}$" }) };

const OutcomeLine = Type.Union([
  Type.Object({ kind: Type.Literal("yes") }),
  Type.Object({ kind: Type.Literal("no") }),
  Type.Object({ kind: Type.Literal("partial"), value: Share }),
  Type.Object({ kind: Type.Literal("void"), value: maybe(Share) }),
]);
const TakerFeeLine = Type.Union([
  Type.Object({ kind: Type.Literal("none") }),
  Type.Object({
    kind: Type.Literal("quadratic"),
    rate: Type.Number({ minimum: 0 }),
    exponent: Type.Number({ minimum: 0 }),
  }),
  Type.Object({
    kind: Type.Literal("value_table"),
    buy_points: Type.Array(Type.Tuple([Share, Share]), { maxItems: 1_000 }),
  }),
  Type.Object({ kind: Type.Literal("flat_value"), rate: Type.Number({ minimum: 0 }) }),
]);

const HeaderLine = Type.Object({
  format: Type.Literal(RECORDING_FORMAT),
  version: Type.Number(),
  started_at: Type.String({ maxLength: 40 }),
  source: Title,
});
const EventLine = Type.Object({
  ...head,
  event_id: Id,
  title: Title,
  description: maybe(Text),
  category: maybe(Category),
  url: maybe(Title),
  mutually_exclusive: maybe(Type.Boolean()),
  exhaustive: maybe(Type.Boolean()),
  featured: maybe(Type.Boolean()),
  end_at: maybe(Moment),
});
const MarketLine = Type.Object({
  ...head,
  market_id: Id,
  event_id: maybe(Id),
  title: Title,
  outcome_label: maybe(Title),
  url: maybe(Title),
  category: maybe(Category),
  status: Type.Union([
    Type.Literal("pending"),
    Type.Literal("active"),
    Type.Literal("closed"),
    Type.Literal("determined"),
    Type.Literal("finalized"),
  ]),
  paused: maybe(Type.Boolean()),
  outcome: maybe(OutcomeLine),
  rules: maybe(Text),
  open_at: maybe(Moment),
  close_at: maybe(Moment),
  expected_resolution_at: maybe(Moment),
  resolved_at: maybe(Moment),
  tick_size: maybe(Price),
  taker_fee: maybe(TakerFeeLine),
  venue_keys: maybe(Type.Record(Type.String(), Title)),
});
const QuoteLine = Type.Object({
  ...head,
  market_id: Id,
  bid: maybe(Price),
  ask: maybe(Price),
  bid_size: maybe(Size),
  ask_size: maybe(Size),
  last_price: maybe(Price),
  indicative_price: maybe(Price),
  event_at: maybe(Instant),
});
const ActivityLine = Type.Object({
  ...head,
  market_id: Id,
  volume_24h_usd: maybe(Amount),
  volume_total_usd: maybe(Amount),
  liquidity_usd: maybe(Amount),
  open_interest_usd: maybe(Amount),
});
const BookLine = Type.Object({
  ...head,
  market_id: Id,
  bids: maybe(Levels),
  asks: maybe(Levels),
  last_price: maybe(Price),
  event_at: maybe(Instant),
});
const TradeLine = Type.Object({
  ...head,
  market_id: Id,
  trade_id: Id,
  executed_at: Instant,
  yes_price: Price,
  size: Size,
  taker_side: maybe(Type.Union([Type.Literal("yes"), Type.Literal("no")])),
});

const headerLine = Compile(HeaderLine);
const LINES = {
  event: Compile(EventLine),
  market: Compile(MarketLine),
  quote: Compile(QuoteLine),
  activity: Compile(ActivityLine),
  book: Compile(BookLine),
  trade: Compile(TradeLine),
} as const;

/** The header as a line, without its line break. */
export function writeHeader(header: RecordingHeader): string {
  const { startedAt, source } = header;
  return JSON.stringify({
    format: RECORDING_FORMAT,
    version: RECORDING_VERSION,
    started_at: new Date(startedAt).toISOString(),
    source,
  });
}

/** @throws LineFault when the line is not the first line of a recording that this version can read */
export function readHeader(line: string): RecordingHeader {
  const value = parseJson(line);
  if (!headerLine.Check(value)) throw new LineFault(`not the header of a recording (format "${RECORDING_FORMAT}")`);
  if (value.version !== RECORDING_VERSION)
    throw new LineFault(`version ${value.version} of the format, and this program reads version ${RECORDING_VERSION}`);
  const startedAt = Date.parse(value.started_at);
  if (!(startedAt >= AT_MIN && startedAt <= AT_MAX)) throw new LineFault("started_at is not a time");
  return { startedAt, source: value.source };
}

/** A fact as a line, without its line break. What is unknown (null) is left out. */
export function writeFact(fact: Fact): string {
  const { at, venue, kind } = fact;
  return JSON.stringify({ at, venue, kind, ...bodyOf(fact) });
}

const known = <T>(value: T | null): T | undefined => value ?? undefined;
const pairsOf = (levels: readonly BookLevel[]) => levels.map(({ price, size }) => [price, size] as [number, number]);

type Body<Line> = Omit<Line, "at" | "venue">;

function bodyOf(fact: Fact): object {
  switch (fact.kind) {
    case "event": {
      const { eventId, title, description, category, url, mutuallyExclusive, exhaustive, featured, endAt } = fact.event;
      return {
        event_id: eventId,
        title,
        description: known(description),
        category: known(category),
        url: known(url),
        mutually_exclusive: mutuallyExclusive || undefined,
        exhaustive: exhaustive || undefined,
        featured: featured || undefined,
        end_at: known(endAt),
      } satisfies Loose<Body<Static<typeof EventLine>>>;
    }
    case "market":
      return marketBody(fact.market);
    case "quote": {
      const { bid, ask, bidSize, askSize, lastPrice, indicativePrice, eventAt } = fact.quote;
      return {
        market_id: fact.marketId,
        bid: known(bid),
        ask: known(ask),
        bid_size: known(bidSize),
        ask_size: known(askSize),
        last_price: known(lastPrice),
        indicative_price: known(indicativePrice),
        event_at: known(eventAt),
      } satisfies Loose<Body<Static<typeof QuoteLine>>>;
    }
    case "activity": {
      const { volume24hUsd, volumeTotalUsd, liquidityUsd, openInterestUsd } = fact.activity;
      return {
        market_id: fact.marketId,
        volume_24h_usd: known(volume24hUsd),
        volume_total_usd: known(volumeTotalUsd),
        liquidity_usd: known(liquidityUsd),
        open_interest_usd: known(openInterestUsd),
      } satisfies Loose<Body<Static<typeof ActivityLine>>>;
    }
    case "book": {
      const { bids, asks, lastPrice, eventAt } = fact.book;
      return {
        market_id: fact.marketId,
        bids: pairsOf(bids),
        asks: pairsOf(asks),
        last_price: known(lastPrice),
        event_at: known(eventAt),
      } satisfies Loose<Body<Static<typeof BookLine>>>;
    }
    case "trade": {
      const { tradeId, executedAt, yesPrice, size, takerSide } = fact.trade;
      return {
        market_id: fact.marketId,
        trade_id: tradeId,
        executed_at: executedAt,
        yes_price: yesPrice,
        size,
        taker_side: known(takerSide),
      } satisfies Loose<Body<Static<typeof TradeLine>>>;
    }
  }
}

/** Optional fields may also be there as undefined: JSON leaves them out. */
type Loose<T> = { [Key in keyof T]: T[Key] | (undefined extends T[Key] ? undefined : never) };

function marketBody(market: Omit<MarketListing, "venue">): object {
  const { outcome, takerFee, venueKeys } = market;
  return {
    market_id: market.marketId,
    event_id: known(market.eventId),
    title: market.title,
    outcome_label: known(market.outcomeLabel),
    url: known(market.url),
    category: known(market.category),
    status: market.status,
    paused: market.paused || undefined,
    outcome:
      outcome === null ? undefined : outcome.kind === "void" ? { kind: "void", value: known(outcome.value) } : outcome,
    rules: known(market.rules),
    open_at: known(market.openAt),
    close_at: known(market.closeAt),
    expected_resolution_at: known(market.expectedResolutionAt),
    resolved_at: known(market.resolvedAt),
    tick_size: known(market.tickSize),
    taker_fee:
      takerFee?.kind === "value_table" ? { kind: "value_table", buy_points: takerFee.buyPoints } : known(takerFee),
    venue_keys: Object.keys(venueKeys).length === 0 ? undefined : venueKeys,
  };
}

/** @throws LineFault saying what is wrong with the line */
export function readFact(line: string): Fact {
  const value = parseJson(line);
  const kind = typeof value === "object" && value !== null && "kind" in value ? value.kind : undefined;
  if (typeof kind !== "string" || !Object.hasOwn(LINES, kind)) throw new LineFault("no fact of a known kind");
  switch (kind as keyof typeof LINES) {
    case "event": {
      const row = check("event", LINES.event, value);
      return {
        at: row.at,
        venue: row.venue,
        kind: "event",
        event: {
          eventId: row.event_id,
          title: row.title,
          description: row.description ?? null,
          category: row.category ?? null,
          url: row.url ?? null,
          mutuallyExclusive: row.mutually_exclusive ?? false,
          exhaustive: row.exhaustive ?? false,
          featured: row.featured ?? false,
          endAt: row.end_at ?? null,
        },
      };
    }
    case "market": {
      const row = check("market", LINES.market, value);
      return { at: row.at, venue: row.venue, kind: "market", market: marketOf(row) };
    }
    case "quote": {
      const row = check("quote", LINES.quote, value);
      const bid = row.bid ?? null;
      const ask = row.ask ?? null;
      if (bid !== null && ask !== null && bid >= ask) throw new LineFault("a crossed quote");
      return {
        at: row.at,
        venue: row.venue,
        kind: "quote",
        marketId: row.market_id,
        quote: {
          bid,
          ask,
          bidSize: row.bid_size ?? null,
          askSize: row.ask_size ?? null,
          lastPrice: row.last_price ?? null,
          indicativePrice: row.indicative_price ?? null,
          eventAt: row.event_at ?? null,
        },
      };
    }
    case "activity": {
      const row = check("activity", LINES.activity, value);
      return {
        at: row.at,
        venue: row.venue,
        kind: "activity",
        marketId: row.market_id,
        activity: {
          volume24hUsd: row.volume_24h_usd ?? null,
          volumeTotalUsd: row.volume_total_usd ?? null,
          liquidityUsd: row.liquidity_usd ?? null,
          openInterestUsd: row.open_interest_usd ?? null,
        },
      };
    }
    case "book": {
      const row = check("book", LINES.book, value);
      const book = {
        bids: levelsOf(row.bids ?? [], -1),
        asks: levelsOf(row.asks ?? [], 1),
        lastPrice: row.last_price ?? null,
        eventAt: row.event_at ?? null,
      };
      if ((book.bids[0]?.price ?? 0) >= (book.asks[0]?.price ?? 1)) throw new LineFault("a crossed book");
      return { at: row.at, venue: row.venue, kind: "book", marketId: row.market_id, book };
    }
    case "trade": {
      const row = check("trade", LINES.trade, value);
      const trade: Trade = {
        tradeId: row.trade_id,
        executedAt: row.executed_at,
        yesPrice: row.yes_price,
        size: row.size,
        takerSide: row.taker_side ?? null,
      };
      return { at: row.at, venue: row.venue, kind: "trade", marketId: row.market_id, trade };
    }
  }
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new LineFault("not JSON");
  }
}

interface Checker<Row> {
  Check(value: unknown): boolean;
  Errors(value: unknown): Iterable<{ readonly instancePath: string; readonly message: string }>;
  /** Only for its type. */
  Parse(value: unknown): Row;
}

function check<Row>(kind: string, checker: Checker<Row>, value: unknown): Row {
  // What passed the check has the checker's type.
  if (checker.Check(value)) return value as Row;
  const [first] = checker.Errors(value);
  throw new LineFault(
    `the ${kind} is not of the known shape: ${first?.instancePath || "it"} ${first?.message ?? "is wrong"}`,
  );
}

/** @param sign  -1: best is highest, 1: best is lowest */
function levelsOf(pairs: readonly (readonly [number, number])[], sign: -1 | 1): BookLevel[] {
  let before = Number.NEGATIVE_INFINITY;
  return pairs.map(([price, size]) => {
    if (price * sign <= before) throw new LineFault("the levels of a book are not in order, best first");
    before = price * sign;
    return { price, size };
  });
}

function marketOf(row: Static<typeof MarketLine>): Omit<MarketListing, "venue"> {
  return {
    marketId: row.market_id,
    eventId: row.event_id ?? null,
    title: row.title,
    outcomeLabel: row.outcome_label ?? null,
    url: row.url ?? null,
    category: row.category ?? null,
    status: row.status,
    paused: row.paused ?? false,
    outcome: outcomeOf(row.outcome),
    rules: row.rules ?? null,
    openAt: row.open_at ?? null,
    closeAt: row.close_at ?? null,
    expectedResolutionAt: row.expected_resolution_at ?? null,
    resolvedAt: row.resolved_at ?? null,
    tickSize: row.tick_size ?? null,
    takerFee: takerFeeOf(row.taker_fee),
    venueKeys: row.venue_keys ?? {},
  };
}

function outcomeOf(outcome: Static<typeof OutcomeLine> | undefined): Outcome | null {
  if (outcome === undefined) return null;
  return outcome.kind === "void" ? { kind: "void", value: outcome.value ?? null } : outcome;
}

function takerFeeOf(fee: Static<typeof TakerFeeLine> | undefined): TakerFee | null {
  if (fee === undefined) return null;
  return fee.kind === "value_table" ? { kind: "value_table", buyPoints: fee.buy_points } : fee;
}
