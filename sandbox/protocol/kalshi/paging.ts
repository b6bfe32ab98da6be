import { parseCursor, writeCursor } from "./query.ts";

/**
 * Returns one page of a list that may change between requests. The cursor contains the position and the index of the
 * last item returned. If that item has moved, the page starts after its new position.
 */
export function selectPage<Item extends { readonly index: number }>(
  items: readonly Item[],
  cursor: string | null,
  limit: number,
  accepts: (item: Item) => boolean,
): { page: Item[]; cursor: string } {
  const page: Item[] = [];
  let last: readonly [number, number] | null = null;
  for (let position = findStart(items, cursor); position < items.length; position++) {
    const item = items[position];
    if (item === undefined || !accepts(item)) continue;
    if (page.length === limit) return { page, cursor: last === null ? "" : writeCursor(last) };
    page.push(item);
    last = [position, item.index];
  }
  return { page, cursor: "" };
}

function findStart(items: readonly { readonly index: number }[], cursor: string | null): number {
  const parts = parseCursor(cursor, 2);
  if (parts === null) return 0;
  const [position = 0, index] = parts;
  if (items[position]?.index === index) return position + 1;
  const newPosition = items.findIndex((item) => item.index === index);
  return newPosition === -1 ? Math.max(0, position) : newPosition + 1;
}
