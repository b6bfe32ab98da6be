/** Reads labelled pairs: JSON objects, one per line, gzipped or not. */
import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import Type, { type Static } from "typebox";
import Value from "typebox/value";

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
});

export type PairSide = Static<typeof Side>;
export type PairRow = Static<typeof PairRow>;

const GZIP_MAGIC = 0x1f8b;

/** @throws Error that names the line if a line is not valid JSON or not a pair */
export async function readPairs(path: string): Promise<PairRow[]> {
  return readLines(path, (value) => Value.Check(PairRow, value), "a pair") as Promise<PairRow[]>;
}

const ListingRow = Type.Object({
  venue: Type.String(),
  id: Type.String(),
  title: Type.String(),
  close: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});
export type ListingRow = Static<typeof ListingRow>;

/** Reads listed questions, each once. @throws Error that names the line */
export async function readListings(path: string): Promise<ListingRow[]> {
  const rows = (await readLines(path, (value) => Value.Check(ListingRow, value), "a listing")) as ListingRow[];
  return [...new Map(rows.map((row) => [`${row.venue}/${row.id}`, row])).values()];
}

async function readLines(path: string, isRow: (value: unknown) => boolean, name: string): Promise<unknown[]> {
  const bytes = await readFile(path);
  const isGzip = bytes.length > 2 && bytes.readUInt16BE(0) === GZIP_MAGIC;
  const text = (isGzip ? gunzipSync(bytes) : bytes).toString("utf8");
  const rows: unknown[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch (error) {
      throw new Error(`${path}, line ${index + 1}: not valid JSON`, { cause: error });
    }
    if (!isRow(value)) throw new Error(`${path}, line ${index + 1}: not ${name}`);
    rows.push(value);
  }
  return rows;
}
