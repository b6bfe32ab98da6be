import { hash } from "node:crypto";

const IF_NONE_MATCH_LENGTH_MAX = 4_096;

/** A weak entity tag of a body: equal content in any encoding has the same one. */
export function weakEntityTag(body: string | Buffer): string {
  return `W/"${hash("sha1", body, "base64url")}"`;
}

/**
 * Whether an If-None-Match header names `tag` (RFC 9110, weak comparison: lists and `*` count, the W/ prefix does not).
 */
export function matchesEntityTag(ifNoneMatch: string, tag: string): boolean {
  if (ifNoneMatch.length > IF_NONE_MATCH_LENGTH_MAX) return false;
  const opaque = stripWeak(tag);
  if (ifNoneMatch.trim() === "*") return true;
  // Our tags hold no comma, so a list may be split at every one.
  return ifNoneMatch.split(",").some((entry) => stripWeak(entry.trim()) === opaque);
}

function stripWeak(tag: string): string {
  return tag.startsWith("W/") ? tag.slice(2) : tag;
}
