/** Whether two JSON values are deeply equal. The order of object keys is ignored. */
export function isStructurallyEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [a as Readonly<Record<string, unknown>>, b as Readonly<Record<string, unknown>>];
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  for (const key of keys) if (!Object.hasOwn(right, key) || !isStructurallyEqual(left[key], right[key])) return false;
  return true;
}

/**
 * Returns a shallow copy of `source` that reuses each equal string or object of `other`. Consecutive markets of a venue
 * usually have equal events, categories, fees and rules, so sharing saves one copy of each per market.
 */
export function shareStructure<Source extends object>(source: Source, other: Source): Source {
  const shared = { ...source };
  for (const key of Object.keys(shared) as (keyof Source)[]) {
    const value = shared[key];
    const isShareable = typeof value === "string" || (typeof value === "object" && value !== null);
    if (isShareable && isStructurallyEqual(value, other[key])) shared[key] = other[key];
  }
  return shared;
}
