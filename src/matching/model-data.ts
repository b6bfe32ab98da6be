/** The fitted model that the service uses. `npm run fit:matching` writes its files. */
import coefficients from "./coefficients.json" with { type: "json" };
import type { MatchingCoefficients } from "./decide.ts";
import { createWordWeights, type WordWeights } from "./text/word-weights.ts";
import wordCounts from "./word-counts.json" with { type: "json" };

export const MATCHING_COEFFICIENTS: MatchingCoefficients = coefficients;
export const WORD_WEIGHTS: WordWeights = createWordWeights(wordCounts.counts, wordCounts.titleCount);
