import { type Html, html } from "../../lib/html.ts";
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
