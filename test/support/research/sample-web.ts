import { extractPage } from "../../../src/adapters/web/extract-page.ts";
import type { WebPageReader } from "../../../src/ports/web-page.ts";
import type { SearchHit, WebSearch } from "../../../src/ports/web-search.ts";
import type { PageParts } from "./injections.ts";

const NOUNS =
  "committee coalition ministry council faction lobby office chamber speaker hearing session calendar budget clause vote pier dock cargo tariff permit union ferry canal bridge quay storage crane fleet customs warehouse tender audit survey district mayor clerk witness lawyer engineer reporter".split(
    " ",
  );
const VERBS =
  "met published discussed received moved asked thanked reviewed described visited noted listed opened closed measured counted compared planned printed repaired".split(
    " ",
  );
const FOR_WORDS = "gained ahead progress agreed momentum".split(" ");
const AGAINST_WORDS = "lost behind setback refused delay".split(" ");

/** A generator of numbers in [0, 1) from a seed (mulberry32). */
export function seededUniform(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** An article of random sentences, with up to two that speak for or against YES. */
export function sampleArticle(uniform: () => number, lean: number): PageParts {
  const pick = (words: readonly string[]): string => words[Math.floor(uniform() * words.length)] ?? "";
  const sentence = (signal: string): string =>
    `The ${pick(NOUNS)} ${pick(NOUNS)} ${pick(VERBS)} the ${pick(NOUNS)} ${signal} of the ${pick(NOUNS)} and ${pick(VERBS)} ${Math.floor(uniform() * 900)} ${pick(NOUNS)} papers about the harbour ${pick(NOUNS)}.`;
  const signals = Array.from({ length: Math.floor(uniform() * 3) }, () =>
    sentence(pick(uniform() < lean ? FOR_WORDS : AGAINST_WORDS)),
  );
  return {
    title: `Harbour bill: ${pick(NOUNS)} and ${pick(NOUNS)}`,
    head: "",
    paragraphs: Array.from(
      { length: 5 },
      (_, index) => `<p>${[sentence("plan"), signals[index] ?? sentence("draft"), sentence("study")].join(" ")}</p>`,
    ),
  };
}

export const pageHtml = ({ title, head, paragraphs }: PageParts): string =>
  `<!doctype html><html><head><title>${title}</title>${head}</head><body><nav><a href="/">Home</a></nav><article><h1>Harbour bill</h1>${paragraphs.join("\n")}</article></body></html>`;

/** Pages in memory behind the ports of search and pages. Requests for other addresses reject and are kept. */
export function sampleWeb(pages: ReadonlyMap<string, string>): {
  readonly search: WebSearch;
  readonly pages: WebPageReader;
  readonly queries: readonly string[];
  readonly requested: readonly string[];
} {
  const queries: string[] = [];
  const requested: string[] = [];
  return {
    queries,
    requested,
    search: {
      name: "sample",
      async search({ query, hitsMax }) {
        queries.push(query);
        return [...pages.keys()]
          .map((url): SearchHit => ({ url, title: "Harbour bill", publishedAt: null }))
          .slice(0, hitsMax);
      },
    },
    pages: {
      async read(url) {
        requested.push(url);
        const html = pages.get(url);
        if (html === undefined) throw new Error("There is no such page.");
        return { url, ...extractCached(html) };
      },
    },
  };
}

const extracted = new Map<string, ReturnType<typeof extractPage>>();

/** Extracts each page once, because pairs share most pages. */
function extractCached(html: string): ReturnType<typeof extractPage> {
  const page = extracted.get(html) ?? extractPage(html);
  extracted.set(html, page);
  return page;
}
