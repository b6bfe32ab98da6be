import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import type { WebPage } from "../../ports/web-page.ts";
import type { WorkerModule } from "../../ports/worker-pool.ts";
import { parseDate } from "./parse-date.ts";
import { reduceHtml } from "./reduce-html.ts";

/** The input of `runTask`: HTML of a third party. */
export interface ExtractTask {
  readonly html: string;
}

export type ExtractedPage = Omit<WebPage, "url">;

const ELEMENTS_MAX = 20_000;
const TITLE_CHARACTERS = 300;
const TEXT_CHARACTERS = 40_000;
/** Elements whose text forms a separate block. */
const BLOCKS = /^(?:p|li|h[1-6]|blockquote|pre|td|th|figcaption|dt|dd|div|section|article|br)$/i;
const DATE_SELECTORS: readonly (readonly [selector: string, attribute: string])[] = [
  ['meta[property="article:published_time"]', "content"],
  ['meta[name="date"], meta[name="pubdate"], meta[name="dc.date"], meta[itemprop="datePublished"]', "content"],
  ["time[datetime]", "datetime"],
];
const TEXT_NODE = 3;
const JSON_DATE = /"datePublished"\s*:\s*"([^"]{8,40})"/;

/** The parts of a DOM node that are read here. */
interface DomNode {
  readonly nodeType: number;
  readonly nodeName: string;
  readonly textContent: string | null;
  readonly childNodes: Iterable<DomNode>;
}

/** Returns the title, the main text without markup, and the date of a page. */
export function extractPage(html: string): ExtractedPage {
  const jsonDate = JSON_DATE.exec(html)?.[1];
  const { document } = parseHTML(reduceHtml(html));
  if (document.documentElement === null) return { title: "", text: "", publishedAt: null };
  const dates = [
    ...DATE_SELECTORS.map(([selector, attribute]) => document.querySelector(selector)?.getAttribute(attribute)),
    jsonDate,
  ];
  const publishedAt = dates.map(parseDate).find((at) => at !== null) ?? null;
  const title = (document.querySelector("title")?.textContent ?? "").trim().slice(0, TITLE_CHARACTERS);
  // linkedom implements the parts of the DOM that Readability uses.
  const article = new Readability(document as unknown as ConstructorParameters<typeof Readability>[0], {
    maxElemsToParse: ELEMENTS_MAX,
  }).parse();
  const text = article?.content ? blockText(article.content) : "";
  return { title: title || (article?.title ?? ""), text: text.slice(0, TEXT_CHARACTERS), publishedAt };
}

/** Returns the text of the article with one line per block, so that sentences of different blocks are not joined. */
function blockText(content: string): string {
  const { document } = parseHTML(`<html><body>${content}</body></html>`);
  const lines: string[] = [""];
  const walk = (node: DomNode): void => {
    if (node.nodeType === TEXT_NODE) lines[lines.length - 1] += node.textContent ?? "";
    const isBlock = BLOCKS.test(node.nodeName);
    if (isBlock) lines.push("");
    for (const child of node.childNodes) walk(child);
    if (isBlock) lines.push("");
  };
  for (const child of document.body.childNodes) walk(child as unknown as DomNode);
  return lines
    .map((line) => line.replace(/\s+/g, " ").trim())
    .filter((line) => line !== "")
    .join("\n");
}

/** Entry point of the worker threads (`ports/worker-pool.ts`). The result is null if the page cannot be parsed. */
export function runTask({ html }: ExtractTask): ReturnType<WorkerModule<ExtractTask, ExtractedPage | null>["runTask"]> {
  try {
    return { result: extractPage(html), transfer: [] };
  } catch {
    return { result: null, transfer: [] };
  }
}
