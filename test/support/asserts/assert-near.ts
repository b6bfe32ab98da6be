import assert from "node:assert/strict";

/** Asserts that a number differs from the expected one by at most the tolerance. Null and undefined fail. */
export function assertNear(actual: number | null | undefined, expected: number, tolerance = 1e-9): void {
  assert.ok(Math.abs((actual ?? Number.NaN) - expected) <= tolerance, `${actual} is not ${expected}`);
}
