import { TIERS } from "../../../domain/plan.ts";
import { type Html, html, type Page, renderTable } from "../../../http/html/index.ts";
import { DAY_MS } from "../../../lib/durations.ts";
import { sumOf } from "../../../lib/numbers.ts";
import type { DailyUsage } from "../activity/index.ts";
import type { KeyView, MonthlyUsage } from "../customers/index.ts";
import { createSignedInPage } from "./account-layout.ts";
import type { FormSecrets } from "./fields.ts";
import { formatDay, formatShortDay } from "./format.ts";
import { formatInteger } from "./tier-endpoints.ts";
import { type ChartSeries, renderUsageChart } from "./usage-chart.ts";

const CHART_DAYS = 30;
/** Maximum number of keys with their own colour in the chart. The other keys share one. */
const CHART_KEYS_MAX = 5;

export interface UsageView {
  readonly form: FormSecrets;
  readonly keys: readonly KeyView[];
  readonly month: MonthlyUsage;
  /** From `firstUsageDay` on. */
  readonly usage: readonly DailyUsage[];
  /** Unix milliseconds. */
  readonly now: number;
}

/** Returns the first day that the page needs: the start of the chart or of the month, whichever is earlier. */
export function firstUsageDay({ resetsOn }: MonthlyUsage, now: number): string {
  const [chartStart] = listChartDays(now);
  const monthStart = firstDayOfMonth(resetsOn);
  return chartStart !== undefined && chartStart < monthStart ? chartStart : monthStart;
}

/** Usage by day over the last 30 days, and usage of the month by key. */
export function createUsagePage(view: UsageView): Page {
  const { form, keys, month, usage, now } = view;
  const days = listChartDays(now);
  const nameOf = (keyId: string): string => keys.find((key) => key.keyId === keyId)?.name ?? `deleted key ${keyId}`;
  const recentUsage = usage.filter(({ day }) => day >= (days[0] ?? ""));
  const count = (read: (row: DailyUsage) => number) => recentUsage.reduce((sum, row) => sum + read(row), 0);
  return createSignedInPage({
    title: "Usage",
    current: "/account/usage",
    form,
    body: html`<section>
<h2>Calls in the last ${CHART_DAYS} days</h2>
<dl class="figures">
<div><dt>Counted calls</dt><dd>${formatInteger(count(sumCounted))}</dd></div>
<div><dt>All requests</dt><dd>${formatInteger(count(({ requests }) => requests))}</dd></div>
<div><dt>Errors</dt><dd>${formatInteger(count(({ failed }) => failed))}</dd></div>
</dl>
${
  recentUsage.length === 0
    ? html`<p>No requests yet. Usage appears here a few seconds after a request.</p>`
    : html`${renderUsageChart(days, createSeries(days, recentUsage, nameOf))}
<details><summary>Show as a table</summary>
<div class="dense">${renderDayTable(days, recentUsage)}</div>
</details>`
}
<p class="faint small">Days are in UTC. The chart shows the calls that count towards your quotas. Failed requests and account requests are not counted, but they are part of all requests.</p>
</section>
${renderMonthSection(month, usage, nameOf)}`,
  });
}

function listChartDays(now: number): readonly string[] {
  return Array.from({ length: CHART_DAYS }, (_, index) => formatDay(new Date(now - (CHART_DAYS - 1 - index) * DAY_MS)));
}

/** @param resetsOn  first day of the next month */
function firstDayOfMonth(resetsOn: string): string {
  const next = new Date(`${resetsOn}T00:00:00Z`);
  return formatDay(new Date(Date.UTC(next.getUTCFullYear(), next.getUTCMonth() - 1, 1)));
}

const sumCounted = ({ counted }: DailyUsage): number => TIERS.reduce((sum, tier) => sum + counted[tier], 0);

/** Creates one series per key, most calls first. Keys beyond `CHART_KEYS_MAX` share one series. */
function createSeries(
  days: readonly string[],
  usage: readonly DailyUsage[],
  nameOf: (keyId: string) => string,
): readonly ChartSeries[] {
  const callsByKey = new Map<string, number[]>();
  for (const row of usage) {
    const calls = callsByKey.get(row.keyId) ?? days.map(() => 0);
    callsByKey.set(row.keyId, calls);
    const index = days.indexOf(row.day);
    if (index >= 0) calls[index] = (calls[index] ?? 0) + sumCounted(row);
  }
  const series = [...callsByKey].map(([keyId, calls]) => ({ name: nameOf(keyId), calls }));
  series.sort((a, b) => sumOf(b.calls) - sumOf(a.calls));
  if (series.length <= CHART_KEYS_MAX + 1) return series;
  const others = series.slice(CHART_KEYS_MAX);
  const otherCalls = days.map((_, index) => sumOf(others.map(({ calls }) => calls[index] ?? 0)));
  return [...series.slice(0, CHART_KEYS_MAX), { name: "other keys", calls: otherCalls }];
}

function renderDayTable(days: readonly string[], usage: readonly DailyUsage[]): Html {
  const rows = days.toReversed().map((day) => {
    const rowsOfDay = usage.filter((row) => row.day === day);
    const count = (read: (row: DailyUsage) => number) =>
      formatInteger(rowsOfDay.reduce((sum, row) => sum + read(row), 0));
    return {
      cells: [
        formatShortDay(day),
        ...TIERS.map((tier) => count(({ counted }) => counted[tier])),
        count(({ requests }) => requests),
        count(({ failed }) => failed),
      ],
    };
  });
  return renderTable(["Day", ...TIERS, "All requests", "Errors"], rows);
}

function renderMonthSection(
  month: MonthlyUsage,
  usage: readonly DailyUsage[],
  nameOf: (keyId: string) => string,
): Html {
  const monthStart = firstDayOfMonth(month.resetsOn);
  const monthUsage = usage.filter(({ day }) => day >= monthStart && day < month.resetsOn);
  const countTier = (rows: readonly DailyUsage[], tier: (typeof TIERS)[number]) =>
    rows.reduce((sum, { counted }) => sum + counted[tier], 0);
  const keyIds = [...new Set(monthUsage.map(({ keyId }) => keyId))];
  // Usage by key may be newer than the month's usage.
  const missing = TIERS.map((tier) => Math.max(0, month.usage[tier] - countTier(monthUsage, tier)));
  const rows = keyIds.map((keyId) => {
    const rowsOfKey = monthUsage.filter((row) => row.keyId === keyId);
    return {
      cells: [
        html`<strong>${nameOf(keyId)}</strong>`,
        ...TIERS.map((tier) => formatInteger(countTier(rowsOfKey, tier))),
      ],
    };
  });
  const hasMissing = missing.some((count) => count > 0);
  return html`<section>
<h2>This month by key</h2>
<div class="dense">${renderTable(
    ["Key", ...TIERS],
    [
      ...rows,
      ...(hasMissing ? [{ cells: ["Not assigned to a key", ...missing.map(formatInteger)] }] : []),
      {
        cells: [
          html`<strong>Total</strong>`,
          ...TIERS.map((tier) => html`<strong>${formatInteger(month.usage[tier])}</strong>`),
        ],
      },
    ],
  )}</div>
<p class="faint small">Resets on ${month.resetsOn} at 00:00 UTC. ${hasMissing ? "The total is exact. New calls are assigned to a key within a few seconds. Analyses that you start on the page of a market, calls before this page existed, and calls just before a server crashed are never assigned." : null}</p>
</section>`;
}
