import type { WebPages } from "../../ports/web-page.ts";
import type { ExtractedPage, ExtractTask } from "./extract-page.ts";
import { type FetchPageOptions, fetchPage, PUBLIC_ADDRESSES } from "./fetch-page.ts";

/** Turns HTML into text; null if it cannot. Run on a worker thread: hostile HTML takes long to parse. */
export type ExtractText = (task: ExtractTask) => Promise<ExtractedPage | null>;

/** Module of the worker threads that `ExtractText` runs on. */
export const EXTRACT_MODULE = new URL("./extract-page.ts", import.meta.url);

const TITLE_CHARACTERS = 200;

/** Reads public web pages: fetches within the limits of `fetchPage`, and extracts the main text. */
export function createWebPages(extract: ExtractText, options: FetchPageOptions = { rule: PUBLIC_ADDRESSES }): WebPages {
  return {
    async read(url, signal) {
      const page = await fetchPage(url, signal, options);
      if (/^text\/plain/i.test(page.contentType)) {
        const title = page.body.slice(0, TITLE_CHARACTERS).split("\n")[0] ?? "";
        return { url: page.url, title, text: page.body, publishedAt: null };
      }
      const extracted = await extract({ html: page.body });
      if (extracted === null) throw new Error("The page could not be parsed.");
      return { url: page.url, ...extracted };
    },
  };
}
