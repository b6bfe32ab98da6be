/**
 * Text is converted by Pydantic v2's lax rules (pydantic-core, `input/shared.rs`), so that the service accepts the same
 * query strings as a Pydantic service. Two bugs are not copied: Pydantic reads `0-7` as -7 and `0__7` as 7.
 */

const INTEGER_DIGITS_MAX = 4_300;
const TRUE_TEXTS: ReadonlySet<string> = new Set(["1", "true", "t", "yes", "y", "on"]);
const FALSE_TEXTS: ReadonlySet<string> = new Set(["0", "false", "f", "no", "n", "off"]);
const BOOLEAN_LENGTH_MAX = 5;
/** Matches in linear time: a run of digits is matched by one quantifier only, because `.` or `e` separates the next. */
const FLOAT_PATTERN = /^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|inf|infinity|nan)$/i;

/**
 * Parses an integer. Allows surrounding whitespace, one sign, leading zeros, single underscores between digits and a
 * fraction of zeros.
 *
 * @returns the number; "too_large" above 4,300 digits; null if the text is not an integer
 */
export function parseIntegerText(text: string): number | "too_large" | null {
  const match = /^([+-]?)(\d+(?:_\d+)*)(?:\.0+)?$/.exec(text.trim());
  const digits = match?.[2];
  if (digits === undefined) return null;
  const significantDigits = digits.replaceAll("_", "").replace(/^0+(?=\d)/, "");
  if (significantDigits.length > INTEGER_DIGITS_MAX) return "too_large";
  const value = Number(significantDigits);
  // Returns 0 for "-0".
  return match?.[1] === "-" && value !== 0 ? -value : value;
}

/**
 * Parses a number. Allows JSON numbers, surrounding whitespace, `.5`, `5.`, single underscores between digits, `inf`,
 * `nan`.
 *
 * @returns the number, possibly infinite or NaN; null if the text is not a number
 */
export function parseFloatText(text: string): number | null {
  // Pydantic allows whitespace or underscores, but not both.
  const normalised = text.includes("_") ? removeUnderscores(text) : text.trim();
  if (!FLOAT_PATTERN.test(normalised)) return null;
  const unsigned = normalised.replace(/^[+-]/, "").toLowerCase();
  if (unsigned === "nan") return Number.NaN;
  if (unsigned === "inf" || unsigned === "infinity") return normalised.startsWith("-") ? -Infinity : Infinity;
  return Number(normalised) || 0;
}

function removeUnderscores(text: string): string {
  return /^_|_$|__/.test(text) ? "" : text.replaceAll("_", "");
}

/**
 * Parses a boolean: 1, true, t, yes, y, on and their opposites, case-insensitive, not trimmed. Returns null for other
 * texts.
 */
export function parseBooleanText(text: string): boolean | null {
  if (text.length > BOOLEAN_LENGTH_MAX) return null;
  const lowerCase = text.toLowerCase();
  if (TRUE_TEXTS.has(lowerCase)) return true;
  return FALSE_TEXTS.has(lowerCase) ? false : null;
}
