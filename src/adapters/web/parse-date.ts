/** Matches a time without a zone, which `Date.parse` would interpret in the local time zone. */
const WITHOUT_ZONE = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/;

/** Parses an ISO 8601 date or time to Unix milliseconds; UTC if it has no zone. Returns null for other text. */
export function parseDate(text: string | null | undefined): number | null {
  if (typeof text !== "string" || !/^\d{4}-\d{2}-\d{2}/.test(text)) return null;
  const at = Date.parse(WITHOUT_ZONE.test(text) ? `${text.replace(" ", "T")}Z` : text);
  return Number.isFinite(at) ? at : null;
}
