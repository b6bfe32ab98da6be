import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { sampleMarket } from "../../../../test/support/markets/market-samples.ts";
import type { MarketListing } from "../../../domain/market.ts";
import { DAY_MS, HOUR_MS } from "../../../lib/durations.ts";
import { describeResolution } from "./describe-resolution.ts";

const NOW = Date.UTC(2026, 10, 22);

function keyDatesOf(listing: Partial<MarketListing>, now = NOW) {
  const market = { listing: sampleMarket("m", { listing }).listing, yesPrice: 0.5 };
  return describeResolution(market, null, now).keyDates;
}

test("lists at most 12 dates: future ones first, the nearest first, then at most 3 past ones, the latest first", () => {
  const days = Array.from({ length: 30 }, (_, index) =>
    new Date(NOW + (index - 10) * DAY_MS).toISOString().slice(0, 10),
  );
  const texts = fc.shuffledSubarray(days).map((subset) => subset.map((day) => `It is reviewed on ${day}.`).join(" "));
  fc.assert(
    fc.property(texts, (rules) => {
      const dates = keyDatesOf({ rules });
      const future = dates.filter(({ endAt }) => endAt >= NOW);
      const past = dates.slice(future.length);
      const isSorted = (values: readonly number[]) =>
        values.every((value, index) => index === 0 || value >= (values[index - 1] ?? 0));
      return (
        dates.length <= 12 &&
        past.length <= 3 &&
        past.every(({ endAt }) => endAt < NOW) &&
        isSorted(future.map(({ at }) => at)) &&
        isSorted(past.map(({ at }) => -at))
      );
    }),
  );
  const all = keyDatesOf({ rules: days.map((day) => `It is reviewed on ${day}.`).join(" ") });
  assert.equal(all.length, 12);
});

test("dates at the same instant are one entry that names each of them and has the highest impact", () => {
  const closeAt = Date.UTC(2026, 11, 9, 19);
  const describe = (listing: Partial<MarketListing>) =>
    keyDatesOf(listing).map(({ at, label, impact }) => `${new Date(at).toISOString()} ${label} (${impact})`);
  const rules = "Resolves YES if the price at 2:00 PM ET on December 9, 2026 is above 10.";
  assert.deepEqual(describe({ title: "Above 10?", rules, closeAt }), [
    "2026-12-09T19:00:00.000Z Date in the rules (trading closes) (high)",
  ]);
  assert.deepEqual(describe({ title: "Above 10?", rules: "It is reviewed on 2026-12-09T19:00:00Z.", closeAt }), [
    "2026-12-09T19:00:00.000Z Date in the rules (trading closes) (medium)",
  ]);
  // If both dates of the venue are equal, the entry has only one label.
  assert.deepEqual(describe({ title: "Above 10?", closeAt, expectedResolutionAt: closeAt }), [
    "2026-12-09T19:00:00.000Z Resolution expected by the venue (high)",
  ]);
  assert.deepEqual(
    describe({ title: "Fed decision in December 2026?", rules, closeAt, expectedResolutionAt: closeAt }),
    ["2026-12-09T19:00:00.000Z FOMC decision (resolution expected by the venue) (high)"],
  );
});

test("no two entries begin at the same instant", () => {
  const hours = fc.integer({ min: -48, max: 48 }).map((hour) => NOW + hour * HOUR_MS);
  const texts = fc
    .array(hours, { maxLength: 10 })
    .map((all) => all.map((at) => `It is on ${new Date(at).toISOString()}.`));
  fc.assert(
    fc.property(hours, hours, texts, (closeAt, expectedResolutionAt, sentences) => {
      const listing = { title: "Bitcoin above 10?", closeAt, expectedResolutionAt, rules: sentences.join(" ") };
      const instants = keyDatesOf(listing).map(({ at }) => at);
      return new Set(instants).size === instants.length;
    }),
  );
});

test("an expected date of a calendar is marked, and left out if the rules give a date near it", () => {
  const listing = { title: "CPI above 3% in the February report?", closeAt: Date.UTC(2027, 1, 20) };
  const labels = (rules: string | null) =>
    keyDatesOf({ ...listing, rules }, Date.UTC(2027, 0, 20)).map(({ label }) => label);
  assert.ok(labels(null).includes("CPI release (expected)"));
  const stated = labels("Resolves YES if the CPI published on February 10, 2027 is above 3%.");
  assert.ok(!stated.includes("CPI release (expected)"));
  assert.ok(stated.includes("Date in the rules"));
});

test("a settled market has no future dates of a calendar", () => {
  const listing = {
    title: "Fed decision in December 2026?",
    closeAt: Date.UTC(2026, 11, 9),
    status: "finalized",
  } as const;
  assert.ok(!keyDatesOf(listing).some(({ label }) => label === "FOMC decision"));
  assert.ok(keyDatesOf({ ...listing, status: "active" }).some(({ label }) => label === "FOMC decision"));
});

test("without a date of the market, the next releases of its schedule are listed, with medium impact", () => {
  const dates = keyDatesOf({ title: "Weekly jobless claims above 300K?" });
  assert.equal(dates.length, 8);
  assert.ok(dates.every(({ impact }) => impact === "medium"));
  const [superBowl, ...others] = keyDatesOf({ title: "Super Bowl winner?" });
  assert.deepEqual([superBowl?.label, superBowl?.impact, others.length], ["Super Bowl kickoff", "high", 0]);
});
