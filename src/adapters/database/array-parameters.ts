const isNumberOrNull = (item: unknown): item is number | null => typeof item === "number" || item === null;

/** `{1,NULL,3}`; null when something else than numbers and nulls is inside. */
function toLiteral(items: readonly unknown[]): string | null {
  let text = "";
  for (const item of items) {
    if (!isNumberOrNull(item)) return null;
    text += text === "" ? (item ?? "NULL") : `,${item ?? "NULL"}`;
  }
  return `{${text}}`;
}

/**
 * Parameters with arrays of numbers as PostgreSQL's array literals, everything else as it was. Numbers need no quoting;
 * the drivers quote and escape each one, and thousands a batch are most of what sending ticks costs the API's thread.
 */
export function encodeArrayParameters(parameters: readonly unknown[]): unknown[] {
  return parameters.map((parameter) => (Array.isArray(parameter) ? (toLiteral(parameter) ?? parameter) : parameter));
}
