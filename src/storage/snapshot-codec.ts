import Type from "typebox";
import { Compile } from "typebox/compile";
import type { EventListing, MarketSnapshot } from "../domain/market.ts";

/** Schemas of the JSON in the store. Rows written by an incompatible version fail validation and are skipped. */
const nullable = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const Text = Type.String();
const MaybeText = nullable(Text);
const MaybeNumber = nullable(Type.Number());
const Pair = Type.Tuple([Type.Number(), Type.Number()]);

const OutcomeSchema = Type.Union([
  Type.Object({ kind: Type.Union([Type.Literal("yes"), Type.Literal("no")]) }),
  Type.Object({ kind: Type.Literal("partial"), value: Type.Number() }),
  Type.Object({ kind: Type.Literal("void"), value: MaybeNumber }),
]);

const TakerFeeSchema = Type.Union([
  Type.Object({ kind: Type.Literal("none") }),
  Type.Object({ kind: Type.Literal("quadratic"), rate: Type.Number(), exponent: Type.Number() }),
  Type.Object({ kind: Type.Literal("value_table"), buyPoints: Type.Array(Pair) }),
  Type.Object({ kind: Type.Literal("flat_value"), rate: Type.Number() }),
]);

const SnapshotSchema = Type.Object({
  listing: Type.Object({
    venue: Text,
    marketId: Text,
    eventId: MaybeText,
    title: Text,
    outcomeLabel: MaybeText,
    url: MaybeText,
    category: MaybeText,
    status: Type.Union(
      ["pending", "active", "closed", "determined", "finalized"].map((status) => Type.Literal(status)),
    ),
    paused: Type.Boolean(),
    outcome: nullable(OutcomeSchema),
    rules: MaybeText,
    openAt: MaybeNumber,
    closeAt: MaybeNumber,
    expectedResolutionAt: MaybeNumber,
    resolvedAt: MaybeNumber,
    tickSize: MaybeNumber,
    takerFee: nullable(TakerFeeSchema),
    venueKeys: Type.Record(Text, Text),
  }),
  quote: Type.Object({
    bid: MaybeNumber,
    ask: MaybeNumber,
    bidSize: MaybeNumber,
    askSize: MaybeNumber,
    lastPrice: MaybeNumber,
    indicativePrice: MaybeNumber,
    eventAt: MaybeNumber,
    receivedAt: Type.Number(),
  }),
  activity: Type.Object({
    volume24hUsd: MaybeNumber,
    volumeTotalUsd: MaybeNumber,
    liquidityUsd: MaybeNumber,
    openInterestUsd: MaybeNumber,
  }),
});

const EventSchema = Type.Object({
  venue: Text,
  eventId: Text,
  title: Text,
  description: MaybeText,
  category: MaybeText,
  url: MaybeText,
  mutuallyExclusive: Type.Boolean(),
  exhaustive: Type.Boolean(),
  featured: Type.Boolean(),
  endAt: MaybeNumber,
});

const snapshotCheck = Compile(SnapshotSchema);
const eventCheck = Compile(EventSchema);

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
  // The schema equals the domain type, but the compiler cannot infer the status literals from an array.
  return snapshotCheck.Check(value) ? (value as MarketSnapshot) : null;
}

/** Parses a stored event; returns null if this version cannot read it. */
export function parseEvent(text: string): EventListing | null {
  const value = parseJson(text);
  return eventCheck.Check(value) ? value : null;
}
