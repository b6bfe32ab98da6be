/** Reading of parsed JSON whose shape is unknown. Nothing here is shared with the adapters. */

export type JsonObject = Readonly<Record<string, unknown>>;

/** Maximum nesting depth that is searched for rows. */
const DEPTH_MAX = 8;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** Returns a trimmed text, or null if there is none. */
export function textOf(value: unknown): string | null {
  const text = typeof value === "string" ? value.trim() : "";
  return text === "" ? null : text;
}

/** Returns a finite number from a JSON number or a decimal text, otherwise null. */
export function numberOf(value: unknown): number | null {
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value !== "string" || !/^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(value)) return null;
  return Number(value);
}

/** Returns an array, or the array whose JSON text is given; otherwise an empty array. */
export function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value !== "string") return [];
  try {
    const parsed: unknown = JSON.parse(value);
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return [];
  }
}

/** Returns Unix milliseconds of ISO 8601 text (a space for `T` and a short zone are accepted), or null. */
export function isoTimeOf(value: unknown): number | null {
  const text = textOf(value);
  if (text === null) return null;
  const iso = text.replace(/^(\d{4}-\d\d-\d\d) /, "$1T").replace(/([+-]\d\d)$/, "$1:00");
  const at = Date.parse(/\dT[\d:.]+$/.test(iso) ? `${iso}Z` : iso);
  return Number.isNaN(at) ? null : at;
}

/** Returns all objects for which `isWanted` is true, outermost first. Found objects are not searched. */
export function collect(value: unknown, isWanted: (object: JsonObject) => boolean, depth = 0): JsonObject[] {
  if (depth > DEPTH_MAX) return [];
  if (Array.isArray(value)) return value.flatMap((item) => collect(item, isWanted, depth + 1));
  if (!isObject(value)) return [];
  if (isWanted(value)) return [value];
  return Object.values(value).flatMap((item) => collect(item, isWanted, depth + 1));
}

/**
 * Returns the members of lists of rows that are no rows themselves and contain none, for example a row that lacks its
 * id.
 */
export function collectUnrecognised(
  value: unknown,
  isRow: (object: JsonObject) => boolean,
  depth = 0,
): readonly unknown[] {
  if (depth > DEPTH_MAX || (isObject(value) && isRow(value))) return [];
  if (isObject(value)) return Object.values(value).flatMap((item) => collectUnrecognised(item, isRow, depth + 1));
  if (!Array.isArray(value)) return [];
  const members = value.map((item: unknown) => ({ item, hasRow: collect(item, isRow).length > 0 }));
  if (!members.some(({ hasRow }) => hasRow)) return [];
  return members.flatMap(({ item, hasRow }) => (hasRow ? collectUnrecognised(item, isRow, depth + 1) : [item]));
}

/** Names of the lists of rows in the venues' responses. */
const LIST_NAMES = ["markets", "events", "series", "trades", "data", "history", "prices", "candlesticks", "orderbooks"];

/** Whether the response is an empty list of rows, or an object that contains one. */
export function isEmptyResponse(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (!isObject(value)) return false;
  return (
    LIST_NAMES.some((name) => Array.isArray(value[name]) && value[name].length === 0) || isEmptyResponse(value.body)
  );
}

/**
 * Splits rows into groups in which every id occurs once. A recording may contain a row before and after a change; each
 * group is served separately.
 */
export function splitByRepeatedId(
  rows: readonly JsonObject[],
  idOf: (row: JsonObject) => string,
): readonly (readonly JsonObject[])[] {
  const groups: JsonObject[][] = [];
  const countById = new Map<string, number>();
  for (const row of rows) {
    const id = idOf(row);
    const index = countById.get(id) ?? 0;
    countById.set(id, index + 1);
    const group = groups[index] ?? [];
    groups[index] = group;
    group.push(row);
  }
  return groups;
}
