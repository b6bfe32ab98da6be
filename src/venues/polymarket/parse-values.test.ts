import assert from "node:assert/strict";
import { test } from "node:test";
import { parseAmount, parseTime } from "./parse-values.ts";

test("reads times with T and Z, times with a space and a short offset, and dates; reads other values as null", () => {
  assert.equal(parseTime("2026-11-20T15:00:00Z"), Date.UTC(2026, 10, 20, 15));
  assert.equal(parseTime("2026-11-20 15:00:00+00"), Date.UTC(2026, 10, 20, 15));
  assert.equal(parseTime("2026-11-20 15:00:00-05"), Date.UTC(2026, 10, 20, 20));
  assert.equal(parseTime("2026-11-20 15:00:00"), Date.UTC(2026, 10, 20, 15));
  assert.equal(parseTime("2026-11-20"), Date.UTC(2026, 10, 20));
  for (const invalid of ["", null, undefined, "soon", "0001-01-01T00:00:00Z", 5])
    assert.equal(parseTime(invalid), null);
});

test("a USD amount is the first valid value, rounded to cents", () => {
  assert.equal(parseAmount(1234.5600000001), 1234.56);
  assert.equal(parseAmount(undefined, "-1", "12.345678"), 12.35);
  assert.equal(parseAmount(null, "x"), null);
});
