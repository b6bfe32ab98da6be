import Type, { type TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { LEFT_OUT_REASONS, type LeftOutReason } from "../domain/event-children.ts";
import { HOUR_MS } from "../lib/durations.ts";

const LEVELS_MAX = 10_000;
const PRICE_RANGES_MAX = 100;
export const AT_MIN = Date.UTC(2000, 0);
export const AT_MAX = Date.UTC(2200, 0);

const optional = <T extends TSchema>(schema: T) => Type.Optional(schema);
/** Unix milliseconds from the year 2000 to the year 2200. */
const EventTime = Type.Number({ minimum: AT_MIN, maximum: AT_MAX });
/** Unix milliseconds of any JavaScript date, for times that venues set, such as a close time. */
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

const Count = Type.Integer({ minimum: 0, maximum: 1_000_000 });
const ChildrenLine = Type.Object({
  total: Count,
  read: Count,
  left_out: Type.Object(
    Object.fromEntries(LEFT_OUT_REASONS.map((reason) => [reason, Type.Optional(Count)])) as Record<
      LeftOutReason,
      Type.TOptional<typeof Count>
    >,
    { additionalProperties: false },
  ),
});

const EventLine = Type.Object({
  ...commonFields,
  event_id: Id,
  title: Title,
  description: optional(Text),
  category: optional(Category),
  url: optional(Title),
  mutually_exclusive: optional(Type.Boolean()),
  exhaustive: optional(Type.Boolean()),
  children: optional(ChildrenLine),
  featured: optional(Type.Boolean()),
  end_at: optional(AnyTime),
});

const OutcomeLine = Type.Union([
  Type.Object({ kind: Type.Literal("yes") }),
  Type.Object({ kind: Type.Literal("no") }),
  Type.Object({ kind: Type.Literal("partial"), value: Share }),
  Type.Object({ kind: Type.Literal("void"), value: optional(Share) }),
]);

const PointsLine = Type.Array(Type.Tuple([Share, Share]), { maxItems: 1_000 });
const TakerFeeLine = Type.Union([
  Type.Object({ kind: Type.Literal("none") }),
  Type.Object({
    kind: Type.Literal("quadratic"),
    rate: Type.Number({ minimum: 0 }),
    exponent: Type.Number({ minimum: 0 }),
    fee_step: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
    balance_step: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
  }),
  Type.Object({
    kind: Type.Literal("value_table"),
    buy_points: PointsLine,
    sell_points: PointsLine,
  }),
  Type.Object({ kind: Type.Literal("flat_value"), rate: Type.Number({ minimum: 0 }) }),
]);

const MarketLine = Type.Object({
  ...commonFields,
  market_id: Id,
  event_id: optional(Id),
  title: Title,
  outcome_label: optional(Title),
  url: optional(Title),
  category: optional(Category),
  status: Type.Union([
    Type.Literal("pending"),
    Type.Literal("active"),
    Type.Literal("closed"),
    Type.Literal("determined"),
    Type.Literal("finalized"),
  ]),
  paused: optional(Type.Boolean()),
  outcome: optional(OutcomeLine),
  rules: optional(Text),
  open_at: optional(AnyTime),
  close_at: optional(AnyTime),
  expected_resolution_at: optional(AnyTime),
  resolved_at: optional(AnyTime),
  price_ranges: optional(
    Type.Array(Type.Object({ from: Share, to: Share, step: Price }), { minItems: 1, maxItems: PRICE_RANGES_MAX }),
  ),
  min_order_contracts: optional(Size),
  contract_step: optional(Size),
  taker_delay_ms: optional(Type.Integer({ minimum: 0, maximum: HOUR_MS })),
  protocol_version: optional(Type.String({ minLength: 1, maxLength: 40 })),
  taker_fee: optional(TakerFeeLine),
  venue_keys: optional(Type.Record(Type.String(), Title)),
});

const QuoteLine = Type.Object({
  ...commonFields,
  market_id: Id,
  bid: optional(Price),
  ask: optional(Price),
  bid_size: optional(Size),
  ask_size: optional(Size),
  last_price: optional(Price),
  indicative_price: optional(Price),
  event_at: optional(EventTime),
});

const ActivityLine = Type.Object({
  ...commonFields,
  market_id: Id,
  volume_24h_usd: optional(Amount),
  volume_total_usd: optional(Amount),
  liquidity_usd: optional(Amount),
  open_interest_usd: optional(Amount),
});

const BookLine = Type.Object({
  ...commonFields,
  market_id: Id,
  bids: optional(Levels),
  asks: optional(Levels),
  last_price: optional(Price),
  event_at: optional(EventTime),
});

const TradeLine = Type.Object({
  ...commonFields,
  market_id: Id,
  trade_id: Id,
  executed_at: EventTime,
  yes_price: Price,
  size: Size,
  taker_side: optional(Type.Union([Type.Literal("yes"), Type.Literal("no")])),
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
