/** A time without a zone, which `Date.parse` would read in the zone of this machine. */
const WITHOUT_ZONE = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/;

/** Unix milliseconds of an ISO 8601 date or time, UTC if it has no zone; null for other text. */
export function parseDate(text: string | null | undefined): number | null {
  if (typeof text !== "string" || !/^\d{4}-\d{2}-\d{2}/.test(text)) return null;
  const at = Date.parse(WITHOUT_ZONE.test(text) ? `${text.replace(" ", "T")}Z` : text);
  return Number.isFinite(at) ? at : null;
}
