import { hash } from "node:crypto";
import { InvalidRequestError } from "../domain/errors.ts";
import { valueError } from "./validation/pydantic-errors.ts";

/** Where a page ended: the sort value and the id of its last row, so that rows added meanwhile shift nothing. */
export interface Keyset {
  readonly value: number | string | null;
  readonly id: string;
}

/** The listing that a cursor belongs to: its sort and its filters. */
export type ListingKey = Readonly<Record<string, string | number | boolean | null | undefined>>;

const CURSOR_LENGTH_MAX = 2_048;
const CHECK_LENGTH = 12;

/** An opaque cursor for the page after `keyset`, good only for the same sort and filters. */
export function encodeCursor(keyset: Keyset, listing: ListingKey): string {
  const content = [keyset.value, keyset.id] as const;
  return Buffer.from(JSON.stringify([...content, checkOf(content, listing)])).toString("base64url");
}

/**
 * Reads a cursor back.
 *
 * @throws InvalidRequestError (loc `query.cursor`) when it is not one of ours, was changed, or is of another listing
 */
export function decodeCursor(cursor: string, listing: ListingKey): Keyset {
  const parsed = cursor.length > CURSOR_LENGTH_MAX ? null : parseArray(cursor);
  const [value, id, check] = parsed ?? [];
  if (isSortValue(value) && typeof id === "string" && check === checkOf([value, id], listing)) return { value, id };
  throw new InvalidRequestError([
    valueError(["query", "cursor"], "cursor does not belong to this listing; start again without it", cursor),
  ]);
}

function parseArray(cursor: string): readonly unknown[] | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    return Array.isArray(value) && value.length === 3 ? value : null;
  } catch {
    return null;
  }
}

function isSortValue(value: unknown): value is Keyset["value"] {
  return value === null || typeof value === "string" || (typeof value === "number" && Number.isFinite(value));
}

function checkOf(content: readonly [Keyset["value"], string], listing: ListingKey): string {
  const filters = Object.entries(listing)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return hash("sha256", JSON.stringify([content, filters]), "base64url").slice(0, CHECK_LENGTH);
}

/**
 * Value of the `Link` header that leads to the next page: the caller's own URL with the cursor replaced.
 *
 * @param requestUrl  path and query as the caller sent them; a host, in the Host header or here, is never used
 * @param publicUrl  the service's configured address; without it the reference is relative
 */
export function nextPageLink(requestUrl: string, cursor: string, publicUrl: string | null = null): string {
  // A request line may hold a whole URL; its host is the caller's word and no more to be believed than the Host header.
  const origin = /^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i.exec(requestUrl)?.[0] ?? "";
  const target = requestUrl.slice(origin.length);
  const mark = target.indexOf("?");
  const path = mark < 0 ? target : target.slice(0, mark);
  const query = new URLSearchParams(mark < 0 ? "" : target.slice(mark + 1));
  query.set("cursor", cursor);
  // What a URI reference in angle brackets or a header may not hold is escaped; escapes already there stay.
  const safePath = path.replace(/[^!$&'()*+,\-./0-9:;=@A-Z_a-z~%]/g, (character) => encodeURIComponent(character));
  return `<${publicUrl?.replace(/\/+$/, "") ?? ""}${safePath}?${query}>; rel="next"`;
}
