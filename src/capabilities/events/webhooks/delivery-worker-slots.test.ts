import assert from "node:assert/strict";
import { test } from "node:test";
import { openWith } from "../../../../test/support/webhooks/delivery-worker-harness.ts";
import { ok } from "../../../../test/support/webhooks/fake-webhook-ports.ts";
import { FairSemaphore } from "../../../lib/fair-semaphore.ts";

const evt = (...ids: number[]) => ids.map((id) => `evt_${id}`);

test("attempts after a failure use the slots of failing receivers", async () => {
  const slots = { healthy: new FairSemaphore({ slots: 0 }), failing: new FairSemaphore({ slots: 0 }) };
  const healthy = await openWith(1, { slots: { healthy: slots.healthy } });
  assert.deepEqual(healthy.ids(), []);
  const streak = { count: 1, since: 0, lastAt: 0 };
  assert.deepEqual((await openWith(1, { slots: { healthy: slots.healthy }, target: { streak } })).ids(), evt(1));
  assert.deepEqual((await openWith(1, { slots: { failing: slots.failing }, target: { streak } })).ids(), []);
});

test("attempts after a slow answer use the slots of slow receivers, and a slow attempt releases its slot after a second", async () => {
  const healthy = new FairSemaphore({ slots: 1 });
  const slow = new FairSemaphore({ slots: 1 });
  const late = new FairSemaphore({ slots: 1 });
  const { clock, sent, ids, append, worker } = await openWith(2, { slots: { healthy, slow, late } });
  assert.deepEqual([ids(), healthy.isIdle], [evt(1), false]);
  await clock.advance(1_000);
  assert.deepEqual([ids(), healthy.isIdle, slow.isIdle, late.isIdle], [evt(1, 2), true, false, false]);
  sent[1]?.answer();
  await clock.advance(8_000);
  sent[0]?.answer();
  append(1);
  worker.wake();
  await clock.settle();
  assert.deepEqual([ids(), healthy.isIdle, slow.isIdle], [evt(1, 2, 3), true, false]);
});

test("while an attempt has run for a second or more, the worker's next attempts wait for slots of slow receivers", async () => {
  const slow = new FairSemaphore({ slots: 1 });
  const release = slow.tryAcquire("another customer") ?? assert.fail();
  const { clock, sent, ids, append, worker } = await openWith(1, { slots: { slow } });
  await clock.advance(1_000);
  append(1);
  worker.wake();
  await clock.settle();
  assert.deepEqual(ids(), evt(1));
  release();
  await clock.settle();
  assert.deepEqual(ids(), evt(1, 2));
  sent[1]?.answer();
  await clock.advance(500);
  sent[0]?.answer();
  append(1);
  worker.wake();
  await clock.settle();
  assert.deepEqual(
    [ids(), slow.isIdle],
    [evt(1, 2, 3), true],
    "the average is 750 ms, so the third has a healthy slot",
  );
});

test("an attempt that runs for over a second keeps its slot for healthy receivers if no slot for late attempts is free", async () => {
  const slots = { healthy: new FairSemaphore({ slots: 1 }), late: new FairSemaphore({ slots: 1 }) };
  const release = slots.late.tryAcquire("another customer") ?? assert.fail();
  const { clock, sent } = await openWith(1, { slots });
  await clock.advance(2_000);
  assert.equal(slots.healthy.isIdle, false);
  sent[0]?.answer();
  await clock.settle();
  assert.equal(slots.healthy.isIdle, true);
  release();
  assert.equal(slots.late.isIdle, true);
});

test("the wait for a slot of the host changes neither the latency nor the choice of slots", async () => {
  const slow = new FairSemaphore({ slots: 1 });
  const { clock, sent, ids, append, worker, stored, state } = await openWith(0, { slots: { slow } });
  state.holdsStarts = true;
  append(1);
  worker.wake();
  await clock.settle();
  const startedAt = clock.now() + 8_500;
  append(1);
  worker.wake();
  await clock.advance(8_500);
  assert.deepEqual([ids(), slow.isIdle], [evt(1), true], "the second event waits until the first is sent");
  sent[0]?.request.onStart?.();
  await clock.advance(249);
  assert.deepEqual(ids(), evt(1));
  await clock.advance(251);
  sent[0]?.answer(ok(), 500);
  await clock.advance(100);
  assert.deepEqual([ids(), slow.isIdle, sent[1]?.request.health], [evt(1, 2), true, "healthy"]);
  const { firstAttemptAt, latencyMs } = stored.deliveries.get(1) ?? {};
  assert.deepEqual([firstAttemptAt, latencyMs], [startedAt, 500]);
});
