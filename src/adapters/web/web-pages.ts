import type { WebPageReader } from "../../ports/web-page.ts";
import type { ExtractedPage, ExtractTask } from "./extract-page.ts";
import { type FetchPageOptions, fetchPage } from "./fetch-page.ts";

/**
 * Extracts text from HTML; null if this fails. Runs on a worker thread, because untrusted HTML may take long to parse.
 */
export type ExtractText = (task: ExtractTask) => Promise<ExtractedPage | null>;

/** Module of the worker threads that `ExtractText` runs on. */
export const EXTRACT_MODULE = new URL("./extract-page.ts", import.meta.url);

const TITLE_CHARACTERS = 200;

/** Maximum number of pages waiting for the worker thread. Further pages are discarded, which bounds the memory. */
const WAITING_MAX = 50;

/** Reads public web pages: fetches within the limits of `fetchPage`, and extracts the main text, one page at a time. */
export function createWebPages(extract: ExtractText, options?: FetchPageOptions): WebPageReader {
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();
  const extractInTurn = (html: string, signal: AbortSignal): Promise<ExtractedPage | null> => {
    if (waiting >= WAITING_MAX) throw new Error("Too many pages are waiting to be parsed.");
    waiting++;
    const extracted = last.then(() => (signal.aborted ? null : extract({ html }))).finally(() => waiting--);
    last = extracted.catch(() => undefined);
    return extracted;
  };
  return {
    async read(url, signal) {
      const page = await fetchPage(url, signal, options);
      if (/^text\/plain/i.test(page.contentType)) {
        const title = page.body.slice(0, TITLE_CHARACTERS).split("\n")[0] ?? "";
        return { url: page.url, title, text: page.body, publishedAt: null };
      }
      const extracted = await extractInTurn(page.body, signal);
      if (extracted === null) throw new Error("The page could not be parsed.");
      return { url: page.url, ...extracted };
    },
  };
}
