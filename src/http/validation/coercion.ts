/**
 * Text to values by Pydantic v2's lax rules, so that a query string accepted or refused there is accepted or refused
 * here (pydantic-core, `input/shared.rs`). Two accidents there are not copied: `0-7` read as -7 and `0__7` read as 7.
 */

const INTEGER_DIGITS_MAX = 4_300;
const TRUE_WORDS: ReadonlySet<string> = new Set(["1", "true", "t", "yes", "y", "on"]);
const FALSE_WORDS: ReadonlySet<string> = new Set(["0", "false", "f", "no", "n", "off"]);
const BOOLEAN_WORD_LENGTH_MAX = 5;
const FLOAT = /^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf|infinity|nan)$/i;

/**
 * Text to an integer: surrounding space, one sign, leading zeros, single underscores between digits and a fraction of
 * zeros are let pass.
 *
 * @returns the number, "too_large" above 4,300 digits, or null when the text is not an integer
 */
export function parseIntegerText(text: string): number | "too_large" | null {
  const match = /^([+-]?)(\d+(?:_\d+)*)(?:\.0+)?$/.exec(text.trim());
  const digits = match?.[2];
  if (digits === undefined) return null;
  const significant = digits.replaceAll("_", "").replace(/^0+(?=\d)/, "");
  if (significant.length > INTEGER_DIGITS_MAX) return "too_large";
  const value = Number(significant);
  // Minus zero would be shown as 0 and yet compare as another value in keys.
  return match?.[1] === "-" && value !== 0 ? -value : value;
}

/**
 * Text to a number: as JSON plus surrounding space, `.5`, `5.`, single underscores between digits, `inf` and `nan`.
 *
 * @returns the number (possibly infinite or NaN, which the caller judges), or null when the text is not a number
 */
export function parseFloatText(text: string): number | null {
  // Either surrounding space or underscores: the two are read by different paths there.
  const plain = text.includes("_") ? withoutUnderscores(text) : text.trim();
  if (!FLOAT.test(plain)) return null;
  const word = plain.replace(/^[+-]/, "").toLowerCase();
  if (word === "nan") return Number.NaN;
  if (word === "inf" || word === "infinity") return plain.startsWith("-") ? -Infinity : Infinity;
  return Number(plain) || 0;
}

function withoutUnderscores(text: string): string {
  return /^_|_$|__/.test(text) ? "" : text.replaceAll("_", "");
}

/** Text to a boolean (1, true, t, yes, y, on and their opposites, any case, no trimming), or null. */
export function parseBooleanText(text: string): boolean | null {
  if (text.length > BOOLEAN_WORD_LENGTH_MAX) return null;
  const word = text.toLowerCase();
  if (TRUE_WORDS.has(word)) return true;
  return FALSE_WORDS.has(word) ? false : null;
}
