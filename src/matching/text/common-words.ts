import wordCounts from "../word-counts.json" with { type: "json" };

/** Stems of words that titles write more often in lower case than with a capital, so that they are not names. */
export const COMMON_WORDS: ReadonlySet<string> = new Set(wordCounts.common);
