import { type Html, html, keySection, noticePage, page } from "../../http/html/index.ts";
import { CUSTOMER_NAME_LENGTH_MAX, type IssuedKey, KEY_NAME_LENGTH_MAX, TURNSTILE_ACTION } from "../customers/index.ts";
import { LINK_MS } from "../sessions/index.ts";
import type { BotCheckField } from "./model.ts";
import { PLANS_PATH } from "./site.ts";

export const LINK_MINUTES = LINK_MS / 60_000;

/** Where Turnstile's script and frame come from. */
export const WIDGET_ORIGIN = "https://challenges.cloudflare.com";

export const hasWidget = (botCheck: BotCheckField): boolean => botCheck !== null && "siteKey" in botCheck;

/** A rejected form: the reason and the submitted values. */
export interface RejectedForm {
  readonly form: "sign-in" | "sign-up";
  readonly message: string;
  readonly email: string;
  readonly name: string;
}

/** The page for users who are not signed in. `showsLinks`: no e-mail is sent; the next page displays the link. */
export function signedOutPage(options: {
  readonly botCheck: BotCheckField;
  readonly canSignIn: boolean;
  readonly showsLinks: boolean;
  readonly formId: string;
  readonly rejected?: RejectedForm;
}): string {
  const { botCheck, canSignIn, showsLinks, formId, rejected } = options;
  const rejectedAs = (form: RejectedForm["form"]) => (rejected?.form === form ? rejected : null);
  return page({
    title: "Your account",
    head: hasWidget(botCheck)
      ? html`<script src="${WIDGET_ORIGIN}/turnstile/v0/api.js" async defer></script>`
      : undefined,
    body: html`<div class="columns">
<section>
<h2>Sign in</h2>
${canSignIn ? signInForm(showsLinks, formId, rejectedAs("sign-in")) : html`<p>Sign-in isn’t available because this server sends no e-mail. You can manage your account with your API key instead: see <a href="/docs">the documentation</a>.</p>`}
</section>
<section>
<h2>Sign up</h2>
${botCheck === null ? html`<p>Sign-up isn’t available on this server.</p>` : signUpForm(botCheck, formId, rejectedAs("sign-up"))}
</section>
</div>`,
  });
}

const emailField = (id: string, value: string): Html => html`<label for="${id}">E-mail address</label>
<input id="${id}" name="email" type="email" autocomplete="email" maxlength="254" value="${value}" required>`;

const formField = (formId: string): Html => html`<input type="hidden" name="form" value="${formId}">`;

const warning = (rejected: RejectedForm | null): Html | null =>
  rejected === null ? null : html`<p class="warn" role="alert">${rejected.message}</p>`;

const signInForm = (showsLinks: boolean, formId: string, rejected: RejectedForm | null): Html => html`<p>${
  showsLinks
    ? "This sandbox has no mail server, so the sign-in link is shown on the next page."
    : "We’ll e-mail you a sign-in link. You don’t need a password."
}</p>
${warning(rejected)}
<form method="post" action="/account/sign-in">
${formField(formId)}
${emailField("sign-in-email", rejected?.email ?? "")}
<button type="submit">${showsLinks ? "Show sign-in link" : "Send sign-in link"}</button>
</form>`;

const signUpForm = (
  botCheck: NonNullable<BotCheckField>,
  formId: string,
  rejected: RejectedForm | null,
): Html => html`<p>The free plan costs nothing. <a href="${PLANS_PATH}">Compare plans</a></p>
  ${warning(rejected)}
<form method="post" action="/account/sign-up">
${formField(formId)}
<label for="name">Name <span class="faint">(optional)</span></label>
<input id="name" name="name" autocomplete="name" maxlength="${CUSTOMER_NAME_LENGTH_MAX}" value="${rejected?.name ?? ""}">
${emailField("sign-up-email", rejected?.email ?? "")}
${
  "siteKey" in botCheck
    ? html`<div class="cf-turnstile" data-sitekey="${botCheck.siteKey}" data-action="${TURNSTILE_ACTION}"></div>
<noscript><p class="warn">The bot check needs JavaScript. Everything else on this page works without it.</p></noscript>`
    : html`<input type="hidden" name="cf-turnstile-response" value="${botCheck.token}">`
}
<button type="submit">Create a free account</button>
</form>`;

/** The same page for every address, so that it does not reveal whether an account exists. */
export const linkSentPage = (): string =>
  noticePage(
    "Check your e-mail",
    `If there is an account with this address, we’ve sent it a sign-in link. The link works once and expires after ${LINK_MINUTES} minutes. We send at most one link per minute and, after three in a day, one every half hour. An earlier link works until we send a newer one.`,
  );

/** Displays the link instead of e-mailing it; only in a sandbox without a mail server. */
export const displayedLinkPage = (token: string | null): string =>
  token === null
    ? noticePage("Account not found", "This sandbox has no account with this address. Please sign up first.")
    : noticePage(
        "Your sign-in link",
        "This sandbox has no mail server, so the link is shown here instead of being e-mailed. A live server never shows it.",
        html`<p><a href="/account/enter?token=${token}">Sign in to your account</a></p>`,
      );

/**
 * Requires a click, like the page that verifies an address, because mail scanners follow links. It displays part of
 * the account's address, so that users notice if they received another user's link.
 */
export const confirmSignInPage = (token: string, formId: string, email: string): string =>
  page({
    title: "Sign in",
    body: html`<section class="narrow">
<p>Sign in to the account of <strong>${maskEmail(email)}</strong> in this browser.</p>
<form method="post" action="/account/enter">
<input type="hidden" name="token" value="${token}">
${formField(formId)}
<button type="submit">Sign in</button>
</form>
</section>`,
  });

/** Enough of the address for its owner to recognise it. */
const maskEmail = (email: string): string => email.replace(/^(.)[^@]*/u, "$1…");

/** The same page for an unknown, used, replaced or expired link. */
export const expiredLinkPage = (): string =>
  noticePage(
    "This link does not work",
    `It may have been used already, been replaced by a newer link, or be older than ${LINK_MINUTES} minutes.`,
    html`<p><a href="/account">Get a new link</a></p>`,
  );

export const emailSentPage = (): string =>
  noticePage(
    "Check your e-mail",
    "We’ve sent you an e-mail with a link. Open the link to confirm your address and get your API key.",
  );

/** The page after a sign-up without e-mail verification. */
export const accountOpenedPage = (opened: {
  readonly apiKey: string;
  readonly email: string;
  readonly formId: string;
  readonly canSignIn: boolean;
}): string =>
  page({
    title: "Your account is ready",
    body: html`${keySection(opened.apiKey, "This is your API key:")}
<section class="narrow">
${
  opened.canSignIn
    ? html`<p>Sign in to see your usage and manage your keys.</p>
<form method="post" action="/account/sign-in">
${formField(opened.formId)}
<input type="hidden" name="email" value="${opened.email}">
<button type="submit">Sign in</button>
</form>`
    : html`<p>To get your usage and quotas, use the key with <code>GET /v1/customers/me</code>.</p>`
}
</section>`,
  });

export const newKeyPage = (key: IssuedKey, intro: string): string =>
  page({
    title: `New key: ${key.name}`,
    body: html`${keySection(key.apiKey, intro)}
<p><a href="/account">Back to your account</a></p>`,
  });

/** The key form again after a rejected submission. */
export const rejectedKeyPage = (
  title: string,
  rejected: { readonly message: string; readonly csrf: string; readonly form: string; readonly name: string },
): string =>
  noticePage(
    title,
    rejected.message,
    html`<form method="post" action="/account/keys">
<input type="hidden" name="csrf" value="${rejected.csrf}">
${formField(rejected.form)}
${keyNameField(rejected.name)}
<button type="submit">Create key</button>
</form>
<p><a href="/account">Back to your account</a></p>`,
  );

export const keyNameField = (value: string): Html => html`<label for="key-name">Name of the new key</label>
<input id="key-name" name="name" maxlength="${KEY_NAME_LENGTH_MAX}" autocomplete="off" value="${value}" required>`;
