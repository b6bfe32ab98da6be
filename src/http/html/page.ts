import { defineAsset, loadAsset } from "./assets.ts";
import { FAVICON_URL } from "./favicon.ts";
import { type Html, html } from "./html.ts";
import { STYLESHEET } from "./stylesheet.ts";

export const STYLESHEET_ASSET = defineAsset("style.css", STYLESHEET);
/** The script of the copy buttons (`renderCode`). */
export const COPY_SCRIPT_ASSET = loadAsset(new URL("./browser/copy.js", import.meta.url));
/** The script of the pages that show a new API key. */
export const KEY_SCRIPT_ASSET = loadAsset(new URL("./browser/key.js", import.meta.url));

const NAVIGATION = [
  { section: "markets", name: "Markets", url: "/markets" },
  { section: "track-record", name: "Track record", url: "/track-record" },
  { section: "docs", name: "Docs", url: "/docs" },
  { section: "pricing", name: "Pricing", url: "/pricing" },
  { section: "account", name: "Account", url: "/account" },
] as const;

/** The content of a page. `sendPage` renders it in the shared layout. */
export interface Page {
  readonly title: string;
  readonly body: Html;
  /**
   * Description for search engines and link previews. A page without a description is not indexed by search engines.
   */
  readonly description?: string;
  /** Path of the page without parameters, for the canonical URL. */
  readonly path?: string;
  /** Replaces the heading; must contain an `<h1>`. The default heading is the title. */
  readonly heading?: Html;
  /** The entry of the main navigation that the page belongs to. */
  readonly section?: (typeof NAVIGATION)[number]["section"];
  /** Content of a column left of the main content; above it on narrow screens. */
  readonly sidebar?: Html;
  /** Content of the header next to the navigation, for example a sign-out button. */
  readonly corner?: Html;
  /** Extra elements for the document's `<head>`, for example the stylesheet of one capability. */
  readonly head?: Html;
  /** URLs of scripts of this site. A page without them loads no script. */
  readonly scripts?: readonly string[];
  /** The only external origin whose scripts and frames the page may load; none by default. */
  readonly scriptOrigin?: string;
}

export interface PageSite {
  /** Whether the data is simulated; every page displays it. */
  readonly isSandbox: boolean;
  /** Public base URL of the service; null if not configured. */
  readonly publicUrl: string | null;
}

/** Renders a complete HTML document in the shared layout. */
export function renderDocument(page: Page, site: PageSite): string {
  const { title, body, heading, sidebar, head, scripts = [] } = page;
  const main = html`<main id="main" tabindex="-1">
${heading ?? html`<h1>${title}</h1>`}
${body}
</main>`;
  return String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Parallax</title>
${renderMetadata(page, site)}
<link rel="icon" href="${FAVICON_URL}" type="image/svg+xml">
<link rel="stylesheet" href="${STYLESHEET_ASSET.url}">
${head ?? null}
${scripts.map((url) => html`<script src="${url}" defer></script>`)}
</head>
<body>
${renderSiteHeader(page, site)}
${sidebar === undefined ? main : html`<div class="with-sidebar">${sidebar}${main}</div>`}
<footer class="site"><div>
<span>Parallax</span>
<nav aria-label="Footer"><a href="/track-record">Track record</a> <a href="/docs">Docs</a> <a href="/openapi.json">OpenAPI</a> <a href="/v1/health">Status</a></nav>
</div></footer>
</body>
</html>
`);
}

function renderSiteHeader({ section, corner }: Page, { isSandbox }: PageSite): Html {
  return html`<a class="skip" href="#main">Skip to content</a>
<header class="site"><div>
<a class="brand" href="/">Parallax</a>
${isSandbox ? html`<span class="badge" title="All markets on this server are simulated">Sandbox</span>` : null}
<nav aria-label="Main">
${NAVIGATION.map((entry) => html`<a href="${entry.url}"${entry.section === section ? html` aria-current="page"` : null}>${entry.name}</a>`)}
</nav>
${corner === undefined ? null : html`<div class="corner">${corner}</div>`}
</div></header>`;
}

/** Renders the elements that search engines and link previews read. */
function renderMetadata({ title, description, path }: Page, { publicUrl }: PageSite): Html {
  if (description === undefined) return html`<meta name="robots" content="noindex">`;
  const url = publicUrl === null || path === undefined ? null : `${publicUrl.replace(/\/+$/, "")}${path}`;
  return html`<meta name="description" content="${description}">
<meta property="og:type" content="website">
<meta property="og:site_name" content="Parallax">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
${
  url === null
    ? null
    : html`<meta property="og:url" content="${url}">
<link rel="canonical" href="${url}">`
}`;
}

/** Content-Security-Policy: styles, scripts and requests of this origin, nothing inline, no framing. */
export function createPagePolicy({ scripts = [], scriptOrigin }: Pick<Page, "scripts" | "scriptOrigin">): string {
  const scriptSources = [
    ...(scripts.length > 0 ? ["'self'"] : []),
    ...(scriptOrigin === undefined ? [] : [scriptOrigin]),
  ];
  return [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self'",
    ...(scriptSources.length > 0 ? [`script-src ${scriptSources.join(" ")}`] : []),
    ...(scripts.length > 0 ? ["connect-src 'self'"] : []),
    ...(scriptOrigin === undefined ? [] : [`frame-src ${scriptOrigin}`]),
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}
