import assert from "node:assert/strict";
import { test } from "node:test";
import { CircuitBreaker } from "./circuit-breaker.ts";

const openBreaker = () => {
  const breaker = new CircuitBreaker(3, 1_000);
  for (let failure = 0; failure < 3; failure++) breaker.recordFailure(0);
  return breaker;
};

test("a success resets the failure count", () => {
  const breaker = new CircuitBreaker(2, 1_000);
  breaker.recordFailure(0);
  breaker.recordSuccess();
  breaker.recordFailure(0);
  assert.equal(breaker.allows(0), true);
});

test("a failed probe opens the circuit for another pause", () => {
  const breaker = openBreaker();
  breaker.allows(1_000);
  breaker.recordFailure(1_000);
  assert.equal(breaker.allows(1_999), false);
  assert.equal(breaker.allows(2_000), true);
});

test("allows a new probe if a probe is cancelled", () => {
  const breaker = openBreaker();
  assert.equal(breaker.allows(1_000), true);
  breaker.cancelProbe();
  assert.equal(breaker.allows(1_000), true);
});
