import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { AsyncEvent } from "./async-event.ts";

/** Starts a wait and returns whether it has ended. */
function startWait(event: AsyncEvent, clock: FakeClock, waitMs: number | null): () => boolean {
  let hasEnded = false;
  void event.wait(clock, waitMs).then(() => {
    hasEnded = true;
  });
  return () => hasEnded;
}

test("a wait ends when the event is set, and leaves no timer", async () => {
  const clock = new FakeClock();
  const event = new AsyncEvent();
  const hasEnded = startWait(event, clock, 1_000);
  await clock.advance(999);
  assert.equal(hasEnded(), false);
  event.set();
  await clock.settle();
  assert.equal(hasEnded(), true);
  assert.equal(clock.pending, 0);
});

test("a wait ends after its timeout; a wait without a timeout ends only when the event is set", async () => {
  const clock = new FakeClock();
  const event = new AsyncEvent();
  const hasEnded = startWait(event, clock, 1_000);
  await clock.advance(1_000);
  assert.equal(hasEnded(), true);
  const hasEndedUnlimited = startWait(event, clock, null);
  await clock.advance(1e9);
  assert.equal(hasEndedUnlimited(), false);
  event.set();
  await clock.settle();
  assert.equal(hasEndedUnlimited(), true);
});

test("an event that is set before a wait ends one wait immediately, and none if `reset` is called in between", async () => {
  const clock = new FakeClock();
  const event = new AsyncEvent();
  event.set();
  event.set();
  const hasFirstEnded = startWait(event, clock, null);
  await clock.settle();
  assert.equal(hasFirstEnded(), true);
  event.set();
  event.reset();
  const hasSecondEnded = startWait(event, clock, null);
  await clock.settle();
  assert.equal(hasSecondEnded(), false);
});
