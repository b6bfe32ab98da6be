import { createPagePolicy, html, type Page, renderDocument, UNKNOWN_ORIGIN } from "../../../http/html/index.ts";
import { DOCS_SCRIPTS, DOCS_STYLESHEET } from "./assets.ts";
import { renderNavigation } from "./navigation.ts";
import {
  type DocPage,
  findRequest,
  listPages,
  type PageContext,
  type PageSources,
  renderPageContent,
  writeIndex,
} from "./pages.ts";
import { renderRunForm } from "./run-form.ts";
import { SearchIndex, type SearchResult } from "./search.ts";

/**
 * Maximum number of sites whose rendered pages are kept. Without a public URL, a client chooses the port in the Host
 * header, so it could create any number of sites.
 */
const SITES_MAX = 4;

export interface RenderedPage {
  readonly contentType: string;
  /** Content-Security-Policy; null for texts. */
  readonly policy: string | null;
  readonly body: Buffer;
}

/** All pages of the documentation. Each is rendered at its first request and then served from memory. */
export class Library {
  readonly pages: readonly DocPage[];
  readonly #sources: PageSources;
  readonly #site: Parameters<typeof renderDocument>[1];
  /** Marks a body that never changes, so that it is compressed once. */
  readonly #keep: (body: Buffer) => Buffer;
  readonly #rendered = new Map<string, Map<string, RenderedPage>>();
  #searchIndex: SearchIndex | null = null;

  constructor(
    sources: PageSources,
    options: { readonly site: Parameters<typeof renderDocument>[1]; readonly keep: (body: Buffer) => Buffer },
  ) {
    this.#sources = sources;
    this.#site = options.site;
    this.#keep = options.keep;
    this.pages = listPages(sources);
  }

  /** Returns a page or, with the extension `.md`, its Markdown; null if the path is unknown. */
  find(path: string, context: PageContext): RenderedPage | null {
    const kept = this.#pagesOf(context);
    const known = kept.get(path);
    if (known !== undefined) return known;
    const rendered = this.#render(path, context);
    if (rendered !== null) kept.set(path, rendered);
    return rendered;
  }

  /** The index is shared by all visitors, so its text does not depend on the request. */
  search(query: string): readonly SearchResult[] {
    const context = { site: { origin: this.#site.publicUrl ?? UNKNOWN_ORIGIN, key: "" }, live: null };
    this.#searchIndex ??= new SearchIndex(
      this.pages.map((page) => ({ page, document: renderPageContent(page, context) })),
    );
    return this.#searchIndex.find(query);
  }

  #pagesOf({ site, live }: PageContext): Map<string, RenderedPage> {
    const id = JSON.stringify([site, live]);
    const kept = this.#rendered.get(id) ?? new Map();
    this.#rendered.set(id, kept);
    for (const oldest of this.#rendered.keys()) {
      if (this.#rendered.size <= SITES_MAX) break;
      this.#rendered.delete(oldest);
    }
    return kept;
  }

  #render(path: string, context: PageContext): RenderedPage | null {
    if (path === "/llms.txt") return this.#renderText("text/plain", writeIndex(this.pages, context.site));
    const page = this.pages.find((candidate) => candidate.path === path.replace(/\.md$/, ""));
    if (page === undefined) return null;
    return path.endsWith(".md")
      ? this.#renderText("text/markdown", page.write(context))
      : this.#renderPage(page, context);
  }

  #renderText(type: string, text: string): RenderedPage {
    return { contentType: `${type}; charset=utf-8`, policy: null, body: this.#keep(Buffer.from(text)) };
  }

  #renderPage(page: DocPage, context: PageContext): RenderedPage {
    const document = this.createPage(page, context);
    return {
      contentType: "text/html; charset=utf-8",
      policy: createPagePolicy(document),
      body: this.#keep(Buffer.from(renderDocument(document, this.#site))),
    };
  }

  /** Returns the parts of a page for the shared layout. */
  createPage(page: DocPage, context: PageContext): Page {
    const { site, live } = context;
    const { operation } = page;
    const { title, sections } = renderPageContent(page, context);
    const form =
      operation === null ? null : renderRunForm(operation, findRequest(this.#sources, operation, live), site);
    return {
      ...DOCS_PAGE,
      title,
      description: page.summary,
      path: page.path,
      sidebar: renderNavigation(this.pages, page.path),
      body: html`<div class="docs" data-sample-key="${site.key}">
${NARROW_LINK}
${sections.map(({ id, content }) => (id === REQUEST_SECTION ? html`${content}${form}` : content))}
<p class="small faint">API version ${this.#sources.api.version} · <a href="${page.path}.md">This page as Markdown</a></p>
</div>`,
    };
  }

  /** Returns the page with the results of a search. */
  createSearchPage(query: string): Page {
    const results = this.search(query);
    return {
      ...DOCS_PAGE,
      title: "Search",
      sidebar: renderNavigation(this.pages, null, query),
      body: html`<div class="docs">
${NARROW_LINK}
<p role="status">${results.length === 0 ? "No page" : results.length === 1 ? "One page" : `${results.length} pages`} for “${query}”.</p>
<ol class="results">
${results.map(({ title, group, url, snippet }) => html`<li><a href="${url}">${title}</a> <span class="faint small">${group}</span><p class="small">${snippet}</p></li>`)}
</ol>
</div>`,
    };
  }
}

/** Shown on narrow screens, where the navigation follows the content. */
const NARROW_LINK = html`<p class="narrow-link"><a href="#pages">Search and all pages</a></p>`;

/** The section with the samples of an operation. The form that runs the call follows it. */
const REQUEST_SECTION = "request";

const DOCS_PAGE = {
  section: "docs",
  scripts: DOCS_SCRIPTS,
  head: html`<link rel="stylesheet" href="${DOCS_STYLESHEET.url}">`,
} as const;
