import { hash } from "node:crypto";

const IF_NONE_MATCH_LENGTH_MAX = 4_096;

/** Returns the weak entity tag of a body. It does not depend on the content encoding. */
export function weakEntityTag(body: string | Buffer): string {
  return `W/"${hash("sha1", body, "base64url")}"`;
}

/**
 * Whether an If-None-Match header matches `tag` (RFC 9110, weak comparison: ignores the W/ prefix; supports lists and
 * `*`).
 */
export function matchesEntityTag(ifNoneMatch: string, tag: string): boolean {
  if (ifNoneMatch.length > IF_NONE_MATCH_LENGTH_MAX) return false;
  const opaqueTag = stripWeakPrefix(tag);
  if (ifNoneMatch.trim() === "*") return true;
  // The service's tags contain no comma, so splitting the list at commas is safe.
  return ifNoneMatch.split(",").some((entry) => stripWeakPrefix(entry.trim()) === opaqueTag);
}

function stripWeakPrefix(tag: string): string {
  return tag.startsWith("W/") ? tag.slice(2) : tag;
}
