/** Reading of parsed JSON whose shape is unknown. */

export type JsonObject = Readonly<Record<string, unknown>>;

/** Maximum nesting depth that is searched for rows. */
const DEPTH_MAX = 8;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

/** Returns the objects for which `isWanted` is true, outermost first. Found objects are not searched. */
export function collect(value: unknown, isWanted: (object: JsonObject) => boolean, depth = 0): JsonObject[] {
  if (depth > DEPTH_MAX) return [];
  if (Array.isArray(value)) return value.flatMap((item) => collect(item, isWanted, depth + 1));
  if (!isObject(value)) return [];
  if (isWanted(value)) return [value];
  return Object.values(value).flatMap((item) => collect(item, isWanted, depth + 1));
}

/**
 * Splits rows into groups in which every id occurs once. A recording may contain a row before and after a change; each
 * group is served separately.
 */
export function splitByRepeatedId(rows: readonly JsonObject[], idOf: (row: JsonObject) => string): JsonObject[][] {
  const groups: JsonObject[][] = [];
  const counts = new Map<string, number>();
  for (const row of rows) {
    const index = counts.get(idOf(row)) ?? 0;
    counts.set(idOf(row), index + 1);
    groups[index] ??= [];
    groups[index].push(row);
  }
  return groups;
}

/**
 * Frames of a recording. A recorder may have stored them with their time: `{received_ms, frame}`, or the text of a whole
 * session: `{t, dir, data}`.
 */
export function framesOf(payload: unknown): { readonly frame: unknown; readonly receivedAt: number | null }[] {
  return (Array.isArray(payload) ? payload : [payload]).flatMap((item: unknown) => {
    if (isObject(item) && "dir" in item) {
      return item.dir === "recv" ? [{ frame: item.data, receivedAt: Date.parse(String(item.t)) }] : [];
    }
    if (!isObject(item) || !("frame" in item)) return [{ frame: item, receivedAt: null }];
    return [{ frame: item.frame, receivedAt: typeof item.received_ms === "number" ? item.received_ms : null }];
  });
}

/** Returns the most frequent distance of times in milliseconds, in whole minutes; one minute if there is none. */
export function spacingOf(times: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const [index, at] of times.slice(1).entries()) {
    const minutes = Math.max(1, Math.round(Math.abs(at - (times[index] ?? 0)) / 60_000));
    counts.set(minutes, (counts.get(minutes) ?? 0) + 1);
  }
  const [most = [1]] = [...counts].sort((a, b) => b[1] - a[1]);
  return (most[0] ?? 1) * 60_000;
}
