import { type Html, html } from "./html.ts";
import { STYLE_URL } from "./style.ts";

export interface Page {
  readonly title: string;
  readonly body: Html;
  /** Beside the name at the top, such as a button to sign out. */
  readonly corner?: Html;
  /** For the document's head. */
  readonly head?: Html;
}

/** A whole document with the look that all pages share. */
export function page({ title, body, corner, head }: Page): string {
  return String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · Parallax</title>
<link rel="stylesheet" href="${STYLE_URL}">
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

/** A cell's text or content. */
type Cell = string | Html;

/**
 * A table that becomes a list of its rows on a phone. The roles say what each part is, because a browser forgets that
 * where the style shows it as something else.
 */
export function table(
  names: readonly string[],
  rows: readonly { readonly cells: readonly Cell[]; readonly isFaint?: boolean }[],
): Html {
  const cell = (content: Cell, index: number) =>
    index === 0
      ? html`<td role="cell">${content}</td>`
      : html`<td role="cell" data-label="${names[index] ?? ""}">${content}</td>`;
  return html`<table role="table">
<thead role="rowgroup"><tr role="row">${names.map((name) => html`<th role="columnheader" scope="col">${name}</th>`)}</tr></thead>
<tbody role="rowgroup">
${rows.map(({ cells, isFaint = false }) => html`<tr role="row" class="${isFaint ? "ended" : ""}">${cells.map(cell)}</tr>`)}
</tbody>
</table>`;
}

/** Shows a key, which is shown nowhere else. */
export function keySection(apiKey: string, before: string): Html {
  return html`<section class="narrow">
<p>${before}</p>
<code class="key">${apiKey}</code>
<p>Keep it now: it is shown only once. Send it with each request as <code>Authorization: Bearer</code> and the key.</p>
</section>`;
}

/** A page that says one thing. */
export const noticePage = (title: string, text: string, more: Html | null = null): string =>
  page({
    title,
    body: html`<section class="narrow">
<p>${text}</p>
${more ?? html`<p><a href="/account">To the account page</a></p>`}
</section>`,
  });
