import type { SearchTerm } from "./candidate-index.ts";
import { latestPeriod } from "./facts/periods.ts";
import type { Fingerprint } from "./fingerprint.ts";
import { knownStems } from "./knowledge/known-stems.ts";
import type { WordWeights } from "./text/word-weights.ts";

/** Maximum number of candidates that are compared with one market. */
export const CANDIDATES_MAX = 24;
/** Minimum weight of the common search terms of two markets, as a share of the mean weight of all their terms. */
export const TERM_SHARE_MIN = 0.3;
/** Minimum weight of a stem that is used as a search term. */
const TERM_WEIGHT_MIN = 0.25;
const FACT_TERM_WEIGHT = 0.8;

/** A side that can mean more teams than this is not a search term. */
const TEAMS_MAX = 6;

/**
 * Returns the search terms of a market: its rare words and the words of its names, teams, thresholds and last day.
 *
 * @param daysAround  number of days before and after the last day that also match
 */
export function searchTerms(
  { stems, eventStems, fixture, subject, quantities, periods }: Fingerprint,
  weightOf: WordWeights,
  daysAround: number,
): SearchTerm[] {
  const terms = new Map<string, number>();
  const { parts } = knownStems();
  const words = [...stems, ...eventStems];
  for (const stem of [...words, ...words.flatMap((word) => parts.get(word) ?? [])]) {
    const weight = weightOf(stem);
    if (weight >= TERM_WEIGHT_MIN) terms.set(stem, weight);
  }
  for (const { teams } of [subject, ...(fixture ?? [])])
    if (teams.length <= TEAMS_MAX) for (const team of teams) terms.set(`!${team}`, FACT_TERM_WEIGHT);
  for (const { low, high, unit } of quantities)
    for (const value of [low, high]) terms.set(`#${value}${unit === "%" ? "%" : ""}`, FACT_TERM_WEIGHT);
  const deadline = latestPeriod(periods, "deadline");
  if (deadline !== null)
    for (let day = deadline.to - daysAround; day <= deadline.to + daysAround; day++)
      terms.set(`@${day}`, FACT_TERM_WEIGHT);
  return [...terms].map(([text, weight]) => ({ text, weight }));
}
