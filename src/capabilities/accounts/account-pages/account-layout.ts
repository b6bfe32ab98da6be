import { type Html, html, loadAsset, type Page } from "../../../http/html/index.ts";
import { type FormSecrets, renderHiddenFields } from "./fields.ts";

const TABS = [
  { url: "/account", name: "Overview" },
  { url: "/account/keys", name: "API keys" },
  { url: "/account/usage", name: "Usage" },
  { url: "/account/requests", name: "Requests" },
  { url: "/account/settings", name: "Settings" },
] as const;

type AccountPath = (typeof TABS)[number]["url"];

/** Styles that only the account pages need. */
export const ACCOUNT_STYLES = loadAsset(new URL("./browser/account.css", import.meta.url));

/** The link to the stylesheet of the account pages. */
export const ACCOUNT_HEAD = html`<link rel="stylesheet" href="${ACCOUNT_STYLES.url}">`;

/** A page for a signed-in customer, with the account navigation. */
export function createSignedInPage(page: {
  readonly title: string;
  readonly current: AccountPath;
  readonly form: FormSecrets;
  readonly body: Html;
  readonly scripts?: readonly string[];
}): Page {
  const { title, current, form, body, scripts } = page;
  return {
    title,
    section: "account",
    scripts,
    head: ACCOUNT_HEAD,
    corner: html`<form method="post" action="/account/sign-out">
<input type="hidden" name="csrf" value="${form.token}">
<button class="quiet" type="submit">Sign out</button>
</form>`,
    body: html`<nav class="tabs" aria-label="Account">
${TABS.map(({ url, name }) => html`<a href="${url}"${url === current ? html` aria-current="page"` : null}>${name}</a>`)}
</nav>
${body}`,
  };
}

/** A page with one form that confirms a destructive action. It works without a script. */
export function createConfirmationPage(page: {
  readonly title: string;
  readonly current: AccountPath;
  readonly form: FormSecrets;
  readonly action: string;
  readonly text: Html;
  /** Fields besides the hidden ones. */
  readonly fields?: Html | null;
  readonly button: string;
}): Page {
  const { title, current, form, action, text, fields = null, button } = page;
  return createSignedInPage({
    title,
    current,
    form,
    body: html`<section class="narrow">
${text}
<form method="post" action="${action}">
${renderHiddenFields(form)}
${fields}
<p class="actions"><button class="danger" type="submit">${button}</button> <a href="${current}">Cancel</a></p>
</form>
</section>`,
  });
}
