import { type Html, html, renderKeySection, renderNoticePage, renderPage } from "../../http/html/index.ts";
import { CUSTOMER_NAME_LENGTH_MAX, type IssuedKey, KEY_NAME_LENGTH_MAX, TURNSTILE_ACTION } from "../customers/index.ts";
import { LINK_MS } from "../sessions/index.ts";
import type { BotCheckField } from "./model.ts";
import { PLANS_PATH } from "./site.ts";

export const LINK_MINUTES = LINK_MS / 60_000;

/** Origin of Turnstile's script and frame. */
export const WIDGET_ORIGIN = "https://challenges.cloudflare.com";

export const hasWidget = (botCheck: BotCheckField): boolean => botCheck !== null && "siteKey" in botCheck;

/** A rejected form submission: the error message and the submitted values. */
export interface RejectedForm {
  readonly form: "sign-in" | "sign-up";
  readonly message: string;
  readonly email: string;
  readonly name: string;
}

/**
 * Renders the page for users who are not signed in. If `showsLinks`, the next page displays the sign-in link instead of
 * e-mailing it.
 */
export function renderSignedOutPage(options: {
  readonly botCheck: BotCheckField;
  readonly canSignIn: boolean;
  readonly showsLinks: boolean;
  readonly formId: string;
  readonly rejected?: RejectedForm;
}): string {
  const { botCheck, canSignIn, showsLinks, formId, rejected: rejectedForm } = options;
  const findRejectedForm = (form: RejectedForm["form"]) => (rejectedForm?.form === form ? rejectedForm : null);
  return renderPage({
    title: "Your account",
    head: hasWidget(botCheck)
      ? html`<script src="${WIDGET_ORIGIN}/turnstile/v0/api.js" async defer></script>`
      : undefined,
    body: html`<div class="columns">
<section>
<h2>Sign in</h2>
${canSignIn ? renderSignInForm(showsLinks, formId, findRejectedForm("sign-in")) : html`<p>Sign-in isn’t available because this server sends no e-mail. You can manage your account with your API key instead: see <a href="/docs">the documentation</a>.</p>`}
</section>
<section>
<h2>Sign up</h2>
${botCheck === null ? html`<p>Sign-up isn’t available on this server.</p>` : renderSignUpForm(botCheck, formId, findRejectedForm("sign-up"))}
</section>
</div>`,
  });
}

const renderEmailField = (id: string, value: string): Html => html`<label for="${id}">E-mail address</label>
<input id="${id}" name="email" type="email" autocomplete="email" maxlength="254" value="${value}" required>`;

const renderFormIdField = (formId: string): Html => html`<input type="hidden" name="form" value="${formId}">`;

const renderWarning = (rejectedForm: RejectedForm | null): Html | null =>
  rejectedForm === null ? null : html`<p class="warn" role="alert">${rejectedForm.message}</p>`;

const renderSignInForm = (showsLinks: boolean, formId: string, rejectedForm: RejectedForm | null): Html => html`<p>${
  showsLinks
    ? "This sandbox has no mail server, so the sign-in link is shown on the next page."
    : "We’ll e-mail you a sign-in link. You don’t need a password."
}</p>
${renderWarning(rejectedForm)}
<form method="post" action="/account/sign-in">
${renderFormIdField(formId)}
${renderEmailField("sign-in-email", rejectedForm?.email ?? "")}
<button type="submit">${showsLinks ? "Show sign-in link" : "Send sign-in link"}</button>
</form>`;

const renderSignUpForm = (
  botCheck: NonNullable<BotCheckField>,
  formId: string,
  rejectedForm: RejectedForm | null,
): Html => html`<p>The free plan costs nothing. <a href="${PLANS_PATH}">Compare plans</a></p>
  ${renderWarning(rejectedForm)}
<form method="post" action="/account/sign-up">
${renderFormIdField(formId)}
<label for="name">Name <span class="faint">(optional)</span></label>
<input id="name" name="name" autocomplete="name" maxlength="${CUSTOMER_NAME_LENGTH_MAX}" value="${rejectedForm?.name ?? ""}">
${renderEmailField("sign-up-email", rejectedForm?.email ?? "")}
${
  "siteKey" in botCheck
    ? html`<div class="cf-turnstile" data-sitekey="${botCheck.siteKey}" data-action="${TURNSTILE_ACTION}"></div>
<noscript><p class="warn">The bot check needs JavaScript. Everything else on this page works without it.</p></noscript>`
    : html`<input type="hidden" name="cf-turnstile-response" value="${botCheck.token}">`
}
<button type="submit">Create a free account</button>
</form>`;

/** Identical for every e-mail address, so that it does not reveal whether an account exists. */
export const renderLinkSentPage = (): string =>
  renderNoticePage(
    "Check your e-mail",
    `If there is an account with this address, we’ve sent it a sign-in link. The link works once and expires after ${LINK_MINUTES} minutes. We send at most one link per minute and, after three in a day, one every half hour. An earlier link works until we send a newer one.`,
  );

/** Displays the sign-in link in a sandbox without a mail server. @param token  null if no account has the e-mail address */
export const renderDisplayedLinkPage = (token: string | null): string =>
  token === null
    ? renderNoticePage("Account not found", "This sandbox has no account with this address. Please sign up first.")
    : renderNoticePage(
        "Your sign-in link",
        "This sandbox has no mail server, so the link is shown here instead of being e-mailed. A live server never shows it.",
        html`<p><a href="/account/enter?token=${token}">Sign in to your account</a></p>`,
      );

/**
 * Requires a click, because mail scanners follow links. Displays part of the account's e-mail address, so that users
 * notice if they received another user's link.
 */
export const renderConfirmSignInPage = (token: string, formId: string, email: string): string =>
  renderPage({
    title: "Sign in",
    body: html`<section class="narrow">
<p>Sign in to the account of <strong>${maskEmail(email)}</strong> in this browser.</p>
<form method="post" action="/account/enter">
<input type="hidden" name="token" value="${token}">
${renderFormIdField(formId)}
<button type="submit">Sign in</button>
</form>
</section>`,
  });

/** Keeps the first character and the domain, so that the owner recognises the address. */
const maskEmail = (email: string): string => email.replace(/^(.)[^@]*/u, "$1…");

/** Identical for unknown, used, replaced and expired links. */
export const renderExpiredLinkPage = (): string =>
  renderNoticePage(
    "This link does not work",
    `It may have been used already, been replaced by a newer link, or be older than ${LINK_MINUTES} minutes.`,
    html`<p><a href="/account">Get a new link</a></p>`,
  );

export const renderEmailSentPage = (): string =>
  renderNoticePage(
    "Check your e-mail",
    "We’ve sent you an e-mail with a link. Open the link to confirm your address and get your API key.",
  );

/** The page after a sign-up without e-mail verification. */
export const renderAccountCreatedPage = (newAccount: {
  readonly apiKey: string;
  readonly email: string;
  readonly formId: string;
  readonly canSignIn: boolean;
}): string =>
  renderPage({
    title: "Your account is ready",
    body: html`${renderKeySection(newAccount.apiKey, "This is your API key:")}
<section class="narrow">
${
  newAccount.canSignIn
    ? html`<p>Sign in to see your usage and manage your keys.</p>
<form method="post" action="/account/sign-in">
${renderFormIdField(newAccount.formId)}
<input type="hidden" name="email" value="${newAccount.email}">
<button type="submit">Sign in</button>
</form>`
    : html`<p>To get your usage and quotas, use the key with <code>GET /v1/customers/me</code>.</p>`
}
</section>`,
  });

export const renderNewKeyPage = (key: IssuedKey, intro: string): string =>
  renderPage({
    title: `New key: ${key.name}`,
    body: html`${renderKeySection(key.apiKey, intro)}
<p><a href="/account">Back to your account</a></p>`,
  });

/** Renders the key form with the submitted name and the error message. */
export const renderRejectedKeyPage = (
  title: string,
  rejectedForm: { readonly message: string; readonly csrf: string; readonly form: string; readonly name: string },
): string =>
  renderNoticePage(
    title,
    rejectedForm.message,
    html`<form method="post" action="/account/keys">
<input type="hidden" name="csrf" value="${rejectedForm.csrf}">
${renderFormIdField(rejectedForm.form)}
${renderKeyNameField(rejectedForm.name)}
<button type="submit">Create key</button>
</form>
<p><a href="/account">Back to your account</a></p>`,
  );

export const renderKeyNameField = (value: string): Html => html`<label for="key-name">Name of the new key</label>
<input id="key-name" name="name" maxlength="${KEY_NAME_LENGTH_MAX}" autocomplete="off" value="${value}" required>`;
