import { html, renderKeySection, renderNoticePage, renderPage } from "../../http/html/index.ts";

/** Requires a click, because mail scanners follow links and would consume the token. */
export function renderConfirmPage(token: string, formId: string): string {
  return renderPage({
    title: "Confirm your e-mail address",
    body: html`<section class="narrow">
<p>Confirm the address to open your account and see your API key. The key is shown only once.</p>
<form method="post" action="/v1/customers/verify">
<input type="hidden" name="token" value="${token}">
<input type="hidden" name="form" value="${formId}">
<button type="submit">Confirm and show the API key</button>
</form>
</section>`,
  });
}

export function renderIssuedKeyPage(apiKey: string): string {
  return renderPage({
    title: "Your API key",
    body: html`${renderKeySection(apiKey, "Your account is ready. This is your API key:")}
    <p><a href="/account">Sign in to your account</a> to see your usage and manage your keys.</p>`,
  });
}

/** Identical for unknown, used, replaced and expired tokens. */
export function renderExpiredLinkPage(): string {
  return renderNoticePage(
    "This link does not work",
    "It may have been used already, been replaced by a newer link, or be older than 24 hours. Sign up again to get a new link.",
  );
}
