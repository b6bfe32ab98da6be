import { html, keySection, noticePage, page } from "../../http/html/index.ts";

/** Asks for a press of the button: programs that look into letters follow links, and would use the token up. */
export function confirmPage(token: string, formId: string): string {
  return page({
    title: "Confirm your e-mail address",
    body: html`<section class="narrow">
<p>Press the button to open your account and see its API key. The key is shown once.</p>
<form method="post" action="/v1/customers/verify">
<input type="hidden" name="token" value="${token}">
<input type="hidden" name="form" value="${formId}">
<button type="submit">Confirm and show the key</button>
</form>
</section>`,
  });
}

export function issuedKeyPage(apiKey: string): string {
  return page({
    title: "Your API key",
    body: html`${keySection(apiKey, "Your account is open. This is its API key:")}
<p><a href="/account">Sign in to your account</a> to see its usage and its keys.</p>`,
  });
}

/** The same for a token that is unknown, used, replaced or too old: which one, nobody needs to know. */
export function expiredLinkPage(): string {
  return noticePage(
    "This link does not work",
    "It may have been used already, be older than a day, or have been replaced by a newer one. Sign up again to get another.",
  );
}
