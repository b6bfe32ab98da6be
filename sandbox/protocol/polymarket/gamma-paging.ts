import { positionAfter } from "./catalogue.ts";
import { integerParam, type Query, textParam, ValidationError } from "./query.ts";

const LIMIT_DEFAULT = 20;

/** `v` is the value of the sort field: null in the order by id, the only one here. `i` is the index of the last item. */
const encodeCursor = (index: number) => Buffer.from(JSON.stringify({ v: null, i: index })).toString("base64url");

function decodeCursor(text: string): number {
  try {
    const cursor: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    if (typeof cursor === "object" && cursor !== null && "i" in cursor && typeof cursor.i === "number") return cursor.i;
  } catch {
    // Not JSON: rejected below.
  }
  throw new ValidationError("invalid after_cursor");
}

/**
 * The requested page of matching items, and the cursor of the next page; undefined on the last page. As at the venue,
 * limits outside [1, `limitMax`] are clamped and a parameter called `cursor` is ignored.
 *
 * @param items sorted by index, ascending
 * @throws ValidationError if `offset` is used or `after_cursor` is malformed
 */
export function keysetPage<Item extends { readonly index: number }>(
  items: readonly Item[],
  query: Query,
  limitMax: number,
  matches: (item: Item) => boolean,
): { readonly page: readonly Item[]; readonly nextCursor: string | undefined } {
  if (query.offset !== undefined) throw new ValidationError("offset is not supported, use after_cursor");
  const limit = Math.min(limitMax, Math.max(1, integerParam(query, "limit") ?? LIMIT_DEFAULT));
  const after = textParam(query, "after_cursor");
  const page: Item[] = [];
  for (let position = after === null ? 0 : positionAfter(items, decodeCursor(after)); ; position++) {
    const item = items[position];
    if (item === undefined) return { page, nextCursor: undefined };
    if (!matches(item)) continue;
    const last = page.at(-1);
    if (page.length === limit && last !== undefined) return { page, nextCursor: encodeCursor(last.index) };
    page.push(item);
  }
}
