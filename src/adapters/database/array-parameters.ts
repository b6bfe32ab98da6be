const isNumberOrNull = (item: unknown): item is number | null => typeof item === "number" || item === null;

/** A PostgreSQL array literal such as `{1,NULL,3}`; null if an item is neither a number nor null. */
function toLiteral(items: readonly unknown[]): string | null {
  let text = "";
  for (const item of items) {
    if (!isNumberOrNull(item)) return null;
    text += text === "" ? (item ?? "NULL") : `,${item ?? "NULL"}`;
  }
  return `{${text}}`;
}

/**
 * Encodes arrays of numbers as PostgreSQL array literals and leaves other parameters unchanged. The drivers would quote
 * and escape each number, which takes most of the time of sending thousands of ticks.
 */
export function encodeArrayParameters(parameters: readonly unknown[]): unknown[] {
  return parameters.map((parameter) => (Array.isArray(parameter) ? (toLiteral(parameter) ?? parameter) : parameter));
}
