import { type Html, html, keySection, noticePage, page } from "../../http/html/index.ts";
import { CUSTOMER_NAME_LENGTH_MAX, type IssuedKey, KEY_NAME_LENGTH_MAX, TURNSTILE_ACTION } from "../customers/index.ts";
import { LINK_MINUTES } from "./emails.ts";
import type { BotCheckField } from "./model.ts";
import { PLANS_PATH } from "./site.ts";

/** Where Turnstile's script and frame come from. */
export const WIDGET_ORIGIN = "https://challenges.cloudflare.com";

/** A form that was sent and not accepted: why, and what was typed. */
export interface RefusedField {
  readonly form: "sign-in" | "sign-up";
  readonly text: string;
  readonly email: string;
  readonly name: string;
}

/** For whoever is not signed in. `showsLinks`: no letters go out, and the next page shows the link. */
export function signedOutPage(options: {
  readonly botCheck: BotCheckField;
  readonly canSignIn: boolean;
  readonly showsLinks: boolean;
  readonly formId: string;
  readonly refused?: RefusedField;
}): string {
  const { botCheck, canSignIn, showsLinks, formId, refused } = options;
  const refusedAs = (form: RefusedField["form"]) => (refused?.form === form ? refused : null);
  const hasWidget = botCheck !== null && "siteKey" in botCheck;
  return page({
    title: "Your account",
    ...(hasWidget ? { head: html`<script src="${WIDGET_ORIGIN}/turnstile/v0/api.js" async defer></script>` } : {}),
    body: html`<div class="columns">
<section>
<h2>Sign in</h2>
${canSignIn ? signInForm(showsLinks, formId, refusedAs("sign-in")) : html`<p>Signing in is not set up on this server, because it sends no letters. What this page does, your API key can do too: see <a href="/docs">the documentation</a>.</p>`}
</section>
<section>
<h2>Sign up</h2>
${botCheck === null ? html`<p>Sign-up on this page is not set up on this server.</p>` : signUpForm(botCheck, formId, refusedAs("sign-up"))}
</section>
</div>`,
  });
}

const emailField = (id: string, value: string): Html => html`<label for="${id}">E-mail address</label>
<input id="${id}" name="email" type="email" autocomplete="email" maxlength="254" value="${value}" required>`;

const formField = (formId: string): Html => html`<input type="hidden" name="form" value="${formId}">`;

const refusal = (refused: { readonly text: string } | null): Html | null =>
  refused === null ? null : html`<p class="warn" role="alert">${refused.text}</p>`;

const signInForm = (showsLinks: boolean, formId: string, refused: RefusedField | null): Html => html`<p>${
  showsLinks
    ? "This is a sandbox without a mail server: the link that would be in a letter is shown on the next page."
    : "You get a letter with a link. There is no password."
}</p>
${refusal(refused)}
<form method="post" action="/account/sign-in">
${formField(formId)}
${emailField("sign-in-email", refused?.email ?? "")}
<button type="submit">${showsLinks ? "Show me a link" : "Send me a link"}</button>
</form>`;

const signUpForm = (
  botCheck: NonNullable<BotCheckField>,
  formId: string,
  refused: RefusedField | null,
): Html => html`<p>The free plan costs nothing. <a href="${PLANS_PATH}">Compare the plans</a></p>
${refusal(refused)}
<form method="post" action="/account/sign-up">
${formField(formId)}
<label for="name">Name <span class="faint">(optional)</span></label>
<input id="name" name="name" autocomplete="name" maxlength="${CUSTOMER_NAME_LENGTH_MAX}" value="${refused?.name ?? ""}">
${emailField("sign-up-email", refused?.email ?? "")}
${
  "siteKey" in botCheck
    ? html`<div class="cf-turnstile" data-sitekey="${botCheck.siteKey}" data-action="${TURNSTILE_ACTION}"></div>
<noscript><p class="warn">The check for bots needs JavaScript. It is used nowhere else on this page.</p></noscript>`
    : html`<input type="hidden" name="cf-turnstile-response" value="${botCheck.token}">`
}
<button type="submit">Create a free account</button>
</form>`;

/** The same whoever asked, and for whichever address. */
export const linkSentPage = (): string =>
  noticePage(
    "Look into your mailbox",
    `If an account has this address, a letter with a link is on its way to it. The link works once, for ${LINK_MINUTES} minutes. A mailbox gets at most one such letter a minute, and after three in a day one each half hour; an earlier link works until a newer one is sent.`,
  );

/** Instead of a letter, where none can go out: a sandbox's only. */
export const shownLinkPage = (token: string | null): string =>
  token === null
    ? noticePage("No such account", "No account of this sandbox has this address. Sign up first.")
    : noticePage(
        "No letter was sent",
        "This sandbox has no mail server, so the link that would be in the letter stands here. A live server never does this.",
        html`<p><a href="/account/enter?token=${token}">Sign in to your account</a></p>`,
      );

/**
 * Asks for a press of the button, as the page that verifies an address does. It says whose account it opens: whoever gets
 * a stranger's link notices.
 */
export const confirmSignInPage = (token: string, formId: string, email: string): string =>
  page({
    title: "Sign in",
    body: html`<section class="narrow">
<p>Press the button to sign in to the account of <strong>${masked(email)}</strong> in this browser.</p>
<form method="post" action="/account/enter">
<input type="hidden" name="token" value="${token}">
${formField(formId)}
<button type="submit">Sign in</button>
</form>
</section>`,
  });

/** Enough of an address for its owner to know it by. */
const masked = (email: string): string => email.replace(/^(.)[^@]*/u, "$1…");

/** The same for a link that is unknown, used, replaced or too old. */
export const expiredLinkPage = (): string =>
  noticePage(
    "This link does not work",
    `It may have been used already, be older than ${LINK_MINUTES} minutes, or have been replaced by a newer one.`,
    html`<p><a href="/account">Get another link</a></p>`,
  );

export const emailSentPage = (): string =>
  noticePage(
    "Look into your mailbox",
    "A letter with a link is on its way: follow it to confirm the address and see your API key.",
  );

/** The key of an account that was opened without a letter. */
export const accountOpenedPage = (opened: {
  readonly apiKey: string;
  readonly email: string;
  readonly formId: string;
  readonly canSignIn: boolean;
}): string =>
  page({
    title: "Your account is open",
    body: html`${keySection(opened.apiKey, "This is its API key:")}
<section class="narrow">
${
  opened.canSignIn
    ? html`<p>Sign in to see usage and keys.</p>
<form method="post" action="/account/sign-in">
${formField(opened.formId)}
<input type="hidden" name="email" value="${opened.email}">
<button type="submit">Sign in</button>
</form>`
    : html`<p>The key also shows usage and quotas: <code>GET /v1/customers/me</code>.</p>`
}
</section>`,
  });

export const newKeyPage = (key: IssuedKey, before: string): string =>
  page({
    title: `New key: ${key.name}`,
    body: html`${keySection(key.apiKey, before)}
<p><a href="/account">Back to your account</a></p>`,
  });

/** The form for a key once more, after one that was not accepted. */
export const refusedKeyPage = (
  title: string,
  refused: { readonly text: string; readonly csrf: string; readonly form: string; readonly name: string },
): string =>
  noticePage(
    title,
    refused.text,
    html`<form method="post" action="/account/keys">
<input type="hidden" name="csrf" value="${refused.csrf}">
${formField(refused.form)}
${keyNameField(refused.name)}
<button type="submit">Make a key</button>
</form>
<p><a href="/account">Back to your account</a></p>`,
  );

export const keyNameField = (value: string): Html => html`<label for="key-name">Another key, by name</label>
<input id="key-name" name="name" maxlength="${KEY_NAME_LENGTH_MAX}" autocomplete="off" value="${value}" required>`;
