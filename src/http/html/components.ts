import { type Html, html } from "./html.ts";
import { COPY_SCRIPT_ASSET, KEY_SCRIPT_ASSET, type Page } from "./page.ts";

/**
 * Renders a table; on narrow screens the stylesheet displays each row as a list. The ARIA roles are explicit because
 * browsers drop the implicit table roles when `display` is changed.
 */
export function renderTable(
  columns: readonly string[],
  rows: readonly { readonly cells: readonly (string | Html)[]; readonly isFaint?: boolean }[],
): Html {
  const renderCell = (content: string | Html, index: number) =>
    index === 0
      ? html`<td role="cell">${content}</td>`
      : html`<td role="cell" data-label="${columns[index] ?? ""}">${content}</td>`;
  return html`<table role="table">
<thead role="rowgroup"><tr role="row">${columns.map((name) => html`<th role="columnheader" scope="col">${name}</th>`)}</tr></thead>
<tbody role="rowgroup">
${rows.map(({ cells, isFaint = false }) => html`<tr role="row" class="${isFaint ? "faint" : ""}">${cells.map(renderCell)}</tr>`)}
</tbody>
</table>`;
}

/**
 * Renders text to copy: code, a command or a key. The button appears if the page loads `COPY_SCRIPT_ASSET`; without a
 * script, one click selects the text.
 *
 * @param id  unique in the document
 */
export const renderCode = (id: string, code: string): Html => html`<div class="code">
<pre tabindex="0"><code id="${id}">${code}</code></pre>
<button type="button" class="copy quiet" data-copy="${id}" hidden>Copy</button>
</div>`;

/**
 * Renders a section with a new API key and an example request. The page needs `KEY_SCRIPTS`.
 *
 * @param origin  origin of the service
 */
export function renderKeySection(apiKey: string, origin: string, intro: string): Html {
  return html`<section>
<p>${intro}</p>
<div data-session-key="">${renderCode("api-key-text", apiKey)}</div>
<p>Copy it now: you won’t be able to see it again.</p>
<h2>Send your first request</h2>
${renderCode("example-request", `curl "${origin}/v1/markets?limit=1" \\\n  -H "Authorization: Bearer ${apiKey}"`)}
</section>`;
}

/** A page with a title and one message. */
export const createNoticePage = (title: string, text: string, extraContent: Html | null = null): Page => ({
  title,
  body: html`<section class="narrow">
<p>${text}</p>
${extraContent ?? html`<p><a href="/account">Go to your account</a></p>`}
</section>`,
});

/** The scripts of a page that displays a key or code. */
export const COPY_SCRIPTS: readonly string[] = [COPY_SCRIPT_ASSET.url];

/** The scripts of a page that displays a new key. */
export const KEY_SCRIPTS: readonly string[] = [COPY_SCRIPT_ASSET.url, KEY_SCRIPT_ASSET.url];
