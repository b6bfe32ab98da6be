/** Reads the data files of the matcher: labelled pairs and listed questions. */
import Type, { type Static } from "typebox";
import Value from "typebox/value";
import { readJsonLines } from "../lines.ts";

const Side = Type.Object({
  venue: Type.String(),
  id: Type.String(),
  title: Type.String(),
  event_title: Type.Optional(Type.String()),
  description: Type.Optional(Type.String()),
  close: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  event_date: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  legs_total: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
  legs_sample: Type.Optional(Type.Union([Type.Array(Type.String()), Type.Null()])),
});
const PairRow = Type.Object({
  a: Side,
  b: Side,
  same: Type.Boolean(),
  relation: Type.String(),
  grain: Type.Union([Type.Literal("market"), Type.Literal("event")]),
  /** Where the pair is from; several sources are joined by " and ". */
  source_repo: Type.Optional(Type.String()),
});

export type PairSide = Static<typeof Side>;
export type PairRow = Static<typeof PairRow>;

/** @throws Error with the line number if a line is not valid JSON or not a pair */
export async function readLabelledPairs(path: string): Promise<PairRow[]> {
  return readJsonLines(path, (value) => Value.Check(PairRow, value), "a pair");
}

const ListingRow = Type.Object({
  venue: Type.String(),
  id: Type.String(),
  title: Type.String(),
  close: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});
export type ListingRow = Static<typeof ListingRow>;

/**
 * Reads listed questions and removes duplicates.
 *
 * @throws Error with the line number if a line is not valid JSON or not a listing
 */
export async function readListings(path: string): Promise<ListingRow[]> {
  const rows = await readJsonLines(path, (value) => Value.Check(ListingRow, value), "a listing");
  return [...new Map(rows.map((row) => [`${row.venue}/${row.id}`, row])).values()];
}
