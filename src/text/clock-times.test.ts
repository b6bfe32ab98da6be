import assert from "node:assert/strict";
import { test } from "node:test";
import { findClockTimes } from "./clock-times.ts";

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
});

test("numbers, ratios and words are not times", () => {
  for (const text of ["13 pm", "25:10", "3.5 pm", "5 am5", "GTA 6", "1:2"]) assert.deepEqual(read(text), [], text);
});
