/** Finds the countries and US states in a title. */
import { knownStems } from "../knowledge/known-stems.ts";

/** Returns the state of each congressional district in a normalised text: "ak-al" is in Alaska. */
export function findDistrictStates(normalised: string): readonly string[] {
  const { states } = knownStems();
  return [...normalised.matchAll(/\b([a-z]{2})-(?:[0-9]{1,2}|al)\b/g)].flatMap(
    ([, code]) => states.get(code ?? "") ?? [],
  );
}

/** Returns the places in a sequence of stems, without repetitions. */
export function findPlaces(stems: readonly string[]): readonly string[] {
  const { places } = knownStems();
  return [...new Set(stems.filter((stem) => places.has(stem)))];
}
