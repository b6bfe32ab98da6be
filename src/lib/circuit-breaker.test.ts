import assert from "node:assert/strict";
import { test } from "node:test";
import { CircuitBreaker } from "./circuit-breaker.ts";

const openBreaker = () => {
  const breaker = new CircuitBreaker({ failuresMax: 3, openMs: 1_000, openMsMax: 3_000 });
  for (let failure = 0; failure < 3; failure++) breaker.recordFailure(0);
  return breaker;
};

test("the circuit opens at the failure that reaches the maximum", () => {
  const breaker = new CircuitBreaker({ failuresMax: 3, openMs: 1_000, openMsMax: 3_000 });
  breaker.recordFailure(0);
  breaker.recordFailure(0);
  assert.equal(breaker.allows(0), true);
  breaker.recordFailure(0);
  assert.equal(breaker.allows(0), false);
});

test("a success resets the failure count", () => {
  const breaker = new CircuitBreaker({ failuresMax: 2, openMs: 1_000, openMsMax: 3_000 });
  breaker.recordFailure(0);
  breaker.recordSuccess();
  breaker.recordFailure(0);
  assert.equal(breaker.allows(0), true);
});

test("after the pause, allows one probe and refuses further calls until the probe's result is known", () => {
  const breaker = openBreaker();
  assert.equal(breaker.allows(999), false);
  assert.equal(breaker.allows(1_000), true);
  assert.equal(breaker.allows(1_000), false);
});

test("a successful probe closes the circuit", () => {
  const breaker = openBreaker();
  breaker.allows(1_000);
  breaker.recordSuccess();
  assert.equal(breaker.allows(1_000), true);
  assert.equal(breaker.allows(1_000), true);
});

test("each failed probe doubles the pause up to the maximum, and a success resets it", () => {
  const breaker = openBreaker();
  let now = 0;
  for (const pauseMs of [1_000, 2_000, 3_000, 3_000]) {
    assert.equal(breaker.allows(now + pauseMs - 1), false, `before ${pauseMs}`);
    now += pauseMs;
    assert.equal(breaker.allows(now), true, `after ${pauseMs}`);
    breaker.recordFailure(now);
  }
  now += 3_000;
  breaker.allows(now);
  breaker.recordSuccess();
  for (let failure = 0; failure < 3; failure++) breaker.recordFailure(now);
  assert.equal(breaker.allows(now + 999), false);
  assert.equal(breaker.allows(now + 1_000), true);
});

test("allows a new probe if a probe is cancelled", () => {
  const breaker = openBreaker();
  assert.equal(breaker.allows(1_000), true);
  breaker.cancelProbe();
  assert.equal(breaker.allows(1_000), true);
});
