import {
  createNoticePage,
  type Html,
  html,
  KEY_SCRIPTS,
  type Page,
  renderKeySection,
} from "../../../http/html/index.ts";
import {
  CUSTOMER_NAME_LENGTH_MAX,
  EMAIL_CHANGE_LINK_MS,
  type IssuedKey,
  maskEmail,
  TURNSTILE_ACTION,
} from "../customers/index.ts";
import { REAUTHENTICATION_MS, SIGN_IN_LINK_MS } from "../sessions/index.ts";
import { ACCOUNT_HEAD } from "./account-layout.ts";
import {
  type FormSecrets,
  type RejectedForm,
  renderField,
  renderFormError,
  renderFormIdField,
  renderHiddenFields,
} from "./fields.ts";
import type { BotCheckField } from "./model.ts";
import { PLANS_PATH } from "./site.ts";

export const SIGN_IN_LINK_MINUTES = SIGN_IN_LINK_MS / 60_000;

/** Origin of Turnstile's script and frame. */
const WIDGET_ORIGIN = "https://challenges.cloudflare.com";

const hasWidget = (botCheck: BotCheckField): boolean => botCheck !== null && "siteKey" in botCheck;

/** A rejected form of the signed-out page. */
export interface RejectedSignIn extends RejectedForm {
  readonly form: "sign-in" | "sign-up";
}

/**
 * Renders the page for users who are not signed in. If `showsLinks`, the next page displays the sign-in link instead of
 * e-mailing it.
 */
export function createSignedOutPage(options: {
  readonly botCheck: BotCheckField;
  readonly canSignIn: boolean;
  readonly showsLinks: boolean;
  readonly formId: string;
  readonly rejected?: RejectedSignIn;
}): Page {
  const { botCheck, canSignIn, showsLinks, formId, rejected: rejectedForm } = options;
  const findRejectedForm = (form: RejectedSignIn["form"]) => (rejectedForm?.form === form ? rejectedForm : null);
  return {
    title: "Your account",
    section: "account",
    scriptOrigin: hasWidget(botCheck) ? WIDGET_ORIGIN : undefined,
    head: html`${ACCOUNT_HEAD}
${hasWidget(botCheck) ? html`<script src="${WIDGET_ORIGIN}/turnstile/v0/api.js" async defer></script>` : null}`,
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
  };
}

const renderEmailField = (id: string, rejected: RejectedForm | null): Html =>
  renderField({ id, name: "email", label: "E-mail", type: "email", autocomplete: "email", lengthMax: 254, rejected });

const renderSignInForm = (showsLinks: boolean, formId: string, rejectedForm: RejectedForm | null): Html => html`<p>${
  showsLinks
    ? "This sandbox has no mail server, so the sign-in link is shown on the next page."
    : "We’ll e-mail you a sign-in link. You don’t need a password."
}</p>
${renderFormError(rejectedForm, ["email"])}
<form method="post" action="/account/sign-in">
${renderFormIdField(formId)}
${renderEmailField("sign-in-email", rejectedForm)}
<button type="submit">${showsLinks ? "Show sign-in link" : "Send sign-in link"}</button>
</form>`;

const renderSignUpForm = (
  botCheck: NonNullable<BotCheckField>,
  formId: string,
  rejectedForm: RejectedForm | null,
): Html => html`<p>The free plan costs nothing. <a href="${PLANS_PATH}">Compare plans</a></p>
${renderFormError(rejectedForm, ["name", "email"])}
<form method="post" action="/account/sign-up">
${renderFormIdField(formId)}
${renderField({ id: "name", name: "name", label: "Name", autocomplete: "name", lengthMax: CUSTOMER_NAME_LENGTH_MAX, isOptional: true, rejected: rejectedForm })}
${renderEmailField("sign-up-email", rejectedForm)}
${
  "siteKey" in botCheck
    ? html`<div class="cf-turnstile" data-sitekey="${botCheck.siteKey}" data-action="${TURNSTILE_ACTION}"></div>
<noscript><p class="warn">The bot check needs JavaScript. Everything else on this page works without it.</p></noscript>`
    : html`<input type="hidden" name="cf-turnstile-response" value="${botCheck.token}">`
}
<button type="submit">Create account</button>
</form>`;

/** Identical for every e-mail address, so that it does not reveal whether an account exists. */
export const createLinkSentPage = (email: string, formId: string): Page =>
  createNoticePage(
    "Check your e-mail",
    `If ${email} has an account, we’ve sent it a sign-in link. The link works once and expires after ${SIGN_IN_LINK_MINUTES} minutes. We send at most one link per minute and, after three in a day, one every half hour. An earlier link works until we send a newer one.`,
    renderResendForm("/account/sign-in", email, formId),
  );

/** Identical whether the e-mail was sent or suppressed by the rate limit. */
export const createEmailSentPage = (email: string, formId: string): Page =>
  createNoticePage(
    "Check your e-mail",
    `We’ve sent an e-mail to ${email}. Open its link to confirm your e-mail and get your API key. The link expires after 24 hours. We send at most one e-mail per minute and three per day.`,
    renderResendForm("/account/resend", email, formId),
  );

const renderResendForm = (
  action: string,
  email: string,
  formId: string,
): Html => html`<form method="post" action="${action}">
${renderFormIdField(formId)}
<input type="hidden" name="email" value="${email}">
<p class="actions"><button class="quiet" type="submit">Resend e-mail</button> <a href="/account">Use another e-mail</a></p>
</form>`;

/** Displays the sign-in link in a sandbox without a mail server. @param token  null if no account has the e-mail address */
export const createDisplayedLinkPage = (token: string | null): Page =>
  token === null
    ? createNoticePage("Account not found", "This sandbox has no account with this address. Please sign up first.")
    : createNoticePage(
        "Your sign-in link",
        "This sandbox has no mail server, so the link is shown here instead of being e-mailed. A live server never shows it.",
        html`<p><a href="/account/enter?token=${token}">Sign in to your account</a></p>`,
      );

/**
 * Requires a click, because mail scanners follow links. Displays part of the account's e-mail address, so that users
 * notice if they received another user's link.
 */
export const createConfirmSignInPage = (token: string, formId: string, email: string): Page => ({
  title: "Sign in",
  section: "account",
  body: html`<section class="narrow">
<p>Sign in to the account of <strong>${maskEmail(email)}</strong> in this browser.</p>
<form method="post" action="/account/enter">
<input type="hidden" name="token" value="${token}">
${renderFormIdField(formId)}
<button type="submit">Sign in</button>
</form>
</section>`,
});

/** Identical for unknown, used, replaced and expired links. */
export const createExpiredLinkPage = (): Page =>
  createNoticePage(
    "This link does not work",
    `It may have been used already, been replaced by a newer link, or be older than ${SIGN_IN_LINK_MINUTES} minutes.`,
    html`<p><a href="/account">Get a new link</a></p>`,
  );

export const createExpiredEmailLinkPage = (): Page =>
  createNoticePage(
    "This link does not work",
    `It may have been used already, been replaced by a newer link, belong to another account, or be older than ${EMAIL_CHANGE_LINK_MS / 60_000} minutes.`,
    html`<p><a href="/account/settings">Back to settings</a></p>`,
  );

export const createSignInFirstPage = (): Page =>
  createNoticePage(
    "Sign in first",
    "To change your e-mail, sign in with your current e-mail in this browser, then open the link again.",
    html`<p><a href="/account">Sign in</a></p>`,
  );

/** The page after a sign-up without e-mail verification. The browser is signed in if `isSignedIn`. */
export const createAccountCreatedPage = (newAccount: {
  readonly apiKey: string;
  readonly origin: string;
  readonly isSignedIn: boolean;
}): Page => ({
  title: "Your account is ready",
  section: "account",
  scripts: KEY_SCRIPTS,
  body: html`${renderKeySection(newAccount.apiKey, newAccount.origin, "This is your API key:")}
${
  newAccount.isSignedIn
    ? html`<p><a class="button" href="/account">Go to your account</a></p>`
    : html`<p><a href="/account">Sign in</a> to see your usage and manage your keys, or use the key with <code>GET /v1/customers/me</code>.</p>`
}`,
});

export const createNewKeyPage = (key: IssuedKey, origin: string, intro: string): Page => ({
  title: `New API key: ${key.name}`,
  section: "account",
  scripts: KEY_SCRIPTS,
  body: html`${renderKeySection(key.apiKey, origin, intro)}
<p><a href="/account/keys">Back to API keys</a></p>`,
});

interface ReauthenticationView {
  readonly email: string | null;
  readonly form: FormSecrets;
  readonly canSignIn: boolean;
  /** Path of the page to return to. */
  readonly next: string;
  readonly rejected?: RejectedForm;
}

/** The page that requires reauthentication before a destructive action. */
export const createReauthenticationPage = (proof: ReauthenticationView): Page => ({
  title: "Confirm your identity",
  section: "account",
  head: ACCOUNT_HEAD,
  body: html`${renderReauthenticationSection(proof)}
<p><a href="/account">Back to your account</a></p>`,
});

export function renderReauthenticationSection(proof: ReauthenticationView): Html {
  const { email, form, canSignIn, next, rejected = null } = proof;
  const hasLinkForm = canSignIn && email !== null;
  return html`<section class="notice">
<h2>Confirm that it’s you</h2>
<p>You signed in more than ${REAUTHENTICATION_MS / 60_000} minutes ago. To make changes, ${hasLinkForm ? "sign in with a new link or enter" : "enter"} one of your API keys.</p>
${
  hasLinkForm
    ? html`<form method="post" action="/account/sign-in">
${renderHiddenFields(form)}
<input type="hidden" name="email" value="${email}">
<p><button class="quiet" type="submit">Get a new link</button></p>
</form>`
    : null
}
${renderFormError(rejected, ["api_key"])}
<form method="post" action="/account/prove" class="inline">
${renderHiddenFields(form)}
<input type="hidden" name="next" value="${next}">
<div>${renderField({ id: "api-key", name: "api_key", label: "API key", type: "password", lengthMax: 64, rejected })}</div>
<button type="submit">Confirm</button>
</form>
</section>`;
}
