import assert from "node:assert/strict";
import { test } from "node:test";
import { findClockTimes, findTimeAfter } from "./clock-times.ts";

const read = (text: string) => findClockTimes(text).map(({ minutes, zone }) => `${minutes} ${zone}`);

test("finds times with the zones of the United States, Europe and Japan in any case", () => {
  for (const [zone, expected] of [
    ["ET", "America/New_York"],
    ["EST", "America/New_York"],
    ["edt", "America/New_York"],
    ["(Eastern Time)", "America/New_York"],
    ["CT", "America/Chicago"],
    ["MDT", "America/Denver"],
    ["pt", "America/Los_Angeles"],
    ["Pacific Time", "America/Los_Angeles"],
    ["UTC", "UTC"],
    ["GMT", "UTC"],
    ["BST", "Europe/London"],
    ["CEST", "Europe/Berlin"],
    ["JST", "Asia/Tokyo"],
  ])
    assert.deepEqual(read(`at 8:30 pm ${zone}`), [`1230 ${expected}`], zone);
});

test("parses 12 and 24 hours, seconds and noon", () => {
  assert.deepEqual(read("5pm, 5 p.m., 12 AM, 12:15 PM, 23:59:59, noon"), [
    "1020 null",
    "1020 null",
    "0 null",
    "735 null",
    "1439 null",
    "720 null",
  ]);
});

test("leaves the zone null if it is not known or has an offset", () => {
  assert.deepEqual(read("14:30 IST"), ["870 null"]);
  assert.deepEqual(read("5 PM UTC+8"), ["1020 null"]);
  for (const offset of ["-3", "-05", "-05:00", "-0500", "-3:30", "-10", "+08:00"]) {
    assert.equal(read(`5 PM UTC${offset}`)[0], "1020 null", offset);
    assert.equal(findTimeAfter(`June 5, 5 PM UTC${offset}`, 6), null, offset);
  }
  assert.equal(read("6 PM UTC+5:30")[0], "1080 null");
});

test("a range of times with a zone is not an offset", () => {
  for (const range of ["12:00 UTC-12:15 UTC", "12:00 UTC-12:15", "noon UTC-12:15 pm UTC"])
    assert.equal(read(range)[0], "720 UTC", range);
  for (const range of [", 12 PM UTC-3 PM UTC", ", 12:00 UTC-12:15 UTC", ", 12:00 utc-9:00 utc", ", noon UTC-12:15"])
    assert.deepEqual(findTimeAfter(`June 5${range}`, 6), { minutes: 720, zone: "UTC" }, range);
  assert.deepEqual(read("5 PM ET-6 PM ET"), ["1020 America/New_York", "1080 America/New_York"]);
});

test("if one end of a range states the zone or 'am' or 'pm', it applies to the other end too", () => {
  const newYork = (minutes: number) => `${minutes} America/New_York`;
  for (const [range, from, to] of [
    ["7:00–7:05 PM ET", 1140, 1145],
    ["7:00PM-7:05PM ET", 1140, 1145],
    ["7 pm ET to 7:05 pm", 1140, 1145],
    ["from 7 to 8 PM ET", 1140, 1200],
    ["May 10, 9-10 AM ET", 540, 600],
    ["11:45-12:00 PM ET", 705, 720],
    ["11:30-12:30 AM ET", 1410, 30],
    ["11-1 PM ET", 660, 780],
    ["19:00-19:05 ET", 1140, 1145],
  ] as const)
    assert.deepEqual(read(range.replace("–", "-")), [newYork(from), newYork(to)], range);
  assert.deepEqual(
    findClockTimes("between 7:00 and 7:05 PM ET, not at 9 PM").map(({ isRangeEnd }) => isRangeEnd),
    [false, true, false],
  );
});

test("a number before a time is not always the start of a range", () => {
  for (const text of ["Lakers 10 - 7 PM ET", "top 5 at 7 PM ET", "May 7 - 8 PM ET", "5 PM UTC+8 - 7 PM ET"])
    assert.equal(read(text).at(-1), text.includes("8 PM ET") ? "1200 America/New_York" : "1140 America/New_York", text);
  assert.equal(read("May 7 - 8 PM ET").length, 1);
  assert.equal(read("Lakers 10 - 7 PM ET").length, 1);
  assert.deepEqual(read("5 PM UTC+8 - 7 PM ET")[0], "1020 null");
});

test("numbers, ratios and words are not times", () => {
  for (const text of ["13 pm", "25:10", "3.5 pm", "5 am5", "GTA 6", "1:2"]) assert.deepEqual(read(text), [], text);
});
