import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS } from "../../lib/durations.ts";
import { parseRetryAfter } from "./webhook-retry-after.ts";

const NOW = Date.parse("2026-11-21T12:00:00Z");

test("reads seconds and HTTP dates, at most 24 hours ahead and never in the past", () => {
  for (const [header, at] of [
    ["0", NOW],
    [" 120 ", NOW + 120_000],
    ["86401", NOW + DAY_MS],
    ["9999999999", NOW + DAY_MS],
    ["Sat, 21 Nov 2026 12:00:30 GMT", NOW + 30_000],
    ["Sat, 21 Nov 2026 11:00:00 GMT", NOW],
    ["Fri, 21 Nov 2036 12:00:00 GMT", NOW + DAY_MS],
  ] as const)
    assert.equal(parseRetryAfter(header, NOW), at, header);
});

test("other text is ignored", () => {
  for (const header of [
    undefined,
    "",
    "-1",
    "1.5",
    "1e3",
    "soon",
    "2026-11-21T12:00:30Z",
    "99999999999",
    "Sat, 99 Xyz 2026 99:00:00 GMT",
  ])
    assert.equal(parseRetryAfter(header, NOW), null, header);
});
