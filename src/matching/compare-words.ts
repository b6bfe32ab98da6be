/** Compares the words of two questions. */
import { knownStems } from "./knowledge/known-stems.ts";
import type { WordWeights } from "./text/word-weights.ts";
import { stemSimilarity } from "./text/words.ts";

/** Minimum similarity of two stems that count as the same word. */
const SAME_STEM_MIN = 0.75;
/** Share of its weight with which a stem counts if another stem of its name matches: "Donald" in "Donald Trump". */
const PART_OF_NAME_SHARE = 0.2;
/** Similarity of a word and a name that contains it: "drivers" and "F1 World Drivers' Championship". */
const PART_SIMILARITY = 0.9;
/** Minimum share of the weight of a name's parts that the other question writes as single words. */
const PARTS_SHARE_MIN = 0.6;

interface Coverage {
  /** Share of the stems' weight that has a counterpart, in [0, 1]. A similar stem counts by its similarity. */
  readonly share: number;
  /** Weight without a counterpart. A similar stem counts as 1 minus its similarity. */
  readonly unmatched: number;
  /** Largest weight of a stem without a counterpart. */
  readonly unmatchedMax: number;
}

function coverageOf(stems: readonly string[], other: readonly string[], weightOf: WordWeights): Coverage {
  let total = 0;
  let matched = 0;
  let unmatchedMax = 0;
  for (const stem of stems) {
    const weight = weightOf(stem);
    total += weight;
    let similarity = other.includes(stem) ? 1 : 0;
    if (similarity === 0)
      for (const candidate of other) similarity = Math.max(similarity, stemSimilarity(stem, candidate));
    if (similarity >= SAME_STEM_MIN) matched += weight * similarity;
    else unmatchedMax = Math.max(unmatchedMax, weight);
  }
  return { share: total === 0 ? 1 : matched / total, unmatched: total - matched, unmatchedMax };
}

/** Two names differ if each has a stem of at least this weight without a counterpart: "Ann Lee" and "Bo Lee". */
const OTHER_NAME_WEIGHT_MIN = 0.6;
const OTHER_NAME_SIMILARITY = 0.3;

/**
 * Similarity of two names in [0, 1]: 0.8 of the larger coverage plus 0.2 of the smaller one; 0 if a name is empty, and at
 * most 0.3 if each name has a rare word that the other lacks.
 */
export function nameSimilarity(a: readonly string[], b: readonly string[], weightOf: WordWeights): number {
  if (a.length === 0 || b.length === 0) return 0;
  const forward = coverageOf(a, b, weightOf);
  const backward = coverageOf(b, a, weightOf);
  const [low, high] =
    forward.share < backward.share ? [forward.share, backward.share] : [backward.share, forward.share];
  // One name may contain the other ("Lyon" and "Olympique Lyonnais"), but "Norway" and "Norway women" differ a little.
  const similarity = 0.2 * low + 0.8 * high;
  const areOther = Math.min(forward.unmatchedMax, backward.unmatchedMax) >= OTHER_NAME_WEIGHT_MIN;
  return areOther ? Math.min(similarity, OTHER_NAME_SIMILARITY) : similarity;
}

/** The words of one question that have no counterpart in the other. Weights of stems are in [0, 1]. */
interface WordComparison {
  /** Share of the stems' weight that has a counterpart, in [0, 1]. A similar stem counts by its similarity. */
  readonly share: number;
  /** Largest weight of a name without a counterpart. */
  readonly names: number;
  /** Weight of other words without a counterpart. A similar stem counts as 1 minus its similarity. */
  readonly words: number;
}

interface WordContext {
  readonly names: readonly (readonly string[])[];
  readonly otherNames: readonly (readonly string[])[];
  /** Stems that need no counterpart. */
  readonly implied: ReadonlySet<string>;
  readonly weightOf: WordWeights;
}

const initialsOf = (name: readonly string[]): string => name.map((stem) => stem[0]).join("");

/** Whether one of two stems is an abbreviation: the initials of a name of the other question. */
const isAbbreviation = (
  stem: string,
  name: readonly string[] | undefined,
  others: readonly string[],
  otherNames: readonly (readonly string[])[],
) =>
  otherNames.some((other) => other.length > 1 && initialsOf(other) === stem) ||
  (name !== undefined && name.length > 1 && others.includes(initialsOf(name)));

/**
 * Whether a stem without a counterpart only completes a name: "Donald" in "Donald Trump" and "Trump". It does not if the
 * other name has another stem in its place: "Ann Lee" and "Bo Lee".
 */
function isPartOfName(
  stem: string,
  name: readonly string[] | undefined,
  others: readonly string[],
  otherNames: readonly (readonly string[])[],
): boolean {
  const shared = name?.filter((part) => part !== stem && others.includes(part)) ?? [];
  if (shared.length === 0) return false;
  const other = otherNames.find((candidate) => candidate.some((part) => shared.includes(part)));
  const isInitial = (part: string) => part.length === 1 && stem.startsWith(part);
  return other?.every((part) => shared.includes(part) || isInitial(part)) !== false;
}

function compareWords(
  stems: readonly string[],
  others: readonly string[],
  { names, otherNames, implied, weightOf }: WordContext,
): WordComparison {
  const { parts } = knownStems();
  const similarityOf = (stem: string): number => {
    if (others.includes(stem)) return 1;
    let best = 0;
    for (const other of others) best = Math.max(best, stemSimilarity(stem, other));
    if (best >= SAME_STEM_MIN) return best;
    const ownParts = parts.get(stem);
    if (ownParts === undefined)
      return others.some((other) => parts.get(other)?.includes(stem) === true) ? PART_SIMILARITY : best;
    const weightIn = (list: readonly string[]) => list.reduce((sum, part) => sum + weightOf(part), 0);
    const share = weightIn(ownParts.filter((part) => others.includes(part))) / Math.max(weightIn(ownParts), 1e-9);
    return share >= PARTS_SHARE_MIN ? Math.max(share, SAME_STEM_MIN) : best;
  };
  let total = 0;
  let matched = 0;
  let unmatchedNames = 0;
  let unmatchedWords = 0;
  for (const stem of stems) {
    const similarity = similarityOf(stem);
    let weight = weightOf(stem);
    if (similarity >= SAME_STEM_MIN) {
      total += weight;
      matched += weight * similarity;
      unmatchedWords += weight * (1 - similarity);
      continue;
    }
    if (implied.has(stem)) continue;
    const name = names.find((candidate) => candidate.includes(stem));
    if (isAbbreviation(stem, name, others, otherNames)) continue;
    const isPart = isPartOfName(stem, name, others, otherNames);
    if (isPart) weight *= PART_OF_NAME_SHARE;
    total += weight;
    if (name === undefined || isPart) unmatchedWords += weight;
    else unmatchedNames = Math.max(unmatchedNames, weight);
  }
  return { share: total === 0 ? 1 : matched / total, names: unmatchedNames, words: unmatchedWords };
}

const WORDS_MAX = 2;

export const wordFeatures = (isSame: boolean, forward: WordComparison, backward: WordComparison) => ({
  same_core: isSame ? 1 : 0,
  coverage_min: Math.min(forward.share, backward.share),
  coverage_max: Math.max(forward.share, backward.share),
  names_both: Math.min(forward.names, backward.names),
  names_one: Math.max(forward.names, backward.names) - Math.min(forward.names, backward.names),
  names_against_words: Math.max(Math.min(forward.names, backward.words, 1), Math.min(backward.names, forward.words, 1)),
  words_both: Math.min(WORDS_MAX, forward.words, backward.words),
  words_one: Math.min(WORDS_MAX, Math.max(forward.words, backward.words) - Math.min(forward.words, backward.words)),
});

const isSameSequence = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((value, index) => value === b[index]);

/** The words and names of a question. */
export interface WordedQuestion {
  readonly stems: readonly string[];
  /** The stems that can be counterparts of the other question's stems, such as those of the question and its event. */
  readonly counterparts: readonly string[];
  readonly names: readonly (readonly string[])[];
}

/** Compares the words of two questions. `implied` is ignored if a name of a question has no counterpart. */
export function compareBothWays(
  a: WordedQuestion,
  b: WordedQuestion,
  implied: ReadonlySet<string>,
  weightOf: WordWeights,
) {
  const compare = (of: WordedQuestion, other: WordedQuestion, without: ReadonlySet<string>) =>
    compareWords(of.stems, other.counterparts, {
      names: of.names,
      otherNames: other.names,
      implied: without,
      weightOf,
    });
  const isSame = isSameSequence(a.stems, b.stems);
  const [forward, backward] = [compare(a, b, implied), compare(b, a, implied)];
  if (implied.size === 0 || (forward.names === 0 && backward.names === 0))
    return wordFeatures(isSame, forward, backward);
  return wordFeatures(isSame, compare(a, b, NO_STEMS), compare(b, a, NO_STEMS));
}

const NO_STEMS: ReadonlySet<string> = new Set();

/** Returns the stems that names of both questions imply: "Modi out" is about India. */
export function impliedStems(a: { readonly stems: readonly string[] }, b: { readonly stems: readonly string[] }) {
  const { implied: impliedBy } = knownStems();
  const implied = a.stems.filter((stem) => impliedBy.has(stem) && b.stems.includes(stem));
  if (implied.length === 0) return NO_STEMS;
  return new Set(implied.flatMap((stem) => [...(impliedBy.get(stem) ?? [])]));
}
