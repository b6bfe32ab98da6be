import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTime } from "./time-range.ts";

test("parses dates and times of ISO 8601, in UTC unless they have an offset", () => {
  const at = Date.UTC(2026, 10, 20, 13, 5);
  for (const text of [
    "2026-11-20T13:05:00Z",
    "2026-11-20T13:05Z",
    "2026-11-20T13:05:00",
    "2026-11-20 13:05:00.000",
    "2026-11-20T14:05:00+01:00",
    "2026-11-20T14:05:00+0100",
    // A query string encodes + as a space.
    "2026-11-20T14:05:00 01:00",
    "2026-11-20T08:05:00-05:00",
    "2026-11-20t13:05:00z",
  ])
    assert.equal(parseTime(text), at, text);
  assert.equal(parseTime("2026-11-20"), Date.UTC(2026, 10, 20));
  assert.equal(parseTime("2026-11-20T13:05:00.1239Z"), at + 123);
  assert.equal(parseTime("2028-02-29"), Date.UTC(2028, 1, 29));
});

test("returns null for any other text", () => {
  for (const text of [
    "",
    "now",
    "1795132800",
    "2026-13-01",
    "2026-02-30",
    "2026-02-29T00:00Z",
    "2026-11-31T00:00:00+01:00",
    "2026-11-20T25:00Z",
    "2026-11-20T13",
    "20261120",
    "2026-11-20T13:05:00+1",
  ])
    assert.equal(parseTime(text), null, text);
});
