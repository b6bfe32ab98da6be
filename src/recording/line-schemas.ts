import Type, { type TSchema } from "typebox";
import { Compile } from "typebox/compile";

const LEVELS_MAX = 10_000;
export const AT_MIN = Date.UTC(2000, 0);
export const AT_MAX = Date.UTC(2200, 0);

const maybe = <T extends TSchema>(schema: T) => Type.Optional(schema);
/** Time of a recorded event. */
const EventTime = Type.Number({ minimum: AT_MIN, maximum: AT_MAX });
/** Times set by venues, such as a close time, can be any JavaScript date. */
const AnyTime = Type.Number({ minimum: -8.64e15, maximum: 8.64e15 });
const Price = Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1 });
const Share = Type.Number({ minimum: 0, maximum: 1 });
const Size = Type.Number({ exclusiveMinimum: 0, maximum: 1e15 });
const Amount = Type.Number({ minimum: 0, maximum: 1e18 });
const Id = Type.String({ minLength: 1, maxLength: 512 });
const Title = Type.String({ maxLength: 5_000 });
const Text = Type.String({ maxLength: 1_000_000 });
const Category = Type.String({ maxLength: 1_000 });
const Levels = Type.Array(Type.Tuple([Price, Size]), { maxItems: LEVELS_MAX });
const commonFields = { at: EventTime, venue: Type.String({ pattern: "^[a-z][a-z0-9_]{0,19}$" }) };

export const HeaderLine = Type.Object({
  format: Type.Literal("parallax-recording"),
  version: Type.Number(),
  started_at: Type.String({ maxLength: 40 }),
  source: Title,
});

const EventLine = Type.Object({
  ...commonFields,
  event_id: Id,
  title: Title,
  description: maybe(Text),
  category: maybe(Category),
  url: maybe(Title),
  mutually_exclusive: maybe(Type.Boolean()),
  exhaustive: maybe(Type.Boolean()),
  featured: maybe(Type.Boolean()),
  end_at: maybe(AnyTime),
});

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

const MarketLine = Type.Object({
  ...commonFields,
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
  open_at: maybe(AnyTime),
  close_at: maybe(AnyTime),
  expected_resolution_at: maybe(AnyTime),
  resolved_at: maybe(AnyTime),
  tick_size: maybe(Price),
  taker_fee: maybe(TakerFeeLine),
  venue_keys: maybe(Type.Record(Type.String(), Title)),
});

const QuoteLine = Type.Object({
  ...commonFields,
  market_id: Id,
  bid: maybe(Price),
  ask: maybe(Price),
  bid_size: maybe(Size),
  ask_size: maybe(Size),
  last_price: maybe(Price),
  indicative_price: maybe(Price),
  event_at: maybe(EventTime),
});

const ActivityLine = Type.Object({
  ...commonFields,
  market_id: Id,
  volume_24h_usd: maybe(Amount),
  volume_total_usd: maybe(Amount),
  liquidity_usd: maybe(Amount),
  open_interest_usd: maybe(Amount),
});

const BookLine = Type.Object({
  ...commonFields,
  market_id: Id,
  bids: maybe(Levels),
  asks: maybe(Levels),
  last_price: maybe(Price),
  event_at: maybe(EventTime),
});

const TradeLine = Type.Object({
  ...commonFields,
  market_id: Id,
  trade_id: Id,
  executed_at: EventTime,
  yes_price: Price,
  size: Size,
  taker_side: maybe(Type.Union([Type.Literal("yes"), Type.Literal("no")])),
});

export const headerValidator = Compile(HeaderLine);
export const factValidators = {
  event: Compile(EventLine),
  market: Compile(MarketLine),
  quote: Compile(QuoteLine),
  activity: Compile(ActivityLine),
  book: Compile(BookLine),
  trade: Compile(TradeLine),
} as const;
