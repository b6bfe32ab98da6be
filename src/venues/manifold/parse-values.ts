const TIME_MIN = Date.UTC(2000, 0, 1);
const TIME_MAX = Date.UTC(9999, 0, 1);

/** Returns a venue time in Unix milliseconds, or null if it is missing or out of range. */
export function parseTime(value: number | null | undefined): number | null {
  if (typeof value !== "number" || !(value >= TIME_MIN && value <= TIME_MAX)) return null;
  return Math.round(value);
}
