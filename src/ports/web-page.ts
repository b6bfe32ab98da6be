/** The readable content of a web page, without markup. All texts come from a third party. */
export interface WebPage {
  /** Address after redirects. */
  readonly url: string;
  readonly title: string;
  readonly text: string;
  /** Publication time according to the page, Unix milliseconds; null if unknown. */
  readonly publishedAt: number | null;
}

export interface WebPageReader {
  /** Rejects if the address is not public, if the page is too large or not text, or if the signal aborts. */
  read(url: string, signal: AbortSignal): Promise<WebPage>;
}
