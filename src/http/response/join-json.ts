import { deleteOldest } from "../../lib/delete-oldest.ts";
import { isWorthCompressing, keepCompressed } from "./compression.ts";

const ARRAY_START = Buffer.from("[");
const COMMA = Buffer.from(",");
const ARRAY_END = Buffer.from("]");
const EMPTY_ARRAY = Buffer.from("[]");

/** Maximum number of cached pages. */
const PAGES_MAX = 64;
/** Joined arrays by their first item, oldest first. */
const pages = new Map<Buffer, { readonly items: readonly Buffer[]; readonly json: Buffer }>();

/**
 * Joins JSON items into a JSON array. Returns the same buffer for the same items, so that a list whose markets have not
 * changed is neither joined nor hashed again, and a large one is not compressed again.
 */
export function joinJsonArray(items: readonly Buffer[]): Buffer {
  const [first] = items;
  if (first === undefined) return EMPTY_ARRAY;
  const cached = pages.get(first);
  if (cached?.items.length === items.length && items.every((item, index) => item === cached.items[index]))
    return cached.json;
  const json = Buffer.concat([
    ARRAY_START,
    ...items.flatMap((item, index) => (index === 0 ? [item] : [COMMA, item])),
    ARRAY_END,
  ]);
  if (isWorthCompressing(json)) keepCompressed(json);
  pages.delete(first);
  pages.set(first, { items, json });
  deleteOldest(pages, PAGES_MAX);
  return json;
}
