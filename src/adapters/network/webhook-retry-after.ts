import { RETRY_AFTER_MS_MAX } from "../../domain/webhook-limits.ts";

const SECONDS_PATTERN = /^\d{1,10}$/;
/** Matches the HTTP date format that senders must use: Sun, 06 Nov 1994 08:49:37 GMT. */
const DATE_PATTERN = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Parses a Retry-After header: seconds or an HTTP date.
 *
 * @param now  Unix milliseconds
 * @returns Unix milliseconds from `now` to 24 hours later; null if the header is missing or invalid
 */
export function parseRetryAfter(header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? "";
  const at = SECONDS_PATTERN.test(text)
    ? now + Number(text) * 1_000
    : DATE_PATTERN.test(text)
      ? Date.parse(text)
      : Number.NaN;
  return Number.isNaN(at) ? null : Math.min(Math.max(at, now), now + RETRY_AFTER_MS_MAX);
}
