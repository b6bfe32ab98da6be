import Type from "typebox";
import { Compile } from "typebox/schema";
import { LEFT_OUT_REASONS } from "../domain/event-children.ts";
import { type EventListing, MARKET_STATUSES, type MarketSnapshot } from "../domain/market.ts";

/** Schemas of the JSON in the store. Rows written by an incompatible version fail validation and are skipped. */
const nullable = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const Text = Type.String();
const MaybeText = nullable(Text);
const MaybeNumber = nullable(Type.Number());
const NumberPair = Type.Tuple([Type.Number(), Type.Number()]);

/** Returns fields of these names that all have the same schema. */
const repeatSchema = <Name extends string, Schema extends Type.TSchema>(schema: Schema, ...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, schema])) as Record<Name, Schema>;

const OutcomeSchema = Type.Union([
  Type.Object({ kind: Type.Union([Type.Literal("yes"), Type.Literal("no")]) }),
  Type.Object({ kind: Type.Literal("partial"), value: Type.Number() }),
  Type.Object({ kind: Type.Literal("void"), value: MaybeNumber }),
]);

const TakerFeeSchema = Type.Union([
  Type.Object({ kind: Type.Literal("none") }),
  Type.Object({
    kind: Type.Literal("quadratic"),
    rate: Type.Number(),
    exponent: Type.Number(),
    rounding: Type.Optional(Type.Object(repeatSchema(Type.Number(), "feeStep", "balanceStep"))),
  }),
  Type.Object({
    kind: Type.Literal("value_table"),
    buyPoints: Type.Array(NumberPair),
    sellPoints: Type.Array(NumberPair),
  }),
  Type.Object({ kind: Type.Literal("flat_value"), rate: Type.Number() }),
]);

const SnapshotSchema = Type.Object({
  listing: Type.Object({
    ...repeatSchema(Text, "venue", "marketId", "title"),
    ...repeatSchema(MaybeText, "eventId", "outcomeLabel", "url", "category", "rules", "protocolVersion"),
    ...repeatSchema(MaybeNumber, "openAt", "closeAt", "expectedResolutionAt", "resolvedAt"),
    ...repeatSchema(MaybeNumber, "minOrderContracts", "contractStep", "takerDelayMs"),
    priceRanges: nullable(Type.Array(Type.Object(repeatSchema(Type.Number(), "from", "to", "step")))),
    status: Type.Union(MARKET_STATUSES.map((status) => Type.Literal(status))),
    paused: Type.Boolean(),
    outcome: nullable(OutcomeSchema),
    takerFee: nullable(TakerFeeSchema),
    venueKeys: Type.Record(Text, Text),
  }),
  quote: Type.Object({
    ...repeatSchema(MaybeNumber, "bid", "ask", "bidSize", "askSize", "lastPrice", "indicativePrice", "eventAt"),
    receivedAt: Type.Number(),
  }),
  activity: Type.Object(repeatSchema(MaybeNumber, "volume24hUsd", "volumeTotalUsd", "liquidityUsd", "openInterestUsd")),
});

const ChildrenSchema = Type.Object({
  total: Type.Number(),
  read: Type.Number(),
  leftOut: Type.Partial(Type.Object(repeatSchema(Type.Number(), ...LEFT_OUT_REASONS))),
});

const EventSchema = Type.Object({
  ...repeatSchema(Text, "venue", "eventId", "title"),
  ...repeatSchema(MaybeText, "description", "category", "url"),
  ...repeatSchema(Type.Boolean(), "mutuallyExclusive", "exhaustive", "featured"),
  children: nullable(ChildrenSchema),
  endAt: MaybeNumber,
});

const snapshotValidator = Compile(SnapshotSchema);
const eventValidator = Compile(EventSchema);

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Parses a stored market; returns null if this version cannot read it. */
export function parseSnapshot(text: string): MarketSnapshot | null {
  const value = parseJson(text);
  // The cast is safe: the schema equals the domain type, but TypeScript cannot infer its status literals.
  return snapshotValidator.Check(value) ? (value as MarketSnapshot) : null;
}

/** Parses a stored event; returns null if this version cannot read it. */
export function parseEvent(text: string): EventListing | null {
  const value = parseJson(text);
  return eventValidator.Check(value) ? value : null;
}
