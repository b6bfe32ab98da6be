/** Whether two plain values, as JSON has them, say the same, whatever the order of their fields. */
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
 * A copy of `facts` that holds the parts which `other` says too as `other`'s own: neighbours in a listing repeat their
 * venue, event, category, fee and often their rules, and a parsed copy of each would be kept for every market.
 */
export function shareStructure<Facts extends object>(facts: Facts, other: Facts): Facts {
  const shared = { ...facts };
  for (const key of Object.keys(shared) as (keyof Facts)[]) {
    const value = shared[key];
    const isHeld = typeof value === "string" || (typeof value === "object" && value !== null);
    if (isHeld && isStructurallyEqual(value, other[key])) shared[key] = other[key];
  }
  return shared;
}
