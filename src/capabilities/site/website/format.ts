import { toMicros } from "../../../domain/price.ts";

/** Displayed for unknown values. */
const UNKNOWN = "–";
const MICROS_PER_TENTH_CENT = 1_000;
const TENTHS_PER_DOLLAR = 1_000;
/** Largest time that `Date` represents, in Unix milliseconds. */
const TIME_MS_MAX = 8.64e15;

const integerFormat = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const dateFormat = new Intl.DateTimeFormat("en-US", { dateStyle: "medium", timeZone: "UTC" });
const minuteFormat = new Intl.DateTimeFormat("en-US", {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
  timeZone: "UTC",
});
const timeFormat = new Intl.DateTimeFormat("en-US", { timeStyle: "short", hourCycle: "h23", timeZone: "UTC" });
const secondFormat = new Intl.DateTimeFormat("en-US", { timeStyle: "medium", hourCycle: "h23", timeZone: "UTC" });

/**
 * Formats a price in [0, 1] in cents, as traders quote it, with one decimal, so that the prices of a column align.
 *
 * @example formatPrice(0.985); // "98.5¢"
 */
export function formatPrice(price: number | null): string {
  if (price === null) return UNKNOWN;
  const tenths = Math.round(toMicros(price) / MICROS_PER_TENTH_CENT);
  if (tenths === 0 && price > 0) return "<0.1¢";
  if (tenths === TENTHS_PER_DOLLAR && price < 1) return ">99.9¢";
  return `${(tenths / 10).toFixed(1)}¢`;
}

/** Formats the difference of two prices. @example formatChange(-0.04); // "−4.0¢" */
export function formatChange(change: number | null): string {
  if (change === null) return UNKNOWN;
  const tenths = Math.round(toMicros(change) / MICROS_PER_TENTH_CENT);
  const sign = tenths > 0 ? "+" : tenths < 0 ? "−" : "";
  return `${sign}${(Math.abs(tenths) / 10).toFixed(1)}¢`;
}

export const formatInteger = (value: number): string => integerFormat.format(value);

/** Formats an amount in USD without cents. @example formatUsd(82950.92); // "$82,951" */
export function formatUsd(amount: number | null): string {
  if (amount === null) return UNKNOWN;
  return amount > 0 && amount < 1 ? "<$1" : `$${formatInteger(amount)}`;
}

const isTime = (unixMs: number | null): unixMs is number => unixMs !== null && Math.abs(unixMs) <= TIME_MS_MAX;

/** Formats the UTC date of Unix milliseconds. @example "Dec 2, 2026" */
export const formatDate = (unixMs: number | null): string => (isTime(unixMs) ? dateFormat.format(unixMs) : UNKNOWN);

/** @example formatMinute(at); // "Dec 2, 14:00" */
export const formatMinute = (unixMs: number): string => minuteFormat.format(unixMs);

/** @example formatTime(at); // "14:00" */
export const formatTime = (unixMs: number): string => timeFormat.format(unixMs);

/** @example formatSecond(at); // "14:00:05 UTC" */
export const formatSecond = (unixMs: number): string => `${secondFormat.format(unixMs)} UTC`;

/** @example formatDateTime(at); // "Dec 2, 2026, 14:00:05 UTC" */
export const formatDateTime = (unixMs: number | null): string =>
  isTime(unixMs) ? `${formatDate(unixMs)}, ${formatSecond(unixMs)}` : UNKNOWN;

/** Converts the public id of a venue to its name in text. @example formatVenue("venue_a"); // "Venue a" */
export const formatVenue = (venue: string): string =>
  `${venue.slice(0, 1).toUpperCase()}${venue.slice(1).replaceAll(/[_-]/g, " ")}`;

/** Joins names with commas and "and". */
export const joinNames = (names: readonly string[]): string =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;

/** Shortens text of venues to at most `lengthMax` UTF-16 code units. */
export function truncate(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  // Removes half of a surrogate pair at the end.
  return `${text.slice(0, lengthMax - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** Formats a score with four decimals, because scores differ little from those of the price. @example formatScore(0.2); // "0.2000" */
export const formatScore = (score: number | null): string => (score === null ? UNKNOWN : score.toFixed(4));

/** Differences of scores below this are rounding errors. */
export const ROUNDING_ERROR = 1e-12;

/**
 * Formats a difference of scores with its sign and four decimals. A smaller difference has one significant digit, so that
 * its sign is never lost.
 *
 * @example formatScoreChange(-0.0042); // "−0.0042"
 * @example formatScoreChange(-0.00002); // "−0.00002"
 */
export function formatScoreChange(change: number | null): string {
  if (change === null) return UNKNOWN;
  const rounded = Math.abs(change).toFixed(4);
  if (Math.abs(change) < ROUNDING_ERROR) return rounded;
  const digits = Number(rounded) === 0 ? Math.abs(change).toPrecision(1) : rounded;
  return `${change > 0 ? "+" : "−"}${digits}`;
}

/** Formats a share in percent with one decimal. @example formatShare(0.1234); // "12.3%" */
export function formatShare(share: number | null): string {
  if (share === null) return UNKNOWN;
  const digits = Math.abs(100 * share).toFixed(1);
  return `${share < 0 && Number(digits) > 0 ? "−" : ""}${digits}%`;
}

const centsFormat = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** Formats a profit or a loss in USD. @example formatProfit(-12.5); // "−$12.50" */
export function formatProfit(amount: number | null): string {
  if (amount === null) return UNKNOWN;
  const digits = centsFormat.format(Math.abs(amount));
  const sign = digits === "0.00" ? "" : amount > 0 ? "+" : "−";
  return `${sign}$${digits}`;
}
