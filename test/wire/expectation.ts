/** Expected values and their comparison with the values that an adapter returns. */

export interface Expectation {
  /** The expected value as the report shows it. */
  readonly text: string;
  readonly matches: (actual: unknown) => boolean;
}

/** Expected values by field. Fields that are not named are not compared. */
export type Expected = Readonly<Record<string, Expectation>>;
/** The values that an adapter returned, by field. */
export type Facts = Readonly<Record<string, unknown>>;

/** Half of the finest price step, 1e-6. */
const PRICE_TOLERANCE = 5e-7 + 1e-12;

export function showValue(value: unknown): string {
  return value === undefined ? "absent" : (JSON.stringify(value) ?? String(value));
}

export function exactly(value: unknown): Expectation {
  return { text: showValue(value), matches: (actual) => showValue(actual) === showValue(value) };
}

/** A number within `tolerance` of the value, or null if the value is null. */
export function near(value: number | null, tolerance: number): Expectation {
  if (value === null) return exactly(null);
  return {
    text: showValue(value),
    matches: (actual) => typeof actual === "number" && Math.abs(actual - value) <= tolerance,
  };
}

export function price(value: number | null): Expectation {
  return near(value, PRICE_TOLERANCE);
}

/** A number of contracts or dollars. Adapters round to cents or millionths. */
export function amount(value: number | null, tolerance = 0.005 + 1e-9): Expectation {
  return near(value, Math.max(tolerance, Math.abs(value ?? 0) * 1e-12));
}

/** A time in ISO 8601, because differences are easier to read. Fractions of a millisecond may be rounded or cut. */
export function time(at: number | null, toleranceMs = 0): Expectation {
  if (at === null) return exactly(null);
  return {
    text: showTime(at) ?? "",
    matches: (actual) =>
      typeof actual === "string" && Math.abs(Date.parse(actual) - at) <= Math.max(toleranceMs, at % 1 === 0 ? 0 : 1),
  };
}

export function showTime(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

/** For values that the venue's documents do not decide. */
export function oneOf(...expectations: readonly Expectation[]): Expectation {
  return {
    text: [...new Set(expectations.map(({ text }) => text))].join(" or "),
    matches: (actual) => expectations.some(({ matches }) => matches(actual)),
  };
}

/** Text that contains each part, regardless of case and white space. */
export function containing(...parts: readonly string[]): Expectation {
  const normalise = (text: string) => text.toLowerCase().replaceAll(/\s+/g, " ").trim();
  return {
    text: `text containing ${parts.map((part) => `"${normalise(part)}"`).join(" and ")}`,
    matches: (actual) =>
      typeof actual === "string" && parts.every((part) => normalise(actual).includes(normalise(part))),
  };
}

/**
 * Text that names the first of two sides: it equals the first name, or contains it more often than the second. A text
 * such as "A vs B" names neither side.
 */
export function namingFirst(first: string, second: string): Expectation {
  return {
    text: `text naming "${first}" and not "${second}"`,
    matches: (actual) => {
      if (typeof actual !== "string") return false;
      if (actual.trim().toLowerCase() === first.toLowerCase()) return true;
      return countNames(actual, first, second) > countNames(actual, second, first);
    },
  };
}

/** Counts whole words that equal `name`. If `other` contains `name`, its occurrences are not counted. */
function countNames(text: string, name: string, other: string): number {
  const remaining = other.length > name.length ? text.replaceAll(new RegExp(wordPattern(other), "giu"), " ") : text;
  return [...remaining.matchAll(new RegExp(wordPattern(name), "giu"))].length;
}

function wordPattern(name: string): string {
  const literal = name.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  return `(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])`;
}

export interface FieldDifference {
  readonly field: string;
  readonly expected: string;
  readonly actual: string;
}

export function differencesOf(expected: Expected, actual: Facts): FieldDifference[] {
  return Object.entries(expected)
    .filter(([field, expectation]) => !expectation.matches(actual[field]))
    .map(([field, expectation]) => ({ field, expected: expectation.text, actual: showValue(actual[field]) }));
}

export function isMatching(expected: Expected, actual: Facts): boolean {
  return differencesOf(expected, actual).length === 0;
}
