import assert from "node:assert/strict";
import { test } from "node:test";
import { CircuitBreaker } from "./circuit-breaker.ts";

const openBreaker = () => {
  const breaker = new CircuitBreaker({ failuresMax: 3, openMs: 1_000, openMsMax: 3_000 });
  for (let failure = 0; failure < 3; failure++) breaker.failed(0);
  return breaker;
};

test("opens at the failure that reaches the maximum", () => {
  const breaker = new CircuitBreaker({ failuresMax: 3, openMs: 1_000, openMsMax: 3_000 });
  breaker.failed(0);
  breaker.failed(0);
  assert.equal(breaker.allows(0), true);
  breaker.failed(0);
  assert.equal(breaker.allows(0), false);
});

test("resets the failure count after a success", () => {
  const breaker = new CircuitBreaker({ failuresMax: 2, openMs: 1_000, openMsMax: 3_000 });
  breaker.failed(0);
  breaker.succeeded();
  breaker.failed(0);
  assert.equal(breaker.allows(0), true);
});

test("allows exactly one probe after the pause until its result is known", () => {
  const breaker = openBreaker();
  assert.equal(breaker.allows(999), false);
  assert.equal(breaker.allows(1_000), true);
  assert.equal(breaker.allows(1_000), false);
});

test("closes after a successful probe", () => {
  const breaker = openBreaker();
  breaker.allows(1_000);
  breaker.succeeded();
  assert.equal(breaker.allows(1_000), true);
  assert.equal(breaker.allows(1_000), true);
});

test("doubles the pause after each failed probe up to the maximum, and resets it after a success", () => {
  const breaker = openBreaker();
  let now = 0;
  for (const pauseMs of [1_000, 2_000, 3_000, 3_000]) {
    assert.equal(breaker.allows(now + pauseMs - 1), false, `before ${pauseMs}`);
    now += pauseMs;
    assert.equal(breaker.allows(now), true, `after ${pauseMs}`);
    breaker.failed(now);
  }
  now += 3_000;
  breaker.allows(now);
  breaker.succeeded();
  for (let failure = 0; failure < 3; failure++) breaker.failed(now);
  assert.equal(breaker.allows(now + 999), false);
  assert.equal(breaker.allows(now + 1_000), true);
});

test("allows another probe after one is cancelled", () => {
  const breaker = openBreaker();
  assert.equal(breaker.allows(1_000), true);
  breaker.abandoned();
  assert.equal(breaker.allows(1_000), true);
});
