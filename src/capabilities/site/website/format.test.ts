import assert from "node:assert/strict";
import { test } from "node:test";
import {
  formatChange,
  formatDate,
  formatDateTime,
  formatPrice,
  formatProfit,
  formatScore,
  formatScoreChange,
  formatShare,
  formatUsd,
  formatVenue,
  joinNames,
  truncate,
} from "./format.ts";

test("prices are cents with one decimal, and unknown values are a dash", () => {
  for (const [price, text] of [
    [null, "–"],
    [0, "0.0¢"],
    [0.0004, "<0.1¢"],
    [0.001, "0.1¢"],
    [0.29, "29.0¢"],
    [0.985, "98.5¢"],
    [0.9996, ">99.9¢"],
    [1, "100.0¢"],
  ] as const)
    assert.equal(formatPrice(price), text);
  assert.deepEqual([0.015, -0.04, 0, -0.0001, null].map(formatChange), ["+1.5¢", "−4.0¢", "0.0¢", "0.0¢", "–"]);
});

test("amounts have no cents, and times are UTC", () => {
  assert.deepEqual([0, 0.4, 82_950.92, 12_345_678, null].map(formatUsd), ["$0", "<$1", "$82,951", "$12,345,678", "–"]);
  assert.equal(formatDate(Date.UTC(2026, 11, 31, 23, 59)), "Dec 31, 2026");
  assert.equal(formatDateTime(Date.UTC(2026, 0, 1)), "Jan 1, 2026, 00:00:00 UTC");
  assert.deepEqual([formatDate(null), formatDate(Number.NaN), formatDate(1e300)], ["–", "–", "–"]);
});

test('venue names start with a capital letter, and lists of names end with "and"', () => {
  assert.equal(formatVenue("venue_a"), "Venue a");
  assert.equal(joinNames(["A", "B", "C"]), "A, B and C");
  assert.deepEqual([joinNames([]), joinNames(["A"])], ["", "A"]);
});

test("shortened text has at most the given length and no lone surrogate", () => {
  assert.equal(truncate("abc", 3), "abc");
  assert.equal(truncate("abcd", 3), "ab…");
  assert.equal(truncate("a😀b", 3), "a…");
});

test("scores have four decimals and shares have one; a difference keeps its sign unless it is a floating-point error", () => {
  assert.deepEqual([formatScore(0.2), formatScore(null)], ["0.2000", "–"]);
  assert.deepEqual([-0.0042, 0.0042, 0.00001, -0.00004, -1e-17, 0, null].map(formatScoreChange), [
    "−0.0042",
    "+0.0042",
    "+0.00001",
    "−0.00004",
    "0.0000",
    "0.0000",
    "–",
  ]);
  assert.deepEqual([0.1234, 1, -0.02, -0.0001, null].map(formatShare), ["12.3%", "100.0%", "−2.0%", "0.0%", "–"]);
});

test("profits have their sign and cents", () => {
  assert.deepEqual([1234.5, -12.5, 0.004, -0.004, 0, null].map(formatProfit), [
    "+$1,234.50",
    "−$12.50",
    "$0.00",
    "$0.00",
    "$0.00",
    "–",
  ]);
});
