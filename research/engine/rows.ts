/** Reads the data files for fitting and scoring the engine: resolved questions, recorded quotes and order books. */
import Type, { type Static } from "typebox";
import Value from "typebox/value";
import { isObject } from "../../src/lib/is-object.ts";
import { readJsonLines } from "../lines.ts";

const Price = Type.Number({ minimum: 0, maximum: 1 });
const Text = Type.String({ minLength: 1 });
const MaybeText = Type.Optional(Type.Union([Type.String(), Type.Null()]));
const MaybePrice = Type.Union([Price, Type.Null()]);

/** A question with its outcome and its prices before resolution. */
const ResolvedRow = Type.Object({
  venue: Text,
  market_id: Text,
  resolved_at: Text,
  outcome: Type.Union([Type.Literal(0), Type.Literal(1)]),
  prices: Type.Array(Type.Tuple([Text, Price])),
  title: MaybeText,
  event_id: MaybeText,
  category: MaybeText,
  created_at: MaybeText,
  close_at: MaybeText,
  /** Group of correlated rows. The default is the event, or the market if there is no event. */
  group: MaybeText,
});
export type ResolvedRow = Static<typeof ResolvedRow>;

const TopOfBook = Type.Object({ yes_bid: MaybePrice, yes_ask: MaybePrice });
/** Best prices of the same contract at several venues. Each key whose value is a `TopOfBook` is a venue name. */
const QuotesRow = Type.Intersect([
  Type.Object({ ts: Text, contest: Text, outcome: Text }),
  Type.Record(Type.String(), Type.Unknown()),
]);
type QuotesRow = Static<typeof QuotesRow>;

const Levels = Type.Array(Type.Tuple([Price, Type.Number({ minimum: 0 })]));
/** An order book with levels as [price, size]. A NO bid at price q is a YES ask at price 1 - q. */
const DepthRow = Type.Object({ ts: Text, venue: Text, ticker: Text, yes_bids: Levels, no_bids: Levels });
type DepthRow = Static<typeof DepthRow>;

/** Best prices of a contract at one venue. */
interface QuotedSide {
  readonly venue: string;
  readonly bid: number | null;
  readonly ask: number | null;
}
export interface QuotesPoint {
  readonly at: number;
  readonly contest: string;
  readonly outcome: string;
  readonly sides: readonly QuotedSide[];
}
export interface DepthPoint extends Omit<DepthRow, "ts"> {
  readonly at: number;
}

export type EngineFile =
  | { readonly kind: "resolved"; readonly rows: readonly ResolvedRow[] }
  | { readonly kind: "quotes"; readonly rows: readonly QuotesPoint[] }
  | { readonly kind: "depth"; readonly rows: readonly DepthPoint[] };

/**
 * Reads a data file. The first row determines the kind of the file. An empty file counts as `resolved`.
 *
 * @throws Error with the line number if a line is not valid JSON or not a row of the file's kind
 */
export async function readEngineFile(path: string): Promise<EngineFile> {
  let kind: EngineFile["kind"] | null = null;
  const isRow = (value: unknown): value is object => {
    kind ??= kindOf(value);
    return isObject(value) && CHECKS[kind](value);
  };
  const rows: unknown[] = await readJsonLines(
    path,
    isRow,
    "a resolved question, quotes or an order book of this file's kind",
  );
  if (kind === "quotes") return { kind, rows: (rows as QuotesRow[]).map(toQuotesPoint) };
  if (kind === "depth")
    return { kind, rows: (rows as DepthRow[]).map(({ ts, ...row }) => ({ ...row, at: Date.parse(ts) })) };
  return { kind: "resolved", rows: rows as ResolvedRow[] };
}

const isTime = (text: string | null | undefined): boolean => text == null || Number.isFinite(Date.parse(text));
const CHECKS: Readonly<Record<EngineFile["kind"], (value: object) => boolean>> = {
  resolved: (value) =>
    Value.Check(ResolvedRow, value) &&
    [value.resolved_at, value.created_at, value.close_at, ...value.prices.map(([at]) => at)].every(isTime),
  quotes: (value) => Value.Check(QuotesRow, value) && isTime(value.ts),
  depth: (value) => Value.Check(DepthRow, value) && isTime(value.ts),
};

function kindOf(value: unknown): EngineFile["kind"] {
  if (!isObject(value)) return "resolved";
  if ("contest" in value) return "quotes";
  return "yes_bids" in value ? "depth" : "resolved";
}

function toQuotesPoint({ ts, contest, outcome, ...others }: QuotesRow): QuotesPoint {
  const sides = Object.entries(others).flatMap(([venue, value]) =>
    Value.Check(TopOfBook, value) ? [{ venue, bid: value.yes_bid, ask: value.yes_ask }] : [],
  );
  return { at: Date.parse(ts), contest, outcome, sides };
}
