import { createNoticePage, html, KEY_SCRIPTS, type Page, renderKeySection } from "../../../http/html/index.ts";

/** Requires a click, because mail scanners follow links and would consume the token. */
export function createConfirmPage(token: string, formId: string): Page {
  return {
    title: "Confirm your e-mail address",
    body: html`<section class="narrow">
<p>Confirm the address to open your account and see your API key. The key is shown only once.</p>
<form method="post" action="/v1/customers/verify">
<input type="hidden" name="token" value="${token}">
<input type="hidden" name="form" value="${formId}">
<button type="submit">Confirm and show the API key</button>
</form>
</section>`,
  };
}

export function createIssuedKeyPage(apiKey: string, origin: string, isSignedIn: boolean): Page {
  return {
    title: "Your API key",
    section: "account",
    scripts: KEY_SCRIPTS,
    body: html`${renderKeySection(apiKey, origin, "Your account is ready. This is your API key:")}
${
  isSignedIn
    ? html`<p><a class="button" href="/account">Go to your account</a></p>`
    : html`<p><a href="/account">Sign in to your account</a> to see your usage and manage your keys.</p>`
}`,
  };
}

/** Identical for unknown, used, replaced and expired tokens. */
export function createExpiredLinkPage(): Page {
  return createNoticePage(
    "This link does not work",
    "It may have been used already, been replaced by a newer link, or be older than 24 hours. Sign up again to get a new link.",
  );
}
