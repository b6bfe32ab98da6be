import { TIERS, type Tier } from "../../domain/plan.ts";
import { type Html, html } from "../../lib/html.ts";
import {
  type Account,
  CUSTOMER_NAME_LENGTH_MAX,
  type IssuedKey,
  KEY_NAME_LENGTH_MAX,
  type KeyView,
  LIVING_KEYS_MAX,
  TURNSTILE_ACTION,
} from "../customers/index.ts";
import { keySection, noticePage, page } from "../pages/index.ts";
import { PROOF_MS } from "../sessions/index.ts";
import { LINK_MINUTES } from "./letters.ts";
import type { BotCheckField } from "./model.ts";

/** Where Turnstile's script and frame come from. */
export const WIDGET_ORIGIN = "https://challenges.cloudflare.com";

const DETAIL: Readonly<Record<Tier, string>> = {
  LISTING: "Listings, markets, history, events",
  INSIGHT: "Analyses and screens",
  STRATEGY: "Signals and what-if",
  DEEP: "Arbitrage, correlation, webhooks",
};

/** For whoever is not signed in. `showsLinks`: no letters go out, and the next page shows the link. */
export function signedOutPage(options: {
  readonly botCheck: BotCheckField;
  readonly canSignIn: boolean;
  readonly showsLinks: boolean;
}): string {
  const { botCheck, canSignIn, showsLinks } = options;
  const hasWidget = botCheck !== null && "siteKey" in botCheck;
  return page({
    title: "Your account",
    ...(hasWidget ? { head: html`<script src="${WIDGET_ORIGIN}/turnstile/v0/api.js" async defer></script>` } : {}),
    body: html`<div class="columns">
<section>
<h2>Sign in</h2>
${canSignIn ? signInForm(showsLinks) : html`<p>Signing in is not set up on this server, because it sends no letters. What this page does, your API key can do too: see <a href="/docs">the documentation</a>.</p>`}
</section>
<section>
<h2>Sign up</h2>
${botCheck === null ? html`<p>Sign-up on this page is not set up on this server.</p>` : signUpForm(botCheck)}
</section>
</div>`,
  });
}

const emailField = (id: string): Html => html`<label for="${id}">E-mail address</label>
<input id="${id}" name="email" type="email" autocomplete="email" maxlength="254" required>`;

const signInForm = (showsLinks: boolean): Html => html`<p>${
  showsLinks
    ? "This is a sandbox without a mail server: the link that would be in a letter is shown on the next page."
    : "You get a letter with a link. There is no password."
}</p>
<form method="post" action="/account/sign-in">
${emailField("sign-in-email")}
<button type="submit">${showsLinks ? "Show me a link" : "Send me a link"}</button>
</form>`;

const signUpForm = (botCheck: NonNullable<BotCheckField>): Html => html`<p>The free plan costs nothing.</p>
<form method="post" action="/account/sign-up">
<label for="name">Name <span class="faint">(optional)</span></label>
<input id="name" name="name" autocomplete="name" maxlength="${CUSTOMER_NAME_LENGTH_MAX}">
${emailField("sign-up-email")}
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
    `If an account has this address, a letter with a link is on its way to it. The link works once, for ${LINK_MINUTES} minutes. A mailbox gets at most one such letter a minute and three a day; an earlier link works until a newer one is sent.`,
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

/** Asks for a press of the button, as the page that verifies an address does. */
export const enterPage = (token: string): string =>
  page({
    title: "Sign in",
    body: html`<section class="narrow">
<p>Press the button to sign in to your account in this browser.</p>
<form method="post" action="/account/enter">
<input type="hidden" name="token" value="${token}">
<button type="submit">Sign in</button>
</form>
</section>`,
  });

/** The same for a link that is unknown, used, replaced or too old. */
export const deadLinkPage = (): string =>
  noticePage(
    "This link does not work",
    `It may have been used already, be older than ${LINK_MINUTES} minutes, or have been replaced by a newer one.`,
    html`<p><a href="/account">Get another link</a></p>`,
  );

export const letterSentPage = (): string =>
  noticePage(
    "Look into your mailbox",
    "A letter with a link is on its way: follow it to confirm the address and see your API key.",
  );

/** The key of an account that was opened without a letter. */
export const openedPage = (apiKey: string, email: string): string =>
  page({
    title: "Your account is open",
    body: html`${keySection(apiKey, "This is its API key:")}
<section class="narrow">
<p>Sign in to see usage and keys.</p>
<form method="post" action="/account/sign-in">
<input type="hidden" name="email" value="${email}">
<button type="submit">Sign in</button>
</form>
</section>`,
  });

export const newKeyPage = (key: IssuedKey, before: string): string =>
  page({
    title: `New key: ${key.name}`,
    body: html`${keySection(key.apiKey, before)}
<p><a href="/account">Back to your account</a></p>`,
  });

interface AccountView {
  readonly account: Account;
  readonly month: {
    readonly usage: Readonly<Record<Tier, number>>;
    readonly quotas: Readonly<Record<Tier, number>>;
    readonly resetsOn: string;
  };
  /** What every form of this page carries. */
  readonly form: { readonly token: string; readonly id: string };
  /** Whether keys may be changed without another proof. */
  readonly isProven: boolean;
  readonly canSignIn: boolean;
}

export function accountPage({ account, month, form, isProven, canSignIn }: AccountView): string {
  const fields = html`<input type="hidden" name="csrf" value="${form.token}">
<input type="hidden" name="form" value="${form.id}">`;
  return page({
    title: account.name ?? account.email ?? account.customerId,
    corner: html`<form method="post" action="/account/sign-out">
<input type="hidden" name="csrf" value="${form.token}">
<button class="quiet" type="submit">Sign out</button>
</form>`,
    body: html`<div class="columns">
<section>
<h2>This month</h2>
<ul class="usage">
${TIERS.map((tier) => usageOf(tier, month.usage[tier], month.quotas[tier]))}
</ul>
<p class="faint small">Starts anew on ${month.resetsOn} at 00:00 UTC.</p>
</section>
${planSection(account)}
</div>
${isProven ? null : proofSection(account.email, form.token, canSignIn)}
${keysSection(account.keys, isProven ? fields : null)}`,
  });
}

function usageOf(tier: Tier, used: number, quota: number): Html {
  const numbers = quota === 0 ? "not in this plan" : `${wholeNumber(used)} of ${wholeNumber(quota)}`;
  const bar =
    quota === 0
      ? null
      : html`<meter min="0" max="${quota}" high="${quota * 0.9}" optimum="0" value="${Math.min(used, quota)}" aria-label="${tier}: ${numbers}"></meter>`;
  return html`<li>
<div class="numbers"><strong>${tier}</strong><span${quota === 0 ? html` class="faint"` : null}>${numbers}</span></div>
<div class="faint small">${DETAIL[tier]}</div>
${bar}
</li>`;
}

function planSection({ plan, status, email, createdAt, customerId, allowance }: Account): Html {
  const { general, strategy } = allowance.rateLimits;
  return html`<section>
<h2>Plan</h2>
<dl>
<dt>Plan</dt><dd><strong>${plan}</strong></dd>
<dt>Status</dt><dd>${status}</dd>
<dt>Requests a minute</dt><dd>${general}${strategy === 0 ? null : html`; strategy endpoints ${strategy}`}</dd>
<dt>E-mail address</dt><dd>${email ?? "none"}</dd>
<dt>Customer since</dt><dd>${day(createdAt)}</dd>
<dt>Customer id</dt><dd><code class="small">${customerId}</code></dd>
</dl>
<p class="small"><a href="/v1/pricing">Plans and prices</a></p>
</section>`;
}

const proofSection = (email: string | null, token: string, canSignIn: boolean): Html => html`<section class="notice">
<h2>Changing keys needs a fresh proof that it is you</h2>
<p>You signed in more than ${PROOF_MS / 60_000} minutes ago. ${canSignIn && email !== null ? "Sign in by a fresh link, or show a key that you have." : "Show a key that you have."}</p>
${
  canSignIn && email !== null
    ? html`<form method="post" action="/account/sign-in">
<input type="hidden" name="email" value="${email}">
<p><button class="quiet" type="submit">Get a fresh link</button></p>
</form>`
    : null
}
<form method="post" action="/account/prove" class="inline">
<input type="hidden" name="csrf" value="${token}">
<div><label for="api-key">API key</label>
<input id="api-key" name="api_key" type="password" autocomplete="off" maxlength="64" required></div>
<button type="submit">Prove it</button>
</form>
</section>`;

/** @param fields  what the forms of the keys carry; null shows no forms */
function keysSection(keys: readonly KeyView[], fields: Html | null): Html {
  const living = keys.filter(({ revokedAt }) => revokedAt === null);
  const ended = keys.filter(({ revokedAt }) => revokedAt !== null);
  return html`<section>
<h2>API keys</h2>
${living.length === 0 ? html`<p>No key of this account works.</p>` : keyTable(living, fields)}
${fields === null ? null : newKeyForm(living.length, fields)}
${
  ended.length === 0
    ? null
    : html`<details><summary>Ended keys (${ended.length})</summary>
${keyTable(ended, null)}
</details>`
}
</section>`;
}

const keyTable = (keys: readonly KeyView[], fields: Html | null): Html => html`<table>
<thead><tr><th>Name</th><th>Begins with</th><th>Created</th><th>Last used</th><th>${fields === null ? "State" : "Change"}</th></tr></thead>
<tbody>
${keys.map((key) => keyRow(key, fields))}
</tbody>
</table>`;

const keyRow = (
  key: KeyView,
  fields: Html | null,
): Html => html`<tr${key.revokedAt === null ? null : html` class="ended"`}>
<td><strong>${key.name}</strong></td>
<td data-label="Begins with"><code>${key.prefix}…</code></td>
<td data-label="Created">${day(key.createdAt)}</td>
<td data-label="Last used">${key.lastUsedAt === null ? "never" : minute(key.lastUsedAt)}</td>
<td>${fields === null ? keyState(key) : keyForms(key, fields)}</td>
</tr>`;

const keyState = ({ revokedAt }: KeyView): string => (revokedAt === null ? "active" : `ended ${minute(revokedAt)}`);

/** Each change asks once more, without a script: the button is inside of what is to be opened first. */
const keyForms = ({ keyId }: KeyView, fields: Html): Html => html`<details><summary>Rotate</summary>
<form method="post" action="/account/keys/${keyId}/rotate">
${fields}
<p class="small">This key ends at once; you get another of the same name.</p>
<button type="submit">Rotate now</button>
</form></details>
<details><summary>Revoke</summary>
<form method="post" action="/account/keys/${keyId}/revoke">
${fields}
<p class="small">This key ends at once, and nothing takes its place.</p>
<button class="danger" type="submit">Revoke now</button>
</form></details>`;

const newKeyForm = (livingCount: number, fields: Html): Html =>
  livingCount >= LIVING_KEYS_MAX
    ? html`<p class="faint">At most ${LIVING_KEYS_MAX} keys live at once: revoke one to make another.</p>`
    : html`<form method="post" action="/account/keys" class="inline">
${fields}
<div><label for="key-name">Another key, by name</label>
<input id="key-name" name="name" maxlength="${KEY_NAME_LENGTH_MAX}" autocomplete="off" required></div>
<button type="submit">Make a key</button>
</form>`;

const day = (date: Date): string => date.toISOString().slice(0, 10);
const minute = (date: Date): string => `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;
const wholeNumber = (value: number): string => value.toLocaleString("en-US");
