import { isDeepStrictEqual } from "node:util";

/**
 * Returns a shallow copy of `source` that reuses each equal string or object of `other`. Consecutive markets of a venue
 * usually have equal events, categories, fees and rules, so sharing saves one copy of each per market.
 */
export function shareStructure<Source extends object>(source: Source, other: Source): Source {
  const shared = { ...source };
  for (const key of Object.keys(shared) as (keyof Source)[]) {
    const value = shared[key];
    const isShareable = typeof value === "string" || (typeof value === "object" && value !== null);
    if (isShareable && isDeepStrictEqual(value, other[key])) shared[key] = other[key];
  }
  return shared;
}
