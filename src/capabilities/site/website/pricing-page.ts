import type { RouteEntry } from "../../../domain/metering.ts";
import {
  PLAN_ALLOWANCES,
  PLAN_PRICES_USD_MONTH,
  PLANS,
  type Plan,
  TIER_PRICES_USD,
  TIERS,
  type Tier,
} from "../../../domain/plan.ts";
import { COPY_SCRIPTS, type Html, html, type Page, renderCode, renderTable } from "../../../http/html/index.ts";
import { PLANS_PATH } from "../../accounts/account-pages/index.ts";
import { formatPlanPrice, listPlanRows } from "../plan-table.ts";
import { formatInteger } from "./format.ts";
import { WEBSITE_STYLES } from "./styles.ts";

export interface PricingView {
  readonly routes: readonly RouteEntry[];
  /** URL of the operator's page where customers upgrade; null if not configured. */
  readonly upgradeUrl: string | null;
  readonly isSandbox: boolean;
  /** Whether callers without a key can pay per request. */
  readonly acceptsPayments: boolean;
}

const PLAN_NAMES: Readonly<Record<Plan, string>> = { free: "Free", pro: "Pro", enterprise: "Enterprise" };
const PLAN_AUDIENCES: Readonly<Record<Plan, string>> = {
  free: "To evaluate the API and build a prototype.",
  pro: "For applications, dashboards and bots in production.",
  enterprise: "For teams that need their own limits.",
};

/** Creates the page with the plans, the prices and the endpoints of each tier. */
export function createPricingPage(view: PricingView): Page {
  const { routes, acceptsPayments } = view;
  return {
    title: "Pricing",
    description: `Plans of the Parallax API: a free plan with ${formatInteger(PLAN_ALLOWANCES.free.quotas.LISTING)} calls per month, ${PLAN_NAMES.pro} for ${formatPlanPrice("pro")} per month, and ${PLAN_NAMES.enterprise}.`,
    path: PLANS_PATH,
    section: "pricing",
    head: WEBSITE_STYLES,
    scripts: COPY_SCRIPTS,
    body: html`<p class="lead">Start with the free plan. Failed requests are not counted, and quotas reset on the first day of each month at 00:00 UTC.</p>
<div class="plans">
${PLANS.map((plan) => renderPlan(plan, view))}
</div>
<section>
<h2>Compare plans</h2>
${renderComparison()}
</section>
<section>
<h2>Endpoints by tier</h2>
<p class="faint small">Each endpoint counts towards the monthly quota of one tier. Endpoints that are not listed are free.</p>
<dl class="tiers">
${TIERS.map((tier) => html`<dt>${tier}</dt><dd>${renderEndpointList(tier, view)}</dd>`)}
</dl>
</section>
${acceptsPayments ? renderPayments(routes) : null}
${renderUpgrade(view)}`,
  };
}

function renderPlan(plan: Plan, view: PricingView): Html {
  const { quotas, rateLimits } = PLAN_ALLOWANCES[plan];
  const isNegotiated = PLAN_PRICES_USD_MONTH[plan] === null;
  const limits = isNegotiated
    ? ["Requests per minute by agreement", "Monthly quotas by agreement", "All endpoints"]
    : [
        `${formatInteger(rateLimits.general)} requests per minute`,
        ...TIERS.map((tier) =>
          quotas[tier] === 0
            ? `${tier} endpoints not included`
            : `${formatInteger(quotas[tier])} ${tier} calls per month`,
        ),
      ];
  return html`<section class="plan" aria-labelledby="plan-${plan}">
<h2 id="plan-${plan}">${PLAN_NAMES[plan]}</h2>
<p class="amount">${isNegotiated ? html`<strong>Custom</strong>` : html`<strong>${formatPlanPrice(plan)}</strong> <span class="faint">per month</span>`}</p>
<p class="faint">${PLAN_AUDIENCES[plan]}</p>
<ul>
${limits.map((limit) => html`<li>${limit}</li>`)}
</ul>
<p class="actions">${renderPlanAction(plan, view)}</p>
</section>`;
}

function renderPlanAction(plan: Plan, { upgradeUrl }: PricingView): Html {
  if (plan === "free") return html`<a class="button" href="/account">Create a free account</a>`;
  return html`<a class="button quiet" href="${upgradeUrl ?? "#upgrade"}">${plan === "pro" ? "Upgrade to Pro" : "Ask for Enterprise"}</a>`;
}

const renderComparison = (): Html =>
  renderTable(
    ["Limit", ...PLANS.map((plan) => PLAN_NAMES[plan])],
    listPlanRows().map(([name, ...values]) => ({ cells: [html`<strong>${name}</strong>`, ...values] })),
  );

function renderEndpointList(tier: Tier, { routes, acceptsPayments }: PricingView): Html {
  const endpoints = routes.filter(({ metering }) => metering.quotaTier === tier);
  const renderPriceNote = ({ priceTier }: RouteEntry["metering"]) =>
    !acceptsPayments || priceTier === tier ? null : html` <span class="faint small">${describePrice(priceTier)}</span>`;
  return html`<ul class="plain">
${endpoints.map(({ method, path, metering }) => html`<li><code class="small">${method} ${renderPath(path)}</code>${renderPriceNote(metering)}</li>`)}
</ul>`;
}

const describePrice = (priceTier: Tier | null): string =>
  priceTier === null ? "not sold per request" : `${formatTierPrice(priceTier)} per request, as ${priceTier}`;

const formatTierPrice = (tier: Tier): string => `$${TIER_PRICES_USD[tier].toFixed(2)}`;

/** Renders a path that may wrap before each slash but the first. */
const renderPath = (path: string): Html =>
  path
    .split("/")
    .slice(1)
    .reduce((text, segment, index) => html`${text}${index === 0 ? null : html`<wbr>`}/${segment}`, html``);

function renderPayments(routes: readonly RouteEntry[]): Html {
  const tiers = TIERS.filter((tier) => routes.some(({ metering }) => metering.priceTier === tier));
  return html`<section>
<h2>Pay per request</h2>
<p>Callers without a key can pay for a single request with a stablecoin over <a href="https://www.x402.org" rel="noopener noreferrer">x402</a>. A request without credentials gets a 402 response with the exact price; a failed request is not charged.</p>
${renderTable(
  ["Tier", "Price per request"],
  tiers.map((tier) => ({ cells: [html`<strong>${tier}</strong>`, formatTierPrice(tier)] })),
)}
</section>`;
}

function renderUpgrade({ upgradeUrl, isSandbox }: PricingView): Html {
  return html`<section id="upgrade" class="call">
<div><h2>Upgrade</h2>
${renderUpgradePath(upgradeUrl !== null, isSandbox)}</div>
<p class="actions">${upgradeUrl === null ? html`<a class="button quiet" href="/account">Go to your account</a>` : html`<a class="button" href="${upgradeUrl}">Upgrade</a>`}</p>
</section>`;
}

function renderUpgradePath(hasUpgradePage: boolean, isSandbox: boolean): Html {
  if (hasUpgradePage) return html`<p>Your keys stay the same. The new limits apply as soon as the plan changes.</p>`;
  return isSandbox
    ? html`<p>This is a sandbox, so you can change the plan of an account yourself:</p>
${renderCode("set-plan-command", "npx parallax customers set-plan you@example.org pro")}`
    : html`<p>To upgrade, contact the operator of this server. Your keys stay the same.</p>`;
}
