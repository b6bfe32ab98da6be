import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS } from "../../../src/lib/durations.ts";
import {
  cpiReleaseTimes,
  fedDecisionTimes,
  jobsReportTimes,
  listScheduledEvents,
  nextElectionSunday,
} from "./calendar.ts";
import { createDateTexts } from "./event-definition.ts";

const toText = (at: number) => new Date(at).toISOString().slice(0, 16);
const toDates = (times: readonly number[]) => times.map((at) => toText(at).slice(0, 10)).join(" ");

test("Fed decisions are on the published dates, at 14:00 in New York", () => {
  assert.equal(
    toDates(fedDecisionTimes(2025)),
    "2025-01-29 2025-03-19 2025-05-07 2025-06-18 2025-07-30 2025-09-17 2025-10-29 2025-12-10",
  );
  assert.equal(
    toDates(fedDecisionTimes(2026)),
    "2026-01-28 2026-03-18 2026-04-29 2026-06-17 2026-07-29 2026-09-16 2026-10-28 2026-12-09",
  );
  assert.equal(
    toDates(fedDecisionTimes(2027)),
    "2027-01-27 2027-03-17 2027-04-28 2027-06-09 2027-07-28 2027-09-15 2027-10-27 2027-12-08",
  );
  assert.deepEqual(
    fedDecisionTimes(2026).map((at) => new Date(at).getUTCHours()),
    [19, 18, 18, 18, 18, 18, 18, 19],
  );
});

test("jobs reports follow the published rule, also around New Year and Independence Day", () => {
  assert.equal(
    toDates(jobsReportTimes(2026)),
    "2026-01-09 2026-02-06 2026-03-06 2026-04-03 2026-05-08 2026-06-05 " +
      "2026-07-02 2026-08-07 2026-09-04 2026-10-02 2026-11-06 2026-12-04",
  );
  assert.equal(toText(jobsReportTimes(2027)[0] ?? 0), "2027-01-08T13:30");
  assert.equal(toText(jobsReportTimes(2025)[6] ?? 0), "2025-07-03T12:30");
});

test("every year has twelve CPI releases, each from the 8th to the 15th of its month, and never on a weekend", () => {
  for (let year = 2020; year < 2060; year++) {
    const times = cpiReleaseTimes(year);
    assert.equal(times.length, 12);
    for (const [month, at] of times.entries()) {
      const date = new Date(at);
      assert.equal(date.getUTCMonth(), month);
      assert.ok(date.getUTCDate() >= 8 && date.getUTCDate() <= 15, toText(at));
      assert.ok(date.getUTCDay() >= 1 && date.getUTCDay() <= 5, toText(at));
    }
  }
});

test("the finals, award ceremonies and elections of 2027 and 2028 are on exactly the listed dates", () => {
  const from = Date.UTC(2027, 0, 1);
  const events = listScheduledEvents(from, Date.UTC(2029, 0, 1)).map((event) => {
    const input = { seed: 1, underlying: event.number, openAt: event.openAt, closeAt: event.closeAt };
    return `${toText(event.closeAt).slice(0, 10)} ${event.template(input, createDateTexts(event.closeAt)).series}`;
  });
  const others = events.filter((event) => !/ (FED|CPIYOY|PAYROLLS)$/.test(event));
  assert.deepEqual(others, [
    "2027-02-14 NFLCHAMP",
    "2027-03-14 BESTPIC",
    "2027-04-25 PRESFRAN",
    "2027-05-30 EPLCHAMP",
    "2027-06-20 NBACHAMP",
    "2027-08-10 PRESKENY",
    "2027-10-24 PRESARGE",
    "2028-02-13 NFLCHAMP",
    "2028-03-12 BESTPIC",
    "2028-05-28 EPLCHAMP",
    "2028-06-18 NBACHAMP",
    "2028-11-07 PRESUS",
    "2028-11-07 HOUSE",
  ]);
});

test("adjacent ranges together have the events of the whole range, and event numbers are unique", () => {
  const [from, middle, to] = [Date.UTC(2026, 10, 20), Date.UTC(2026, 11, 31, 23), Date.UTC(2030, 0, 1)] as const;
  const whole = listScheduledEvents(from, to);
  assert.deepEqual([...listScheduledEvents(from, middle), ...listScheduledEvents(middle, to)], whole);
  assert.equal(new Set(whole.map(({ number }) => number)).size, whole.length);
});

test("a local election ends on the first Sunday evening at or after the given time", () => {
  for (let day = 0; day < 14; day++) {
    const at = Date.UTC(2026, 10, 20, 19) + day * DAY_MS;
    const sunday = nextElectionSunday(at);
    assert.ok(sunday >= at && sunday < at + 7 * DAY_MS);
    assert.equal(new Date(sunday).getUTCDay(), 0);
    assert.equal(nextElectionSunday(sunday), sunday);
  }
});
