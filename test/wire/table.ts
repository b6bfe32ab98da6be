/** The committed table of expected values: sampled rows, and totals of all rows of each part of a recording. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isObject, objectOf } from "./json.ts";
import type { Parts } from "./read-recording.ts";
import { hashOf, type Row } from "./rows.ts";

/** Rows of each part that the table contains in full, spread evenly. */
const SAMPLED_ROWS = 24;
/** A field with more different texts is represented by a hash. */
const VALUES_MAX = 6;

/** One line of the table. A recording has a line of totals for each part, and a line for each sampled row. */
export interface Line {
  readonly file: string;
  /** Part of the recording, and the number of the row; "totals" for all rows. */
  readonly row: string;
  readonly values: Readonly<Record<string, unknown>>;
}

/** Nulls are omitted. Numbers are rounded, because sums depend on the order of their parts. */
function compact(row: Row): Record<string, string | number | boolean> {
  const rounded = (value: string | number | boolean) =>
    typeof value === "number" ? Number(value.toPrecision(12)) : value;
  return Object.fromEntries(
    Object.entries(row).flatMap(([field, value]) => (value === null ? [] : [[field, rounded(value)]])),
  );
}

export function linesOf(file: string, parts: Parts): Line[] {
  return [...parts].flatMap(([part, all]) => {
    const rows = all.map(compact);
    const step = Math.max(1, Math.ceil(rows.length / SAMPLED_ROWS));
    const samples = rows.flatMap((values, index) =>
      index % step === 0 || index === rows.length - 1 ? [{ file, row: `${part} ${index + 1}`, values }] : [],
    );
    return [
      ...(rows.length > samples.length ? [{ file, row: `${part} totals`, values: totalsOf(rows) }] : []),
      ...samples,
    ];
  });
}

/** Count and sum of each number, count of each text, and a hash of all rows. */
function totalsOf(rows: readonly Record<string, string | number | boolean>[]): Record<string, unknown> {
  const totals: Record<string, unknown> = { rows: rows.length, hash: hashOf(JSON.stringify(rows)) };
  for (const field of new Set(rows.flatMap((row) => Object.keys(row)))) {
    const values = rows.flatMap((row) => row[field] ?? []);
    const numbers = values.filter((value) => typeof value === "number");
    const counts: Record<string, number> = {};
    for (const value of values) counts[String(value)] = (counts[String(value)] ?? 0) + 1;
    if (numbers.length === values.length) {
      totals[field] = [numbers.length, Number(numbers.reduce((sum, value) => sum + value, 0).toPrecision(10))];
    } else if (Object.keys(counts).length <= VALUES_MAX) totals[field] = counts;
    else totals[field] = [values.length, hashOf(values.join("\n"))];
  }
  return totals;
}

/** A wrong value. `field` is empty if the row is missing or unexpected. */
export interface Difference {
  readonly row: string;
  readonly field: string;
  readonly expected: string;
  readonly actual: string;
}

export function differencesOf(expected: readonly Line[], actual: readonly Line[]): Difference[] {
  const show = (value: unknown) => (value === undefined ? "none" : JSON.stringify(value));
  const actualByRow = new Map(actual.map(({ row, values }) => [row, values]));
  const expectedByRow = new Map(expected.map(({ row, values }) => [row, values]));
  return [...new Set([...expectedByRow.keys(), ...actualByRow.keys()])].flatMap((row): Difference[] => {
    const [wanted, got] = [expectedByRow.get(row), actualByRow.get(row)];
    if (wanted === undefined || got === undefined) {
      return [{ row, field: "", expected: show(wanted), actual: show(got) }];
    }
    return [...new Set([...Object.keys(wanted), ...Object.keys(got)])]
      .filter((field) => show(wanted[field]) !== show(got[field]))
      .map((field) => ({ row, field, expected: show(wanted[field]), actual: show(got[field]) }));
  });
}

const pathOf = (folder: string, venue: string) => join(folder, `${venue}.jsonl`);

/** Returns the lines of a venue; empty if there is no table. */
export async function readTable(folder: string, venue: string): Promise<Line[]> {
  const text = await readFile(pathOf(folder, venue), "utf8").catch(() => "");
  return text.split("\n").flatMap((line): Line[] => {
    const { file, row, ...values } = line === "" ? {} : objectOf(JSON.parse(line));
    return isObject(values) && typeof file === "string" && typeof row === "string" ? [{ file, row, values }] : [];
  });
}

export async function writeTable(folder: string, venue: string, lines: readonly Line[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  const texts = lines.map(({ file, row, values }) => JSON.stringify({ file, row, ...values }));
  await writeFile(pathOf(folder, venue), `${texts.join("\n")}\n`);
}
