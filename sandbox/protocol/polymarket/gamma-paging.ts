import { positionAfter } from "./catalogue.ts";
import type { SortKey } from "./gamma-filters.ts";
import { type Query, ValidationError } from "./query.ts";

interface IndexedItem {
  readonly index: number;
}

/** The parsed parameters of a list request. */
export interface Selection<Item extends IndexedItem> {
  /** Sorted by index, ascending. */
  readonly items: readonly Item[];
  readonly matches: (item: Item) => boolean;
  readonly key: SortKey<Item>;
  readonly ascending: boolean;
}

interface Row<Item> {
  readonly item: Item;
  readonly value: number | string;
}

const CACHE_TTL_MS = 5_000;
const CACHE_ENTRIES_MAX = 16;

/**
 * Caches filtered and sorted lists for CACHE_TTL_MS, because sorting by volume or price reads the state of every item.
 */
export class SortedCache {
  readonly #entries = new Map<string, { readonly at: number; readonly rows: readonly Row<IndexedItem>[] }>();

  selectRows<Item extends IndexedItem>(
    name: string,
    query: Query,
    selection: Selection<Item>,
    now: number,
  ): readonly Row<Item>[] {
    const { key } = selection;
    const id = `${name}?${JSON.stringify({ ...query, limit: "", offset: "", after_cursor: "" })}`;
    const cached = this.#entries.get(id);
    // The id contains the name, which determines the item type.
    if (cached !== undefined && now >= cached.at && now - cached.at <= CACHE_TTL_MS)
      return cached.rows as readonly Row<Item>[];
    const rows = selection.items
      .filter(selection.matches)
      .map((item) => ({ item, value: key === null ? item.index : key(item) }));
    rows.sort(selection.ascending ? compareRows : (a, b) => compareRows(b, a));
    this.#entries.delete(id);
    this.#entries.set(id, { at: now, rows });
    const oldest = this.#entries.keys().next();
    if (this.#entries.size > CACHE_ENTRIES_MAX && !oldest.done) this.#entries.delete(oldest.value);
    return rows;
  }
}

function compareRows(a: Row<IndexedItem>, b: Row<IndexedItem>): number {
  if (a.value < b.value) return -1;
  if (a.value > b.value) return 1;
  return a.item.index - b.item.index;
}

interface Cursor {
  /** Sort value of the last row returned; null in the default order. */
  readonly v: number | string | null;
  /** Index of the last row returned. */
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
    // Invalid JSON is rejected below.
  }
  throw new ValidationError("invalid after_cursor");
}

/** Returns one page after a cursor and the cursor of the next page, which is null on the last page. */
export function selectKeysetPage<Item extends IndexedItem>(
  cache: SortedCache,
  name: string,
  query: Query,
  selection: Selection<Item>,
  page: { readonly limit: number; readonly after: string | null },
  now: number,
): { readonly items: readonly Item[]; readonly next: string | null } {
  const cursor = page.after === null ? null : decodeCursor(page.after);
  if (selection.key === null) return selectDefaultOrderPage(selection, cursor, page.limit);
  const rows = cache.selectRows(name, query, selection, now);
  const start = cursor === null ? 0 : rows.findIndex((row) => isAfter(row, cursor, selection.ascending));
  if (start < 0) return { items: [], next: null };
  const pageRows = rows.slice(start, start + page.limit);
  const last = pageRows.at(-1);
  const hasMore = last !== undefined && start + page.limit < rows.length;
  return {
    items: pageRows.map((row) => row.item),
    next: hasMore ? encodeCursor({ v: last.value, i: last.item.index }) : null,
  };
}

function isAfter(row: Row<IndexedItem>, cursor: Cursor, ascending: boolean): boolean {
  if (cursor.v === null || typeof cursor.v !== typeof row.value) throw new ValidationError("invalid after_cursor");
  const order = compareRows(row, { item: { index: cursor.i }, value: cursor.v });
  return ascending ? order > 0 : order < 0;
}

/** Reads a page in the default order without sorting. Reads one more item to determine whether the page is the last. */
function selectDefaultOrderPage<Item extends IndexedItem>(
  selection: Selection<Item>,
  cursor: Cursor | null,
  limit: number,
) {
  const { items, ascending, matches } = selection;
  const step = ascending ? 1 : -1;
  let position: number;
  if (cursor === null) position = ascending ? 0 : items.length - 1;
  else position = ascending ? positionAfter(items, cursor.i) : positionAfter(items, cursor.i - 1) - 1;
  const page: Item[] = [];
  for (; ; position += step) {
    const item = items[position];
    if (item === undefined) return { items: page, next: null };
    if (!matches(item)) continue;
    const last = page.at(-1);
    if (page.length === limit && last !== undefined)
      return { items: page, next: encodeCursor({ v: null, i: last.index }) };
    page.push(item);
  }
}

/** Returns one page by limit and offset, for the lists without cursors. */
export function selectOffsetPage<Item extends IndexedItem>(
  cache: SortedCache,
  name: string,
  query: Query,
  selection: Selection<Item>,
  page: { readonly limit: number; readonly offset: number },
  now: number,
): readonly Item[] {
  const rows = cache.selectRows(name, query, selection, now);
  return rows.slice(page.offset, page.offset + page.limit).map((row) => row.item);
}
