import type { RouteEntry } from "../../domain/metering.ts";
import { PLAN_ALLOWANCES, PLAN_PRICES_USD_MONTH, PLANS, type Plan, TIERS, type Tier } from "../../domain/plan.ts";
import { type Html, html, renderPage, renderTable } from "../../http/html/index.ts";

/** Renders the page with the plans, the endpoints of each tier, and how to upgrade. */
export function renderPlansPage(options: {
  readonly routes: readonly RouteEntry[];
  /** URL of the operator's page where customers upgrade; null if not configured. */
  readonly upgradeUrl: string | null;
  readonly isSandbox: boolean;
}): string {
  const { routes } = options;
  return renderPage({
    title: "Plans",
    body: html`<section>
${renderTable(
  ["Plan", ...PLANS],
  [
    createRow("Price per month", formatPrice),
    createRow("Requests per minute", (plan) => formatLimit(plan, PLAN_ALLOWANCES[plan].rateLimits.general)),
    createRow("Strategy requests per minute", (plan) => formatLimit(plan, PLAN_ALLOWANCES[plan].rateLimits.strategy)),
    ...TIERS.map((tier) =>
      createRow(`${tier} calls per month`, (plan) => formatLimit(plan, PLAN_ALLOWANCES[plan].quotas[tier])),
    ),
  ],
)}
<p class="faint small">Quotas reset on the first day of each month at 00:00 UTC. Failed requests are not counted.</p>
</section>
<section>
<h2>Upgrade</h2>
${renderUpgrade(options)}
</section>
<section>
<h2>Endpoints by tier</h2>
<dl>
${TIERS.map((tier) => html`<dt>${tier}</dt><dd>${renderEndpointList(tier, routes)}</dd>`)}
</dl>
</section>
<p><a href="/account">Go to your account</a></p>`,
  });
}

const createRow = (name: string, cell: (plan: Plan) => string) => ({
  cells: [html`<strong>${name}</strong>`, ...PLANS.map(cell)],
});

/** Displayed instead of price and limits for plans without a list price. */
const NEGOTIATED_VALUE = "by agreement";

function formatPrice(plan: Plan): string {
  const dollars = PLAN_PRICES_USD_MONTH[plan];
  return dollars === null ? NEGOTIATED_VALUE : `$${formatInteger(dollars)}`;
}

function formatLimit(plan: Plan, limit: number): string {
  if (PLAN_PRICES_USD_MONTH[plan] === null) return NEGOTIATED_VALUE;
  return limit === 0 ? "not included" : formatInteger(limit);
}

function renderUpgrade({
  upgradeUrl,
  isSandbox,
}: {
  readonly upgradeUrl: string | null;
  readonly isSandbox: boolean;
}): Html {
  if (upgradeUrl !== null) return html`<p><a class="button" href="${upgradeUrl}">Upgrade</a></p>`;
  return isSandbox
    ? html`<p>This is a sandbox, so you can change the plan of an account yourself:</p>
<code class="key">npx parallax customers set-plan you@example.org pro</code>`
    : html`<p>To upgrade, contact the operator of this server.</p>`;
}

const NO_ENDPOINTS_TEXT = "no endpoints yet";

const findEndpoints = (tier: Tier, routes: readonly RouteEntry[]) =>
  routes.filter(({ metering }) => metering.quotaTier === tier);

function renderEndpointList(tier: Tier, routes: readonly RouteEntry[]): Html {
  const endpoints = findEndpoints(tier, routes);
  if (endpoints.length === 0) return html`<span class="faint">${NO_ENDPOINTS_TEXT}</span>`;
  return html`<ul class="plain">
${endpoints.map(({ method, path }) => html`<li><code class="small">${method} ${path}</code></li>`)}
</ul>`;
}

/** Lists the endpoints of a tier as path segments without parameters, for example "markets, markets history, events". */
export function summarizeEndpoints(tier: Tier, routes: readonly RouteEntry[]): string {
  const names = findEndpoints(tier, routes).map(({ path }) =>
    path
      .replace(/\{\w+\}/g, "")
      .split("/")
      .filter(Boolean)
      .slice(1)
      .join(" "),
  );
  return [...new Set(names)].join(", ") || NO_ENDPOINTS_TEXT;
}

export const formatInteger = (value: number): string => value.toLocaleString("en-US");
