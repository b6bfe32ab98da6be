import assert from "node:assert/strict";
import { test } from "node:test";
import { SAMPLE_AT, sampleMarket } from "../../../../test/support/markets/market-samples.ts";
import { openWebsite } from "../../../../test/support/pages/website-harness.ts";
import { sampleCandle } from "../../../../test/support/storage-samples.ts";
import type { MarketListing } from "../../../domain/market.ts";
import { DAY_MS, HOUR_MS } from "../../../lib/durations.ts";

const PERIOD_DAYS = { "48h": 2, "7d": 7, "30d": 30 } as const;

/** Shows the page of a market with one price per hour of the last 30 days and of the hour that has just begun. */
async function showChart(listing: Partial<MarketListing>, period: keyof typeof PERIOD_DAYS) {
  const { board, visit } = await openWebsite({
    readHistory: async (_market, readPeriod) => {
      const hours = 24 * PERIOD_DAYS[readPeriod as keyof typeof PERIOD_DAYS];
      const points = Array.from({ length: hours + 1 }, (_, index) => {
        const startAt = SAMPLE_AT - 0.5 * HOUR_MS - (hours - index) * HOUR_MS;
        return sampleCandle(startAt, startAt + HOUR_MS, 0.4);
      });
      return { period: readPeriod, intervalSeconds: 3_600, generatedAt: SAMPLE_AT, points };
    },
  });
  board.apply(sampleMarket("m", { listing }), SAMPLE_AT);
  const { body } = await visit(`/markets/alpha/m?period=${period}`);
  const times = /<div class="times" aria-hidden="true">([\s\S]*?)<\/div>/.exec(body)?.[1] ?? "";
  return {
    body,
    labels: [...times.matchAll(/<span>([^<]*)<\/span>/g)].map((label) => label[1]),
    caption: /<figcaption[^>]*>([^<]*)</.exec(body)?.[1] ?? "",
    lineEnd: /<path class="line" d="[^"]*H([\d.]+)"/.exec(body)?.[1],
  };
}

test("a chart covers the chosen period and ends now, although the last interval of the history ends later", async () => {
  const hours = await showChart({}, "48h");
  assert.deepEqual(hours.labels, ["Nov 19, 00:30", "Nov 19, 16:20", "Nov 20, 08:10", "Nov 21, 00:00"]);
  assert.equal(hours.lineEnd, "600");
  for (const [period, name, first] of [
    ["48h", "48 hours", "Nov 19, 00:30"],
    ["7d", "7 days", "Nov 14"],
    ["30d", "30 days", "Oct 22"],
  ] as const) {
    const { labels, caption } = await showChart({}, period);
    assert.match(caption, new RegExp(`^Yes price over ${name}: from 40\\.0¢ to 40\\.0¢`));
    assert.equal(labels[0], first);
    assert.match(labels.at(-1) ?? "", /^Nov 21/);
  }
});

test("the chart of a settled market ends at the settlement, and its text names the shorter period", async () => {
  const resolvedAt = SAMPLE_AT - 5 * DAY_MS;
  const settled = { status: "finalized", outcome: { kind: "yes" }, resolvedAt } as const;
  const { labels, caption } = await showChart(settled, "7d");
  assert.deepEqual(labels, ["Nov 14, 00:30", "Nov 14, 16:20", "Nov 15, 08:10", "Nov 16, 00:00"]);
  assert.match(caption, /^Yes price since Nov 14, 00:30 until the settlement on Nov 16, 00:00: from/);
  const { body } = await showChart(settled, "48h");
  assert.match(body, /The market was settled on Nov 16, 2026, before the last 48 hours\./);
  assert.doesNotMatch(body, /<figure/);
});
