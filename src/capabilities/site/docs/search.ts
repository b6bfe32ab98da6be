import type { MarkdownDocument } from "./markdown.ts";
import type { DocPage } from "./pages.ts";

const RESULTS_MAX = 20;
const WORDS_MAX = 8;
const SNIPPET_LENGTH = 160;
/** Weight of a word by the part of the page in which it occurs. */
const WEIGHTS = { title: 12, identifier: 8, anchor: 4, text: 1 } as const;

/**
 * Returns a function that finds the pages with all words of a query, the best first. A word also matches longer words with
 * this prefix.
 */
export function createSearch(pages: readonly { readonly page: DocPage; readonly document: MarkdownDocument }[]) {
  const entries: readonly Entry[] = pages.map(({ page, document }) => ({
    page,
    title: fold(page.title),
    identifier: fold(`${page.operation?.id ?? ""} ${page.operation?.path ?? ""} ${page.operation?.method ?? ""}`),
    anchors: document.headings.map((heading) => ({ ...heading, folded: fold(heading.text) })),
    text: document.text,
    folded: fold(document.text),
  }));
  return (query: string) => {
    const words = fold(query)
      .split(/[^\p{L}\p{N}_]+/u)
      .filter((word) => word !== "")
      .slice(0, WORDS_MAX);
    if (words.length === 0) return [];
    return entries
      .map((entry) => ({ entry, score: scoreOf(entry, words) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, RESULTS_MAX)
      .map(({ entry }) => toResult(entry, words));
  };
}

interface Entry {
  readonly page: DocPage;
  readonly title: string;
  readonly identifier: string;
  readonly anchors: readonly { readonly id: string; readonly text: string; readonly folded: string }[];
  readonly text: string;
  readonly folded: string;
}

const fold = (text: string): string => text.toLowerCase();

/** Returns 0 if a word does not occur. */
function scoreOf(entry: Entry, words: readonly string[]): number {
  let total = 0;
  for (const word of words) {
    const score =
      (startsWord(entry.title, word) ? WEIGHTS.title : 0) +
      (startsWord(entry.identifier, word) ? WEIGHTS.identifier : 0) +
      (entry.anchors.some(({ folded }) => startsWord(folded, word)) ? WEIGHTS.anchor : 0) +
      (startsWord(entry.folded, word) ? WEIGHTS.text : 0);
    if (score === 0) return 0;
    total += score;
  }
  return total;
}

/** Whether a word of the text, or a part of an identifier with underscores, starts with `word`. */
const startsWord = (text: string, word: string): boolean => findWord(text, word) >= 0;

function findWord(text: string, word: string): number {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
    if (at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1] ?? "")) return at;
  return -1;
}

/** The URL contains the anchor of the first heading with all words, if there is one. */
function toResult({ page, anchors, text, folded }: Entry, words: readonly string[]) {
  const anchor = anchors.find((candidate) => words.every((word) => startsWord(candidate.folded, word)));
  const at = Math.max(0, ...words.map((word) => findWord(folded, word)).slice(0, 1));
  const start = at < SNIPPET_LENGTH / 2 ? 0 : text.indexOf(" ", at - SNIPPET_LENGTH / 2) + 1;
  const isCut = start + SNIPPET_LENGTH < text.length;
  const snippet = `${start > 0 ? "… " : ""}${text.slice(start, start + SNIPPET_LENGTH).trim()}${isCut ? " …" : ""}`;
  return {
    title: anchor === undefined ? page.title : `${page.title}: ${anchor.text}`,
    group: page.group,
    url: anchor === undefined ? page.path : `${page.path}#${anchor.id}`,
    snippet,
  };
}
