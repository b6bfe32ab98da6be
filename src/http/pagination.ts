import { hash } from "node:crypto";
import { InvalidRequestError } from "../domain/errors.ts";
import { valueError } from "./validation/pydantic-errors.ts";

/**
 * Position of the last row of a page: its sort value and id. Unlike an offset, it stays valid when rows are inserted.
 */
export interface Keyset {
  readonly value: number | string | null;
  readonly id: string;
}

/** Sort and filters of the listing that a cursor belongs to. */
export type ListingKey = Readonly<Record<string, string | number | boolean | null | undefined>>;

const CHECKSUM_LENGTH = 12;

/** Returns an opaque cursor for the page after `keyset`. It is valid only for the same sort and filters. */
export function encodeCursor(keyset: Keyset, listing: ListingKey): string {
  const content = [keyset.value, keyset.id] as const;
  return Buffer.from(JSON.stringify([...content, checksumOf(content, listing)])).toString("base64url");
}

/** @throws InvalidRequestError (loc `query.cursor`) if it is malformed, modified, or belongs to another listing */
export function decodeCursor(cursor: string, listing: ListingKey): Keyset {
  const [value, id, checksum] = parseArray(cursor) ?? [];
  if (isSortValue(value) && typeof id === "string" && checksum === checksumOf([value, id], listing))
    return { value, id };
  throw createCursorError(cursor);
}

export function createCursorError(cursor: string): InvalidRequestError {
  const message = "cursor does not belong to this listing; start again without it";
  return new InvalidRequestError([valueError(["query", "cursor"], message, cursor)]);
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

function checksumOf(content: readonly [Keyset["value"], string], listing: ListingKey): string {
  const filters = Object.entries(listing)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return hash("sha256", JSON.stringify([content, filters]), "base64url").slice(0, CHECKSUM_LENGTH);
}

/**
 * Value of the `Link` header for the next page: the caller's URL with the cursor replaced.
 *
 * @param requestUrl  path and query as sent by the caller; its host and the Host header are never used
 * @param publicUrl  the service's configured base URL; if null, the link is relative
 */
export function nextPageLink(requestUrl: string, cursor: string, publicUrl: string | null = null): string {
  // A request line may contain an absolute URL. Its host is client input and not trusted.
  const origin = /^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i.exec(requestUrl)?.[0] ?? "";
  const target = requestUrl.slice(origin.length);
  const queryStart = target.indexOf("?");
  const path = queryStart < 0 ? target : target.slice(0, queryStart);
  const query = new URLSearchParams(queryStart < 0 ? "" : target.slice(queryStart + 1));
  query.set("cursor", cursor);
  // Escapes characters that are invalid in a URI or a header. Existing percent-encodings are unchanged.
  const safePath = path.replace(/[^!$&'()*+,\-./0-9:;=@A-Z_a-z~%]/g, (character) => encodeURIComponent(character));
  return `<${publicUrl?.replace(/\/+$/, "") ?? ""}${safePath}?${query}>; rel="next"`;
}
