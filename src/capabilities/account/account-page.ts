import type { RouteEntry } from "../../domain/metering.ts";
import { TIERS, type Tier } from "../../domain/plan.ts";
import { type Html, html, page, table } from "../../http/html/index.ts";
import { ACTIVE_KEYS_MAX, type Account, type KeyView } from "../customers/index.ts";
import { PROOF_MS, type SessionView } from "../sessions/index.ts";
import { keyNameField } from "./pages.ts";
import { endpointsInShort, wholeNumber } from "./plans-page.ts";
import { PLANS_PATH } from "./site.ts";

interface AccountView {
  readonly account: Account;
  readonly month: {
    readonly usage: Readonly<Record<Tier, number>>;
    readonly quotas: Readonly<Record<Tier, number>>;
    readonly resetsOn: string;
  };
  /** What every form of this page carries. */
  readonly form: { readonly token: string; readonly id: string };
  /** The customer's living sessions, and which of them sees this page. */
  readonly sessions: readonly SessionView[];
  readonly sessionId: string;
  /** Whether keys may be changed without another proof. */
  readonly isProven: boolean;
  readonly canSignIn: boolean;
  readonly routes: readonly RouteEntry[];
}

/** For whoever is signed in. */
export function accountPage(view: AccountView): string {
  const { account, month, form, isProven, canSignIn, routes } = view;
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
${TIERS.map((tier) => usageOf(tier, month.usage[tier], month.quotas[tier], routes))}
</ul>
<p class="faint small">Starts anew on ${month.resetsOn} at 00:00 UTC.</p>
</section>
${planSection(account)}
</div>
${isProven ? null : proofSection(account.email, fields, canSignIn)}
${keysSection(account.keys, isProven ? fields : null)}
${sessionsSection(view, fields)}`,
  });
}

function usageOf(tier: Tier, used: number, quota: number, routes: readonly RouteEntry[]): Html {
  const numbers = quota === 0 ? "not in this plan" : `${wholeNumber(used)} of ${wholeNumber(quota)}`;
  const bar =
    quota === 0
      ? null
      : html`<meter min="0" max="${quota}" high="${quota * 0.9}" optimum="0" value="${Math.min(used, quota)}" aria-label="${tier}: ${numbers}"></meter>`;
  return html`<li>
<div class="numbers"><strong>${tier}</strong><span${quota === 0 ? html` class="faint"` : null}>${numbers}</span></div>
<div class="faint small">${endpointsInShort(tier, routes)}</div>
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
<p class="small"><a href="${PLANS_PATH}">Compare the plans</a></p>
</section>`;
}

const proofSection = (email: string | null, fields: Html, canSignIn: boolean): Html => html`<section class="notice">
<h2>Changing keys needs a fresh proof that it is you</h2>
<p>You signed in more than ${PROOF_MS / 60_000} minutes ago. ${canSignIn && email !== null ? "Sign in by a fresh link, or show a key that you have." : "Show a key that you have."}</p>
${
  canSignIn && email !== null
    ? html`<form method="post" action="/account/sign-in">
${fields}
<input type="hidden" name="email" value="${email}">
<p><button class="quiet" type="submit">Get a fresh link</button></p>
</form>`
    : null
}
<form method="post" action="/account/prove" class="inline">
${fields}
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

const keyTable = (keys: readonly KeyView[], fields: Html | null): Html =>
  table(
    ["Name", "Begins with", "Created", "Last used", fields === null ? "State" : "Change"],
    keys.map((key) => ({
      isFaint: key.revokedAt !== null,
      cells: [
        html`<strong>${key.name}</strong>`,
        html`<code>${key.prefix}…</code>`,
        day(key.createdAt),
        key.lastUsedAt === null ? "never" : minute(key.lastUsedAt),
        fields === null ? keyState(key) : keyForms(key, fields),
      ],
    })),
  );

const keyState = ({ revokedAt }: KeyView): string => (revokedAt === null ? "active" : `ended ${minute(revokedAt)}`);

/** Each change asks once more, without a script: the button is inside of what is to be opened first. */
const keyForms = (
  { keyId, name }: KeyView,
  fields: Html,
): Html => html`<details><summary aria-label="Rotate ${name}">Rotate</summary>
<form method="post" action="/account/keys/${keyId}/rotate">
${fields}
<p class="small">This key ends at once; you get another of the same name.</p>
<button type="submit" aria-label="Rotate now: ${name}">Rotate now</button>
</form></details>
<details><summary aria-label="Revoke ${name}">Revoke</summary>
<form method="post" action="/account/keys/${keyId}/revoke">
${fields}
<p class="small">This key ends at once, and nothing takes its place.</p>
<button class="danger" type="submit" aria-label="Revoke now: ${name}">Revoke now</button>
</form></details>`;

const newKeyForm = (livingCount: number, fields: Html): Html =>
  livingCount >= ACTIVE_KEYS_MAX
    ? html`<p class="faint">At most ${ACTIVE_KEYS_MAX} keys live at once: revoke one to make another.</p>`
    : html`<form method="post" action="/account/keys" class="inline">
${fields}
<div>${keyNameField("")}</div>
<button type="submit">Make a key</button>
</form>`;

const sessionsSection = ({ sessions, sessionId }: AccountView, fields: Html): Html => html`<section>
<h2>Signed in</h2>
${table(
  ["Browser", "Since", "Last used"],
  sessions.map((session) => ({
    cells: [
      session.sessionId === sessionId ? html`<strong>This one</strong>` : "Another one",
      minute(session.startedAt),
      minute(session.lastSeenAt),
    ],
  })),
)}
<form method="post" action="/account/sign-out-everywhere">
${fields}
<button class="quiet" type="submit">Sign out everywhere</button>
</form>
</section>`;

const day = (date: Date): string => date.toISOString().slice(0, 10);
const minute = (date: Date): string => `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;
