import assert from "node:assert/strict";
import { test } from "node:test";
import { CircuitBreaker } from "./circuit-breaker.ts";

const broken = () => {
  const breaker = new CircuitBreaker({ failuresMax: 3, openMs: 1_000, openMsMax: 3_000 });
  for (let failure = 0; failure < 3; failure++) breaker.failed(0);
  return breaker;
};

test("a circuit opens at the failure that reaches the limit and not before", () => {
  const breaker = new CircuitBreaker({ failuresMax: 3, openMs: 1_000, openMsMax: 3_000 });
  breaker.failed(0);
  breaker.failed(0);
  assert.equal(breaker.allows(0), true);
  breaker.failed(0);
  assert.equal(breaker.allows(0), false);
});

test("a success between failures starts the count again", () => {
  const breaker = new CircuitBreaker({ failuresMax: 2, openMs: 1_000, openMsMax: 3_000 });
  breaker.failed(0);
  breaker.succeeded();
  breaker.failed(0);
  assert.equal(breaker.allows(0), true);
});

test("after the pause exactly one probe goes out until it is judged", () => {
  const breaker = broken();
  assert.equal(breaker.allows(999), false);
  assert.equal(breaker.allows(1_000), true);
  assert.equal(breaker.allows(1_000), false);
});

test("a good probe closes the circuit for everybody", () => {
  const breaker = broken();
  breaker.allows(1_000);
  breaker.succeeded();
  assert.equal(breaker.allows(1_000), true);
  assert.equal(breaker.allows(1_000), true);
});

test("each bad probe doubles the pause up to the longest one, and a success makes it short again", () => {
  const breaker = broken();
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

test("a probe given up without a verdict lets the next one through", () => {
  const breaker = broken();
  assert.equal(breaker.allows(1_000), true);
  breaker.abandoned();
  assert.equal(breaker.allows(1_000), true);
});
