import { type Query, type SortKey, ValidationError } from "./gamma-query.ts";
import { positionAfter } from "./listing.ts";

interface Indexed {
  readonly index: number;
}

/** What a listing request asks for, once its parameters are read. */
export interface Selection<Item extends Indexed> {
  /** By index, ascending. */
  readonly items: readonly Item[];
  readonly matches: (item: Item) => boolean;
  readonly key: SortKey<Item>;
  readonly ascending: boolean;
}

interface Row<Item> {
  readonly item: Item;
  readonly value: number | string;
}

const SORTED_MS = 5_000;
const SORTED_MAX = 16;

/** Sorting by a moving value costs a look at every market, so the order stands for a few seconds. */
export class SortedCache {
  readonly #entries = new Map<string, { readonly at: number; readonly rows: readonly Row<Indexed>[] }>();

  rows<Item extends Indexed>(
    name: string,
    query: Query,
    selection: Selection<Item>,
    now: number,
  ): readonly Row<Item>[] {
    const { key } = selection;
    const id = `${name}?${JSON.stringify({ ...query, limit: "", offset: "", after_cursor: "" })}`;
    const known = this.#entries.get(id);
    // The name and the query decide the item type, so rows found under them are of that type.
    if (known !== undefined && now >= known.at && now - known.at <= SORTED_MS)
      return known.rows as readonly Row<Item>[];
    const rows = selection.items
      .filter(selection.matches)
      .map((item) => ({ item, value: key === null ? item.index : key(item) }));
    rows.sort(selection.ascending ? compareRows : (a, b) => compareRows(b, a));
    this.#entries.delete(id);
    this.#entries.set(id, { at: now, rows });
    const oldest = this.#entries.keys().next();
    if (this.#entries.size > SORTED_MAX && !oldest.done) this.#entries.delete(oldest.value);
    return rows;
  }
}

function compareRows(a: Row<Indexed>, b: Row<Indexed>): number {
  if (a.value < b.value) return -1;
  if (a.value > b.value) return 1;
  return a.item.index - b.item.index;
}

interface Cursor {
  /** Sort value of the last row given out; null in the default order. */
  readonly v: number | string | null;
  /** Its index. */
  readonly i: number;
}

function encodeCursor(cursor: Cursor): string {
  return Buffer.from(JSON.stringify(cursor)).toString("base64url");
}

function decodeCursor(text: string): Cursor {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    if (
      typeof parsed === "object" &&
      parsed !== null &&
      "i" in parsed &&
      "v" in parsed &&
      typeof parsed.i === "number"
    ) {
      const { v, i } = parsed;
      if (v === null || typeof v === "number" || typeof v === "string") return { v, i };
    }
  } catch {
    // Falls through: whatever does not decode is not one of our cursors.
  }
  throw new ValidationError("invalid after_cursor");
}

/** One page after a cursor, and the cursor of the next one; null at the end. */
export function keysetPage<Item extends Indexed>(
  cache: SortedCache,
  name: string,
  query: Query,
  selection: Selection<Item>,
  page: { readonly limit: number; readonly after: string | null },
  now: number,
): { readonly items: readonly Item[]; readonly next: string | null } {
  const cursor = page.after === null ? null : decodeCursor(page.after);
  if (selection.key === null) return walk(selection, cursor, page.limit);
  const rows = cache.rows(name, query, selection, now);
  const start = cursor === null ? 0 : rows.findIndex((row) => isAfter(row, cursor, selection.ascending));
  if (start < 0) return { items: [], next: null };
  const shown = rows.slice(start, start + page.limit);
  const last = shown.at(-1);
  const hasMore = last !== undefined && start + page.limit < rows.length;
  return {
    items: shown.map((row) => row.item),
    next: hasMore ? encodeCursor({ v: last.value, i: last.item.index }) : null,
  };
}

function isAfter(row: Row<Indexed>, cursor: Cursor, ascending: boolean): boolean {
  if (cursor.v === null || typeof cursor.v !== typeof row.value) throw new ValidationError("invalid after_cursor");
  const order = compareRows(row, { item: { index: cursor.i }, value: cursor.v });
  return ascending ? order > 0 : order < 0;
}

/** The default order needs no sorting: walk from the cursor until the page is full and one more row is known to follow. */
function walk<Item extends Indexed>(selection: Selection<Item>, cursor: Cursor | null, limit: number) {
  const { items, ascending, matches } = selection;
  const step = ascending ? 1 : -1;
  let position: number;
  if (cursor === null) position = ascending ? 0 : items.length - 1;
  else position = ascending ? positionAfter(items, cursor.i) : positionAfter(items, cursor.i - 1) - 1;
  const shown: Item[] = [];
  for (; ; position += step) {
    const item = items[position];
    if (item === undefined) return { items: shown, next: null };
    if (!matches(item)) continue;
    const last = shown.at(-1);
    if (shown.length === limit && last !== undefined)
      return { items: shown, next: encodeCursor({ v: null, i: last.index }) };
    shown.push(item);
  }
}

/** Rows by position, as the older listings page. */
export function offsetPage<Item extends Indexed>(
  cache: SortedCache,
  name: string,
  query: Query,
  selection: Selection<Item>,
  page: { readonly limit: number; readonly offset: number },
  now: number,
): { readonly items: readonly Item[]; readonly total: number } {
  const rows = cache.rows(name, query, selection, now);
  return { items: rows.slice(page.offset, page.offset + page.limit).map((row) => row.item), total: rows.length };
}
