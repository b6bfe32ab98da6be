import { type Html, html } from "../../../http/html/index.ts";
import type { DocPage } from "./pages.ts";

/** Renders the search field and the list of all pages, by group. */
export function renderNavigation(pages: readonly DocPage[], currentPath: string | null, query = ""): Html {
  const groups = [...new Set(pages.map(({ group }) => group))];
  const renderLink = ({ path, title, operation }: DocPage): Html => {
    const badge = operation === null ? null : html`<span class="method">${operation.method}</span> `;
    return path === currentPath
      ? html`<li><a href="${path}" aria-current="page">${badge}${title}</a></li>`
      : html`<li><a href="${path}">${badge}${title}</a></li>`;
  };
  return html`<div class="sidebar" id="pages">
<form class="search" action="/docs/search" role="search">
<label class="visually-hidden" for="docs-search">Search the documentation</label>
<input id="docs-search" type="search" name="q" placeholder="Search" value="${query}" maxlength="${SEARCH_LENGTH_MAX}">
</form>
<nav class="pages" aria-label="Documentation">
${groups.map(
  (group) => html`<h2>${group}</h2>
<ul>
${pages.filter((page) => page.group === group).map(renderLink)}
</ul>`,
)}
</nav>
</div>`;
}

/** Maximum length of a search text. */
export const SEARCH_LENGTH_MAX = 200;
