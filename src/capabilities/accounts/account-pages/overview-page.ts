import type { RouteEntry } from "../../../domain/metering.ts";
import { PLAN_ALLOWANCES, PLAN_PRICES_USD_MONTH, PLANS, type Plan, TIERS, type Tier } from "../../../domain/plan.ts";
import { COPY_SCRIPTS, type Html, html, type Page, renderCode } from "../../../http/html/index.ts";
import type { RecentRequest } from "../activity/index.ts";
import type { Account, MonthlyUsage } from "../customers/index.ts";
import { createSignedInPage } from "./account-layout.ts";
import type { FormSecrets } from "./fields.ts";
import { renderRequestTable } from "./requests-page.ts";
import { PLANS_PATH } from "./site.ts";
import { formatInteger, summarizeEndpoints } from "./tier-endpoints.ts";

const LISTED_REQUESTS_MAX = 5;

export interface OverviewView {
  readonly account: Account;
  readonly month: MonthlyUsage;
  readonly form: FormSecrets;
  readonly requests: readonly RecentRequest[];
  readonly routes: readonly RouteEntry[];
  /** URL of the operator's page where customers upgrade; null if not configured. */
  readonly upgradeUrl: string | null;
  /** Origin of the service, for the example request. */
  readonly origin: string;
}

/** The first account page: usage of the month, the plan and the last requests. */
export function createOverviewPage(view: OverviewView): Page {
  const { account, month, form, requests, routes, origin } = view;
  return createSignedInPage({
    title: account.name ?? account.email ?? account.customerId,
    current: "/account",
    form,
    scripts: requests.length === 0 ? COPY_SCRIPTS : undefined,
    body: html`<div class="columns">
<section>
<h2>Usage this month</h2>
<ul class="usage">
${TIERS.map((tier) => renderUsageItem(tier, month.usage[tier], month.quotas[tier], routes))}
</ul>
<p class="faint small">Resets on ${month.resetsOn} at 00:00 UTC. <a href="/account/usage">See usage by day and key</a></p>
</section>
${renderPlanSection(view)}
</div>
<section>
<h2>Recent requests</h2>
${
  requests.length === 0
    ? html`<p>No requests yet. Send one with your API key:</p>
${renderCode("example", `curl "${origin}/v1/markets?limit=1" \\\n  -H "Authorization: Bearer YOUR_API_KEY"`)}
<p><a href="/account/keys">Manage API keys</a></p>`
    : html`${renderRequestTable(requests.slice(0, LISTED_REQUESTS_MAX), account.keys)}
<p><a href="/account/requests">See all requests</a></p>`
}
</section>`,
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

function renderPlanSection({ account, upgradeUrl }: OverviewView): Html {
  const { plan, status, allowance } = account;
  const { general, strategy } = allowance.rateLimits;
  return html`<section>
<h2>Your plan</h2>
<p class="price">${formatPlanName(plan)} ${renderPrice(plan)}</p>
<dl>
${status === "active" ? null : html`<dt>Status</dt><dd class="warn">${status === "past_due" ? "Payment overdue" : "Canceled"}</dd>`}
<dt>Requests per minute</dt><dd>${formatInteger(general)}${strategy === 0 ? null : html`; strategy endpoints ${formatInteger(strategy)}`}</dd>
<dt>Calls per month</dt><dd>${formatQuotas(allowance.quotas)}</dd>
</dl>
${renderUpgrade(plan, upgradeUrl)}
</section>`;
}

function renderUpgrade(plan: Plan, upgradeUrl: string | null): Html {
  const next = PLANS[PLANS.indexOf(plan) + 1];
  const compare = html`<a href="${PLANS_PATH}">Compare plans</a>`;
  if (next === undefined) return html`<p>${compare}</p>`;
  const price = PLAN_PRICES_USD_MONTH[next];
  const offer =
    price === null
      ? `${formatPlanName(next)} has limits by agreement.`
      : `${formatPlanName(next)}: ${formatInteger(PLAN_ALLOWANCES[next].quotas.LISTING)} LISTING calls a month and all endpoints for $${formatInteger(price)}.`;
  return html`<p class="small">${offer}</p>
<p class="actions"><a class="button" href="${upgradeUrl ?? PLANS_PATH}">Upgrade</a> ${compare}</p>`;
}

const formatPlanName = (plan: Plan): string => `${plan.charAt(0).toUpperCase()}${plan.slice(1)}`;

function renderPrice(plan: Plan): Html {
  const price = PLAN_PRICES_USD_MONTH[plan];
  return price === null ? html`<small>by agreement</small>` : html`<small>$${formatInteger(price)} a month</small>`;
}

const formatQuotas = (quotas: Readonly<Record<Tier, number>>): string =>
  TIERS.filter((tier) => quotas[tier] > 0)
    .map((tier) => `${formatInteger(quotas[tier])} ${tier}`)
    .join(", ");
