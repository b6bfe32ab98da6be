import { splitSentences } from "../../../prompting/clean-text.ts";

const SHINGLE_WORDS = 5;
/** Claims whose similarity is at least this are merged. */
const CLAIM_SIMILARITY_MIN = 0.5;
/** A sentence is a copy if at least this share of its shingles occurs in an earlier document. */
const COPIED_SENTENCE_SHARE = 0.5;
/** A document is a copy if less than this share of its words remains without the copied sentences. */
const OWN_SHARE_MIN = 0.4;

/**
 * Returns the words of a text in lower case, without punctuation. In scripts without spaces, each character is a word.
 */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]|[\p{L}\p{N}]+/gu) ?? [];
}

/** Returns all runs of `size` words; a shorter text is one run. */
export function shinglesOf(words: readonly string[], size = SHINGLE_WORDS): Set<string> {
  if (words.length <= size) return new Set(words.length === 0 ? [] : [words.join(" ")]);
  return new Set(
    Array.from({ length: words.length - size + 1 }, (_, start) => words.slice(start, start + size).join(" ")),
  );
}

/**
 * Jaccard similarity |A ∩ B| / |A ∪ B|, in [0, 1]. Two empty sets have similarity 0.
 *
 * @example jaccard(new Set("ab"), new Set("bc")); // 1/3
 */
export function jaccard<Item>(a: ReadonlySet<Item>, b: ReadonlySet<Item>): number {
  let shared = 0;
  for (const item of a) if (b.has(item)) shared++;
  const union = a.size + b.size - shared;
  return union === 0 ? 0 : shared / union;
}

/** Whether two claims have the same content, by the Jaccard similarity of their words. */
export function isSameClaim(a: string, b: string): boolean {
  return jaccard(new Set(wordsOf(a)), new Set(wordsOf(b))) >= CLAIM_SIMILARITY_MIN;
}

/** A text without the sentences that earlier texts contain. */
export interface DeduplicatedText {
  readonly text: string;
  /** Whether so little is left that the text counts as a copy. */
  readonly isCopy: boolean;
}

/**
 * Removes from each text the sentences that an earlier text contains, so that ten copies of a story, or of a passage,
 * count once. Linear in the total length.
 */
export function removeCopies(texts: readonly string[]): DeduplicatedText[] {
  const earlier = new Set<string>();
  return texts.map((text): DeduplicatedText => {
    const own: string[] = [];
    const ownShingles: string[] = [];
    let wordCount = 0;
    let ownCount = 0;
    for (const sentence of splitSentences(text)) {
      const words = wordsOf(sentence);
      const shingles = [...shinglesOf(words)];
      const copied = shingles.filter((shingle) => earlier.has(shingle)).length;
      wordCount += words.length;
      if (copied > 0 && copied >= COPIED_SENTENCE_SHARE * shingles.length) continue;
      ownCount += words.length;
      own.push(sentence);
      ownShingles.push(...shingles);
    }
    for (const shingle of ownShingles) earlier.add(shingle);
    return { text: own.join("\n"), isCopy: ownCount < OWN_SHARE_MIN * wordCount };
  });
}
