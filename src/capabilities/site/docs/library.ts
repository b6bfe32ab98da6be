import {
  COPY_SCRIPTS,
  createPagePolicy,
  html,
  loadAsset,
  type Page,
  renderDocument,
  UNKNOWN_ORIGIN,
} from "../../../http/html/index.ts";
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
import { createSearch } from "./search.ts";

export const DOCS_STYLESHEET = loadAsset(new URL("./browser/docs.css", import.meta.url));
export const DOCS_SCRIPT = loadAsset(new URL("./browser/docs.js", import.meta.url));

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

export type DocsLibrary = ReturnType<typeof createLibrary>;

/**
 * All pages of the documentation. Each is rendered at its first request and then served from memory.
 *
 * @param options.keep  marks a body that never changes, so that it is compressed once
 */
export function createLibrary(
  sources: PageSources,
  { site, keep }: { readonly site: Parameters<typeof renderDocument>[1]; readonly keep: (body: Buffer) => Buffer },
) {
  const pages = listPages(sources);
  const renderedBySite = new Map<string, Map<string, RenderedPage>>();
  let search: ReturnType<typeof createSearch> | null = null;

  const pagesOf = ({ site: visited, live }: PageContext): Map<string, RenderedPage> => {
    const id = JSON.stringify([visited, live]);
    const kept = renderedBySite.get(id) ?? new Map();
    renderedBySite.set(id, kept);
    for (const oldest of renderedBySite.keys()) {
      if (renderedBySite.size <= SITES_MAX) break;
      renderedBySite.delete(oldest);
    }
    return kept;
  };
  const renderText = (type: string, text: string): RenderedPage => ({
    contentType: `${type}; charset=utf-8`,
    policy: null,
    body: keep(Buffer.from(text)),
  });
  const render = (path: string, context: PageContext): RenderedPage | null => {
    if (path === "/llms.txt") return renderText("text/plain", writeIndex(pages, context.site));
    const page = pages.find((candidate) => candidate.path === path.replace(/\.md$/, ""));
    if (page === undefined) return null;
    if (path.endsWith(".md")) return renderText("text/markdown", page.write(context));
    const document = createPage(sources, pages, page, context);
    return {
      contentType: "text/html; charset=utf-8",
      policy: createPagePolicy(document),
      body: keep(Buffer.from(renderDocument(document, site))),
    };
  };

  return {
    /** Returns a page or, with the extension `.md`, its Markdown; null if the path is unknown. */
    find(path: string, context: PageContext): RenderedPage | null {
      const kept = pagesOf(context);
      const rendered = kept.get(path) ?? render(path, context);
      if (rendered !== null) kept.set(path, rendered);
      return rendered;
    },
    /** Returns the page with the results of a search. All visitors share the index, so it contains no Host header. */
    createSearchPage(query: string): Page {
      const context = { site: { origin: site.publicUrl ?? UNKNOWN_ORIGIN, key: "" }, live: null };
      search ??= createSearch(pages.map((page) => ({ page, document: renderPageContent(page, context) })));
      const results = search(query);
      return {
        ...DOCS_PAGE,
        title: "Search",
        sidebar: renderNavigation(pages, null, query),
        body: html`<div class="docs">
${NARROW_LINK}
<p role="status">${results.length === 0 ? "No page" : results.length === 1 ? "One page" : `${results.length} pages`} for “${query}”.</p>
<ol class="results">
${results.map(({ title, group, url, snippet }) => html`<li><a href="${url}">${title}</a> <span class="faint small">${group}</span><p class="small">${snippet}</p></li>`)}
</ol>
</div>`,
      };
    },
  };
}

/** Creates a page for the shared layout. */
function createPage(sources: PageSources, pages: readonly DocPage[], page: DocPage, context: PageContext): Page {
  const { site, live } = context;
  const { operation } = page;
  const { title, sections } = renderPageContent(page, context);
  const form = operation === null ? null : renderRunForm(operation, findRequest(sources, operation, live), site);
  return {
    ...DOCS_PAGE,
    title,
    description: page.summary,
    path: page.path,
    sidebar: renderNavigation(pages, page.path),
    body: html`<div class="docs" data-sample-key="${site.key}">
${NARROW_LINK}
${sections.map(({ id, content }) => (id === REQUEST_SECTION ? html`${content}${form}` : content))}
<p class="small faint">API version ${sources.api.version} · <a href="${page.path}.md">This page as Markdown</a></p>
</div>`,
  };
}

/** Link for narrow screens, where the navigation follows the content. */
const NARROW_LINK = html`<p class="narrow-link"><a href="#pages">Search and all pages</a></p>`;

/** The section with the samples of an operation. The form that runs the call follows it. */
const REQUEST_SECTION = "request";

const DOCS_PAGE = {
  section: "docs",
  scripts: [...COPY_SCRIPTS, DOCS_SCRIPT.url],
  head: html`<link rel="stylesheet" href="${DOCS_STYLESHEET.url}">`,
} as const;
