import type Type from "typebox";
import type { EventChildren } from "../domain/event-children.ts";
import type { FeeShares, TakerFee } from "../domain/market.ts";
import { type BookLevel, isCrossed } from "../domain/order-book.ts";
import { isObject } from "../lib/is-object.ts";
import { type Fact, LineError, parseJson } from "./format.ts";
import { factValidators } from "./line-schemas.ts";

type Kind = Fact["kind"];
type Line<K extends Kind> = Type.Static<ReturnType<(typeof factValidators)[K]["Type"]>>;
type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** The fields of a line, named in camel case. A missing field becomes null, or false if it is a boolean. */
type Fields<K extends Kind, L = Line<K>> = {
  [Name in keyof L & string as CamelCase<Name>]:
    | Exclude<L[Name], undefined>
    | (undefined extends L[Name] ? (boolean extends L[Name] ? false : null) : never);
};

/** Each field's key in the JSON line, its property name in memory, and its in-memory value if the line omits it. */
const listFieldNames = (validator: { Type(): Type.TObject }) =>
  Object.entries(validator.Type().properties).map(([key, schema]) => ({
    key,
    name: key.replace(/_(.)/g, (_match, first: string) => first.toUpperCase()),
    valueIfAbsent: "type" in schema && schema.type === "boolean" ? false : null,
  }));

const fieldNames = Object.fromEntries(
  Object.entries(factValidators).map(([kind, validator]) => [kind, listFieldNames(validator)]),
) as Record<Kind, ReturnType<typeof listFieldNames>>;

/** @throws LineError if the line is not a valid fact */
export function parseFact(line: string): Fact {
  const value = parseJson(line);
  const kind = isObject(value) ? value.kind : undefined;
  if (!isKind(kind)) throw new LineError("not a fact of a known kind");
  switch (kind) {
    case "event": {
      const { at, venue, children, ...event } = parseFields(kind, value);
      return { at, venue, kind, event: { ...event, children: parseChildren(children) } };
    }
    case "market": {
      const { at, venue, outcome, takerFee, venueKeys, ...market } = parseFields(kind, value);
      return {
        at,
        venue,
        kind,
        market: {
          ...market,
          outcome: outcome?.kind === "void" ? { kind: "void", value: outcome.value ?? null } : outcome,
          takerFee: parseTakerFee(takerFee),
          venueKeys: venueKeys ?? {},
        },
      };
    }
    case "quote": {
      const { at, venue, marketId, ...quote } = parseFields(kind, value);
      if (isCrossed(quote.bid, quote.ask)) throw new LineError("crossed quote");
      return { at, venue, kind, marketId, quote };
    }
    case "activity": {
      const { at, venue, marketId, ...activity } = parseFields(kind, value);
      return { at, venue, kind, marketId, activity };
    }
    case "book": {
      const { at, venue, marketId, lastPrice, eventAt, ...sides } = parseFields(kind, value);
      const bids = levelsOf(sides.bids ?? [], -1);
      const asks = levelsOf(sides.asks ?? [], 1);
      if (isCrossed(bids[0]?.price ?? null, asks[0]?.price ?? null)) throw new LineError("crossed book");
      return { at, venue, kind, marketId, book: { bids, asks, lastPrice, eventAt } };
    }
    case "trade": {
      const { at, venue, marketId, ...trade } = parseFields(kind, value);
      return { at, venue, kind, marketId, trade };
    }
  }
}

const isKind = (kind: unknown): kind is Kind => typeof kind === "string" && Object.hasOwn(factValidators, kind);

/** Validates a line and renames its fields. @throws LineError */
function parseFields<K extends Kind>(kind: K, value: unknown): Fields<K> {
  const validator = factValidators[kind];
  if (!validator.Check(value)) {
    const [firstError] = validator.Errors(value);
    throw new LineError(
      `invalid ${kind}: ${firstError?.instancePath || "the line"} ${firstError?.message ?? "is invalid"}`,
    );
  }
  const row: Readonly<Record<string, unknown>> = value;
  const fields: Record<string, unknown> = {};
  for (const { key, name, valueIfAbsent } of fieldNames[kind]) fields[name] = row[key] ?? valueIfAbsent;
  return fields as Fields<K>;
}

/** @param sign -1 for bids (highest price first), 1 for asks (lowest price first) */
function levelsOf(pairs: readonly (readonly [number, number])[], sign: -1 | 1): BookLevel[] {
  let previous = Number.NEGATIVE_INFINITY;
  return pairs.map(([price, size]) => {
    if (price * sign <= previous) throw new LineError("the levels of the book are not sorted best first");
    previous = price * sign;
    return { price, size };
  });
}

/** Serialises a fact as one line without a line break. Omits null and false fields. */
export function writeFact(fact: Fact): string {
  const { at, venue } = fact;
  switch (fact.kind) {
    case "event":
      return writeFields("event", { at, venue, ...fact.event, children: writeChildren(fact.event.children) });
    case "market": {
      const { outcome, takerFee, venueKeys, priceRanges } = fact.market;
      return writeFields("market", {
        at,
        venue,
        ...fact.market,
        outcome: outcome?.kind === "void" ? { kind: "void", value: outcome.value ?? undefined } : outcome,
        priceRanges: priceRanges === null ? null : [...priceRanges],
        takerFee: writeTakerFee(takerFee),
        venueKeys: Object.keys(venueKeys).length === 0 ? null : venueKeys,
      });
    }
    case "quote":
      return writeFields("quote", { at, venue, marketId: fact.marketId, ...fact.quote });
    case "activity":
      return writeFields("activity", { at, venue, marketId: fact.marketId, ...fact.activity });
    case "book": {
      const { bids, asks } = fact.book;
      const sides = { bids: pairsOf(bids), asks: pairsOf(asks) };
      return writeFields("book", { at, venue, marketId: fact.marketId, ...fact.book, ...sides });
    }
    case "trade":
      return writeFields("trade", { at, venue, marketId: fact.marketId, ...fact.trade });
  }
}

function writeFields<K extends Kind>(kind: K, fields: Fields<K>): string {
  const values: Readonly<Record<string, unknown>> = fields;
  const { at, venue } = values;
  const line: Record<string, unknown> = { at, venue, kind };
  for (const { key, name, valueIfAbsent } of fieldNames[kind]) {
    if (values[name] !== valueIfAbsent && values[name] !== null) line[key] = values[name];
  }
  return JSON.stringify(line);
}

const pairsOf = (levels: readonly BookLevel[]) => levels.map(({ price, size }): [number, number] => [price, size]);

function parseChildren(children: Fields<"event">["children"]): EventChildren | null {
  if (children === null) return null;
  const { left_out: leftOut, ...counts } = children;
  return { ...counts, leftOut };
}

function writeChildren(children: EventChildren | null): Fields<"event">["children"] {
  if (children === null) return null;
  const { leftOut, ...counts } = children;
  return { ...counts, left_out: leftOut };
}

function parseTakerFee(fee: Fields<"market">["takerFee"]): TakerFee | null {
  if (fee?.kind === "value_table") return { kind: fee.kind, buyPoints: fee.buy_points, sellPoints: fee.sell_points };
  if (fee?.kind !== "quadratic") return fee;
  const { kind, rate, exponent, fee_step: feeStep, balance_step: balanceStep } = fee;
  if (feeStep === undefined || balanceStep === undefined) return { kind, rate, exponent };
  return { kind, rate, exponent, rounding: { feeStep, balanceStep } };
}

function writeTakerFee(fee: TakerFee | null): Fields<"market">["takerFee"] {
  if (fee?.kind === "value_table")
    return { kind: fee.kind, buy_points: copyPoints(fee.buyPoints), sell_points: copyPoints(fee.sellPoints) };
  if (fee?.kind !== "quadratic") return fee;
  const { kind, rate, exponent, rounding } = fee;
  if (rounding === undefined) return { kind, rate, exponent };
  return { kind, rate, exponent, fee_step: rounding.feeStep, balance_step: rounding.balanceStep };
}

const copyPoints = (points: FeeShares) => points.map(([price, share]): [number, number] => [price, share]);
