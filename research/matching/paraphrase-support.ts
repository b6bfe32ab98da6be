/** Functions that all rewrites of titles use. */
import tables from "./paraphrases.json" with { type: "json" };

/** One row of a table of `paraphrases.json`, or the parts of a date. */
export type Cells = Readonly<Record<string, string>>;
/** Rewrites a text if it can; `pick` in [0, 1) chooses an alternative. `close` is when the market closes. */
export type Rewrite = (text: string, pick: number, close: string | null | undefined) => string;

const TABLES: Readonly<Record<string, readonly Cells[]>> = tables.tables;

export function rowsOf(table: string): readonly Cells[] {
  const rows = TABLES[table];
  if (!rows) throw new Error(`there is no table ${table}`);
  return rows;
}

/** Returns one of the alternatives that differ from `text`, chosen by `pick` in [0, 1); `text` if there is none. */
export function choose(alternatives: readonly string[], pick: number, text: string): string {
  const others = alternatives.filter((alternative) => alternative.toLowerCase() !== text.toLowerCase());
  return others[Math.floor(pick * others.length)] ?? text;
}

/** Replaces each `{name}` in a template by the cell of that name. A name without a cell stays. */
export function fill(template: string, cells: Cells): string {
  return template.replace(/\{(\w+)\}/g, (placeholder, name: string) => cells[name] ?? placeholder);
}
