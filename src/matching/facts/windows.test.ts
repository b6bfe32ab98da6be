import assert from "node:assert/strict";
import { test } from "node:test";
import { normaliseText } from "../text/words.ts";
import { findDates } from "./periods.ts";
import { compareDates, findWindow } from "./windows.ts";

const timedOf = (text: string, near: string) => {
  const closeAt = Date.parse(near);
  const dated = findDates(normaliseText(text), closeAt, { isYearOptional: true });
  return { periods: dated.periods, window: findWindow(dated, closeAt), endAt: closeAt };
};
const windowOf = (text: string, near: string) => {
  const { window } = timedOf(text, near);
  const iso = (time: number) => new Date(time).toISOString().slice(0, 16);
  return window === null ? null : [window.from === null ? null : iso(window.from), iso(window.to)];
};
const relationOf = (a: readonly [string, string], b: readonly [string, string]) =>
  compareDates(timedOf(...a), timedOf(...b)).relation;

test("ranges of times in summer and in winter are instants", () => {
  const summer = ["2026-05-10T23:00", "2026-05-10T23:15"];
  for (const text of [
    "Bitcoin Up or Down - May 10, 7:00PM-7:15PM ET",
    "Bitcoin up or down, 7:00–7:15 PM ET on May 10?",
    "Bitcoin up or down on May 10, 23:00 to 23:15 UTC",
    "Bitcoin up or down 7:00-7:15 PM ET",
    "Bitcoin up or down, 15 minutes",
  ])
    assert.deepEqual(windowOf(text, "2026-05-10T23:15Z"), summer, text);
  assert.deepEqual(windowOf("Bitcoin Up or Down - January 10, 7-8 PM ET", "2026-01-11T01:00Z"), [
    "2026-01-11T00:00",
    "2026-01-11T01:00",
  ]);
  // The clocks change in this night.
  assert.deepEqual(windowOf("Bitcoin Up or Down - October 31, 2026, 11:00PM-3:00AM ET", "2026-11-01T08:00Z"), [
    "2026-11-01T03:00",
    "2026-11-01T08:00",
  ]);
  assert.deepEqual(windowOf("Bitcoin Up or Down - January 10, 11:45PM-12:00AM ET", "2026-01-11T05:00Z"), [
    "2026-01-11T04:45",
    "2026-01-11T05:00",
  ]);
});

test("the single time of an up-or-down question starts its period, other single times do not", () => {
  assert.deepEqual(windowOf("Bitcoin Up or Down - May 10, 3PM ET", "2026-05-10T20:00Z"), [
    "2026-05-10T19:00",
    "2026-05-10T20:00",
  ]);
  assert.deepEqual(windowOf("Ethereum above 2,315 on May 13, 5PM ET?", "2026-05-13T22:00Z"), [
    null,
    "2026-05-13T21:00",
  ]);
});

test("a time without a zone, without a day or in a longer period gives no window", () => {
  for (const text of ["Bitcoin at 5 PM on May 13?", "Bitcoin at 5 PM ET?", "Bitcoin at 5 PM ET in May?", "Bitcoin?"])
    assert.equal(windowOf(text, "2026-05-31T12:00Z"), null, text);
  assert.equal(windowOf("Will it take 15 minutes?", "2026-05-13T21:00Z"), null);
});

test("an hour in New York and the same hour in UTC on another day are the same", () => {
  const newYork = ["Solana Up or Down - May 10, 11PM-12AM ET", "2026-05-11T04:00Z"] as const;
  assert.equal(relationOf(newYork, ["Solana up or down on May 11, 03:00 to 04:00 UTC", "2026-05-11T04:00Z"]), "same");
  assert.equal(relationOf(newYork, ["SOL Up or Down - Hourly", "2026-05-11T04:00Z"]), "same");
  assert.equal(relationOf(newYork, ["SOL Up or Down - Hourly", "2026-05-11T05:00Z"]), "conflict");
  assert.equal(relationOf(newYork, ["SOL Up or Down - Hourly", "2026-05-10T04:00Z"]), "conflict");
  assert.equal(relationOf(newYork, ["Solana Up or Down - May 10, 11:45PM-12AM ET", "2026-05-11T04:00Z"]), "conflict");
});

test("a deadline without a time equals a stated time if its market closes at that time", () => {
  const timed = ["Will it happen before Dec 12, 2026, 1:21 AM UTC?", "2026-12-12T01:21Z"] as const;
  const isCompared = (text: string, end: string) =>
    compareDates(timedOf(text, end), timedOf(...timed)).areTimesCompared;
  assert.equal(isCompared("Will it happen by December 12?", "2026-12-12T01:21Z"), true);
  assert.equal(isCompared("Will it happen by December 12?", "2026-12-12T02:21Z"), false);
  assert.equal(isCompared("Will it happen on December 12?", "2026-12-12T01:21Z"), false);
  assert.equal(isCompared("Will it happen?", "2026-12-12T01:21Z"), false);
});

test("a deadline at the last minute of a day is the deadline at the start of the next day", () => {
  const last = ["Will it happen by 11:59 PM ET on December 31, 2026?", "2027-01-01T05:00Z"] as const;
  assert.equal(relationOf(last, ["Will it happen before January 1, 2027, 12:00 AM ET?", "2027-01-01T05:00Z"]), "same");
  const earlier = compareDates(
    timedOf("Will it happen by 10 PM ET on December 31, 2026?", "2027-01-01T05:00Z"),
    timedOf(...last),
  );
  assert.equal(earlier.relation, "conflict");
  assert.ok(earlier.areOpenStarts && (earlier.daysApart ?? 0) < 0);
});
