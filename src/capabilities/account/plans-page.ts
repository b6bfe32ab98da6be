import type { RouteEntry } from "../../domain/metering.ts";
import { PLAN_ALLOWANCES, PLAN_PRICES_USD_MONTH, PLANS, type Plan, TIERS, type Tier } from "../../domain/plan.ts";
import { type Html, html, page, table } from "../../http/html/index.ts";

/** What the plans are, which endpoint counts as what, and how to get another one. */
export function plansPage(options: {
  readonly routes: readonly RouteEntry[];
  /** The operator's address for whoever wants more; null where there is none. */
  readonly upgradeUrl: string | null;
  readonly isSandbox: boolean;
}): string {
  const { routes } = options;
  return page({
    title: "Plans",
    body: html`<section>
${table(
  ["Plan", ...PLANS],
  [
    row("Price a month", price),
    row("Requests a minute", (plan) => allowed(plan, PLAN_ALLOWANCES[plan].rateLimits.general)),
    row("Strategy requests a minute", (plan) => allowed(plan, PLAN_ALLOWANCES[plan].rateLimits.strategy)),
    ...TIERS.map((tier) => row(`${tier} calls a month`, (plan) => allowed(plan, PLAN_ALLOWANCES[plan].quotas[tier]))),
  ],
)}
<p class="faint small">Months begin on the first at 00:00 UTC. An answer that fails is not counted.</p>
</section>
<section>
<h2>A larger plan</h2>
${upgrade(options)}
</section>
<section>
<h2>What counts as what</h2>
<dl>
${TIERS.map((tier) => html`<dt>${tier}</dt><dd>${endpointList(tier, routes)}</dd>`)}
</dl>
</section>
<p><a href="/account">To the account page</a></p>`,
  });
}

const row = (name: string, cell: (plan: Plan) => string) => ({
  cells: [html`<strong>${name}</strong>`, ...PLANS.map(cell)],
});

/** What is agreed upon with each customer has no number that holds for all. */
const BY_AGREEMENT = "by agreement";

function price(plan: Plan): string {
  const dollars = PLAN_PRICES_USD_MONTH[plan];
  return dollars === null ? BY_AGREEMENT : `$${wholeNumber(dollars)}`;
}

function allowed(plan: Plan, number: number): string {
  if (PLAN_PRICES_USD_MONTH[plan] === null) return BY_AGREEMENT;
  return number === 0 ? "not included" : wholeNumber(number);
}

function upgrade({ upgradeUrl, isSandbox }: { readonly upgradeUrl: string | null; readonly isSandbox: boolean }): Html {
  if (upgradeUrl !== null) return html`<p><a class="button" href="${upgradeUrl}">Get a larger plan</a></p>`;
  return isSandbox
    ? html`<p>This is a sandbox; set the plan of an account yourself:</p>
<code class="key">npx parallax customers set-plan you@example.org pro</code>`
    : html`<p>Ask whoever runs this server.</p>`;
}

const NONE_YET = "no endpoint of this server yet";

const countedIn = (tier: Tier, routes: readonly RouteEntry[]) =>
  routes.filter(({ metering }) => metering.quotaTier === tier);

function endpointList(tier: Tier, routes: readonly RouteEntry[]): Html {
  const counted = countedIn(tier, routes);
  if (counted.length === 0) return html`<span class="faint">${NONE_YET}</span>`;
  return html`<ul class="plain">
${counted.map(({ method, path }) => html`<li><code class="small">${method} ${path}</code></li>`)}
</ul>`;
}

/** The endpoints of a tier by the words of their paths, for example "markets, markets history, events". */
export function endpointsInShort(tier: Tier, routes: readonly RouteEntry[]): string {
  const names = countedIn(tier, routes).map(({ path }) =>
    path
      .replace(/\{\w+\}/g, "")
      .split("/")
      .filter(Boolean)
      .slice(1),
  );
  return [...new Set(names.map((words) => words.join(" ")))].join(", ") || NONE_YET;
}

export const wholeNumber = (value: number): string => value.toLocaleString("en-US");
