import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DAY_MS } from "../durations.ts";
import { civilDate } from "./civil-date.ts";
import { type TimeZone, zonedInstant } from "./zoned-time.ts";

const iso = (date: number, minutes: number, zone: TimeZone) =>
  new Date(zonedInstant(date, minutes, zone)).toISOString();

test("known instants: 8:30 in New York is 13:30 UTC in winter and 12:30 UTC in summer", () => {
  assert.equal(iso(civilDate(2026, 1, 13), 510, "America/New_York"), "2026-01-13T13:30:00.000Z");
  assert.equal(iso(civilDate(2026, 7, 14), 510, "America/New_York"), "2026-07-14T12:30:00.000Z");
  assert.equal(iso(civilDate(2026, 3, 19), 14 * 60 + 15, "Europe/Berlin"), "2026-03-19T13:15:00.000Z");
  assert.equal(iso(civilDate(2026, 6, 18), 720, "Europe/London"), "2026-06-18T11:00:00.000Z");
  assert.equal(iso(civilDate(2026, 6, 18), 720, "Asia/Tokyo"), "2026-06-18T03:00:00.000Z");
});

test("a daylight saving change takes effect on its own day, at the hour of the change", () => {
  // New York changes at 2:00 on 8 March and 1 November 2026.
  assert.equal(iso(civilDate(2026, 3, 8), 60, "America/New_York"), "2026-03-08T06:00:00.000Z");
  assert.equal(iso(civilDate(2026, 3, 8), 180, "America/New_York"), "2026-03-08T07:00:00.000Z");
  assert.equal(iso(civilDate(2026, 3, 8), 150, "America/New_York"), "2026-03-08T07:30:00.000Z");
  assert.equal(iso(civilDate(2026, 11, 1), 90, "America/New_York"), "2026-11-01T05:30:00.000Z");
  assert.equal(iso(civilDate(2026, 11, 1), 150, "America/New_York"), "2026-11-01T07:30:00.000Z");
});

test("closed form: a day starts at midnight UTC in zone UTC, and minute 1,440 is midnight of the next day", () => {
  assert.equal(zonedInstant(1, 0, "UTC"), DAY_MS);
  assert.equal(iso(civilDate(2026, 12, 31), 1_440, "America/New_York"), "2027-01-01T05:00:00.000Z");
});

test("noon in a zone shows as noon of the same day when it is formatted in that zone", () => {
  const zones: readonly TimeZone[] = ["America/New_York", "America/Los_Angeles", "Europe/London", "Europe/Berlin"];
  for (const zone of zones) {
    const format = new Intl.DateTimeFormat("en-CA", {
      timeZone: zone,
      dateStyle: "short",
      timeStyle: "short",
      hourCycle: "h23",
    });
    fc.assert(
      fc.property(fc.integer({ min: civilDate(1990, 1, 1), max: civilDate(2100, 1, 1) }), (date) => {
        const day = new Date(date * DAY_MS).toISOString().slice(0, 10);
        return format.format(zonedInstant(date, 720, zone)) === `${day}, 12:00`;
      }),
    );
  }
});
