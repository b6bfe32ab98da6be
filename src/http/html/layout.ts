import { type Html, html } from "./html.ts";
import { STYLESHEET_URL } from "./stylesheet.ts";

export interface Page {
  readonly title: string;
  readonly body: Html;
  /** Content of the header beside the brand, for example a sign-out button. */
  readonly corner?: Html;
  /** Extra elements for the document's `<head>`. */
  readonly head?: Html;
}

/** Renders a complete HTML document in the shared layout. */
export function renderPage({ title, body, corner, head }: Page): string {
  return String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · Parallax</title>
<link rel="stylesheet" href="${STYLESHEET_URL}">
${head ?? null}
</head>
<body>
<header><a class="brand" href="/account">Parallax</a>${corner ?? null}</header>
<main>
<h1>${title}</h1>
${body}
</main>
<footer><a href="/docs">Documentation</a></footer>
</body>
</html>
`);
}

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

/** Renders a section with a new API key, which no other page displays. */
export function renderKeySection(apiKey: string, intro: string): Html {
  return html`<section class="narrow">
<p>${intro}</p>
<code class="key">${apiKey}</code>
<p>Copy it now: you won’t be able to see it again. Send it with every request in the header <code>Authorization: Bearer &lt;your key&gt;</code>.</p>
</section>`;
}

/** Renders a page with a title and one message. */
export const renderNoticePage = (title: string, text: string, extraContent: Html | null = null): string =>
  renderPage({
    title,
    body: html`<section class="narrow">
<p>${text}</p>
${extraContent ?? html`<p><a href="/account">Go to your account</a></p>`}
</section>`,
  });
