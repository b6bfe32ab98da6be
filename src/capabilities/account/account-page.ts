import type { RouteEntry } from "../../domain/metering.ts";
import { TIERS, type Tier } from "../../domain/plan.ts";
import { type Html, html, renderPage, renderTable } from "../../http/html/index.ts";
import { ACTIVE_KEYS_MAX, type Account, type KeyView, type MonthlyUsage } from "../customers/index.ts";
import { PROOF_MS, type SessionView } from "../sessions/index.ts";
import { renderKeyNameField } from "./pages.ts";
import { formatInteger, summarizeEndpoints } from "./plans-page.ts";
import { PLANS_PATH } from "./site.ts";

interface AccountView {
  readonly account: Account;
  readonly month: MonthlyUsage;
  /** The CSRF token and the form id that every form of the page contains. */
  readonly form: { readonly token: string; readonly id: string };
  /** The customer's active sessions. */
  readonly sessions: readonly SessionView[];
  readonly sessionId: string;
  /** Whether the session may change keys without reauthentication. */
  readonly isProven: boolean;
  readonly canSignIn: boolean;
  readonly routes: readonly RouteEntry[];
}

/** Renders the account page of a signed-in customer. */
export function renderAccountPage(view: AccountView): string {
  const { account, month: monthlyUsage, form, isProven, canSignIn, routes } = view;
  const hiddenFields = html`<input type="hidden" name="csrf" value="${form.token}">
<input type="hidden" name="form" value="${form.id}">`;
  return renderPage({
    title: account.name ?? account.email ?? account.customerId,
    corner: html`<form method="post" action="/account/sign-out">
<input type="hidden" name="csrf" value="${form.token}">
<button class="quiet" type="submit">Sign out</button>
</form>`,
    body: html`<div class="columns">
<section>
<h2>Usage this month</h2>
<ul class="usage">
${TIERS.map((tier) => renderUsageItem(tier, monthlyUsage.usage[tier], monthlyUsage.quotas[tier], routes))}
</ul>
<p class="faint small">Resets on ${monthlyUsage.resetsOn} at 00:00 UTC.</p>
</section>
${renderPlanSection(account)}
</div>
${isProven ? null : renderProofSection(account.email, hiddenFields, canSignIn)}
${renderKeysSection(account.keys, isProven ? hiddenFields : null)}
${renderSessionsSection(view, hiddenFields)}`,
  });
}

function renderUsageItem(tier: Tier, used: number, quota: number, routes: readonly RouteEntry[]): Html {
  const summary = quota === 0 ? "not in this plan" : `${formatInteger(used)} of ${formatInteger(quota)}`;
  const meter =
    quota === 0
      ? null
      : html`<meter min="0" max="${quota}" high="${quota * 0.9}" optimum="0" value="${Math.min(used, quota)}" aria-label="${tier}: ${summary}"></meter>`;
  return html`<li>
<div class="numbers"><strong>${tier}</strong><span${quota === 0 ? html` class="faint"` : null}>${summary}</span></div>
<div class="faint small">${summarizeEndpoints(tier, routes)}</div>
${meter}
</li>`;
}

function renderPlanSection({ plan, status, email, createdAt, customerId, allowance }: Account): Html {
  const { general, strategy } = allowance.rateLimits;
  return html`<section>
<h2>Plan</h2>
<dl>
<dt>Plan</dt><dd><strong>${plan}</strong></dd>
<dt>Status</dt><dd>${status}</dd>
<dt>Requests per minute</dt><dd>${general}${strategy === 0 ? null : html`; strategy endpoints ${strategy}`}</dd>
<dt>E-mail address</dt><dd>${email ?? "none"}</dd>
<dt>Customer since</dt><dd>${formatDay(createdAt)}</dd>
<dt>Customer ID</dt><dd><code class="small">${customerId}</code></dd>
</dl>
<p class="small"><a href="${PLANS_PATH}">Compare plans</a></p>
</section>`;
}

function renderProofSection(email: string | null, hiddenFields: Html, canSignIn: boolean): Html {
  const hasLinkForm = canSignIn && email !== null;
  return html`<section class="notice">
<h2>Confirm that it’s you</h2>
<p>You signed in more than ${PROOF_MS / 60_000} minutes ago. To change keys, ${hasLinkForm ? "sign in with a new link or enter" : "enter"} one of your API keys.</p>
${
  hasLinkForm
    ? html`<form method="post" action="/account/sign-in">
${hiddenFields}
<input type="hidden" name="email" value="${email}">
<p><button class="quiet" type="submit">Get a new link</button></p>
</form>`
    : null
}
<form method="post" action="/account/prove" class="inline">
${hiddenFields}
<div><label for="api-key">API key</label>
<input id="api-key" name="api_key" type="password" autocomplete="off" maxlength="64" required></div>
<button type="submit">Confirm</button>
</form>
</section>`;
}

/** @param hiddenFields  for the key forms; null renders no forms */
function renderKeysSection(keys: readonly KeyView[], hiddenFields: Html | null): Html {
  const activeKeys = keys.filter(({ revokedAt }) => revokedAt === null);
  const revokedKeys = keys.filter(({ revokedAt }) => revokedAt !== null);
  return html`<section>
<h2>API keys</h2>
${activeKeys.length === 0 ? html`<p>This account has no active keys.</p>` : renderKeyTable(activeKeys, hiddenFields)}
${hiddenFields === null ? null : renderNewKeyForm(activeKeys.length, hiddenFields)}
${
  revokedKeys.length === 0
    ? null
    : html`<details><summary>Revoked keys (${revokedKeys.length})</summary>
${renderKeyTable(revokedKeys, null)}
</details>`
}
</section>`;
}

const renderKeyTable = (keys: readonly KeyView[], hiddenFields: Html | null): Html =>
  renderTable(
    ["Name", "Prefix", "Created", "Last used", hiddenFields === null ? "Status" : "Actions"],
    keys.map((key) => ({
      isFaint: key.revokedAt !== null,
      cells: [
        html`<strong>${key.name}</strong>`,
        html`<code>${key.prefix}…</code>`,
        formatDay(key.createdAt),
        key.lastUsedAt === null ? "never" : formatMinute(key.lastUsedAt),
        hiddenFields === null ? formatKeyStatus(key) : renderKeyForms(key, hiddenFields),
      ],
    })),
  );

const formatKeyStatus = ({ revokedAt }: KeyView): string =>
  revokedAt === null ? "active" : `revoked ${formatMinute(revokedAt)}`;

/** Each submit button is inside a collapsed `<details>`, which requires confirmation without JavaScript. */
const renderKeyForms = (
  { keyId, name }: KeyView,
  hiddenFields: Html,
): Html => html`<details><summary aria-label="Rotate ${name}">Rotate</summary>
<form method="post" action="/account/keys/${keyId}/rotate">
${hiddenFields}
<p class="small">This key stops working immediately. You get a new key with the same name.</p>
<button type="submit" aria-label="Rotate now: ${name}">Rotate now</button>
</form></details>
<details><summary aria-label="Revoke ${name}">Revoke</summary>
<form method="post" action="/account/keys/${keyId}/revoke">
${hiddenFields}
<p class="small">This key stops working immediately and is not replaced.</p>
<button class="danger" type="submit" aria-label="Revoke now: ${name}">Revoke now</button>
</form></details>`;

const renderNewKeyForm = (activeCount: number, hiddenFields: Html): Html =>
  activeCount >= ACTIVE_KEYS_MAX
    ? html`<p class="faint">You can have up to ${ACTIVE_KEYS_MAX} active keys. Revoke one to create another.</p>`
    : html`<form method="post" action="/account/keys" class="inline">
${hiddenFields}
<div>${renderKeyNameField("")}</div>
<button type="submit">Create key</button>
</form>`;

const renderSessionsSection = ({ sessions, sessionId }: AccountView, hiddenFields: Html): Html => html`<section>
<h2>Sessions</h2>
${renderTable(
  ["Browser", "Signed in", "Last used"],
  sessions.map((session) => ({
    cells: [
      session.sessionId === sessionId ? html`<strong>This browser</strong>` : "Another browser",
      formatMinute(session.startedAt),
      formatMinute(session.lastSeenAt),
    ],
  })),
)}
<form method="post" action="/account/sign-out-everywhere">
${hiddenFields}
<button class="quiet" type="submit">Sign out everywhere</button>
</form>
</section>`;

const formatDay = (date: Date): string => date.toISOString().slice(0, 10);
const formatMinute = (date: Date): string => `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;
