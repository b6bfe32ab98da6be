import { FILLER_WORDS } from "./lexicon.ts";

/** Returns the weight of a stem in a comparison, in [0, 1]: 1 for a rare stem, 0 for a stem in every title. */
export type WordWeights = (stem: string) => number;

/** Factor for the weight of a filler word such as "club" or "award". */
const FILLER_SHARE = 0.2;

/**
 * Creates the weights from the number of titles that contain each frequent stem. weight = ln(N / n) / ln(N) for a stem
 * in n of N titles; a stem that is not listed counts as in one title. The weight of a filler word is multiplied by
 * `FILLER_SHARE`.
 */
export function createWordWeights(counts: Readonly<Record<string, number>>, titleCount: number): WordWeights {
  const scale = Math.log(titleCount);
  const share = (stem: string) => (FILLER_WORDS.has(stem) ? FILLER_SHARE : 1);
  const listed = new Map(
    Object.entries(counts).map(([stem, count]) => [
      stem,
      share(stem) * Math.max(0, Math.log(titleCount / count) / scale),
    ]),
  );
  return (stem) => listed.get(stem) ?? share(stem);
}
