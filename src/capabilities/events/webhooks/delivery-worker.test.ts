import assert from "node:assert/strict";
import { test } from "node:test";
import { openWith, openWorker } from "../../../../test/support/webhooks/delivery-worker-harness.ts";
import { ok } from "../../../../test/support/webhooks/fake-webhook-ports.ts";
import { FairSemaphore } from "../../../lib/fair-semaphore.ts";
import type { WebhookAnswer } from "../../../ports/webhook-out.ts";
import type { DeliveryState } from "./node-queries.ts";
import { signDelivery } from "./signature.ts";

const UNAVAILABLE: WebhookAnswer = { kind: "failed", failure: "unavailable" };
const evt = (...ids: number[]) => ids.map((id) => `evt_${id}`);
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

test("an event is sent when the previous event is answered, or 250 ms after the previous event was sent", async () => {
  const { clock, sent, ids } = await openWith(10);
  assert.deepEqual(ids(), evt(1));
  sent[0]?.answer();
  await clock.settle();
  assert.deepEqual(ids(), evt(1, 2));
  await clock.advance(249);
  assert.deepEqual(ids(), evt(1, 2));
  await clock.advance(1);
  assert.deepEqual(ids(), evt(1, 2, 3));
});

test("before the first answer, the second event is sent after a second", async () => {
  const { clock, ids } = await openWith(4);
  await clock.advance(999);
  assert.deepEqual(ids(), evt(1));
  await clock.advance(1);
  assert.deepEqual(ids(), evt(1, 2));
  await clock.advance(250);
  assert.deepEqual(ids(), evt(1, 2, 3), "the receiver is known to be slow, and uses other slots");
});

test("an event waits until the previous event is sent, even if the store is slow", async () => {
  const harness = openWorker();
  let release: () => void = () => {};
  harness.state.beforeOwnershipCheck = () =>
    new Promise((resolve) => {
      release = resolve;
    });
  harness.append(3);
  harness.open();
  await harness.clock.advance(1_000);
  assert.equal(harness.state.reads.ownershipChecks, 1);
  harness.state.beforeOwnershipCheck = async () => {};
  release();
  await harness.clock.advance(249);
  assert.deepEqual(harness.ids(), evt(1));
});

test("a webhook has at most four attempts at the same time", async () => {
  const { clock, sent, ids } = await openWith(10);
  await clock.advance(60_000);
  assert.deepEqual(ids(), evt(1, 2, 3, 4));
  sent[3]?.answer();
  await clock.advance(250);
  assert.deepEqual(ids(), evt(1, 2, 3, 4, 5));
});

test("after a failure, events do not wait for each other, and at most two of the four attempts are retries", async () => {
  const harness = await openWith(6, { retryDelaysMs: [1, 1] });
  const { clock, sent, ids, state } = harness;
  state.respond = () => ok(500);
  sent[0]?.answer(ok(500));
  await clock.settle();
  assert.deepEqual(ids(), evt(1, 2, 3, 4, 5, 6));
  state.respond = null;
  await clock.advance(200);
  assert.equal(sent.length, 8);
  harness.append(6);
  harness.worker.wake();
  await clock.advance(10);
  assert.equal(sent.length, 10);
});

test("the stored position is before the first unfinished event", async () => {
  const { clock, sent, stored } = await openWith(4);
  await clock.advance(1_250);
  sent[1]?.answer();
  sent[2]?.answer();
  await clock.advance(100);
  assert.deepEqual([stored.position, [...stored.deliveries.keys()]], [0, [2, 3]]);
  sent[0]?.answer();
  await clock.advance(100);
  assert.equal(stored.position, 3);
});

test("at most 1,000 events are sent after an unfinished event", async () => {
  const { clock, sent, ids, state } = await openWith(1_200);
  await clock.advance(1_000);
  state.respond = () => ok();
  sent[1]?.answer();
  await clock.advance(300_000);
  assert.deepEqual(ids(), evt(...range(1, 1_000)));
  sent[0]?.answer();
  await clock.settle();
  await clock.advance(1_000);
  assert.equal(sent.length, 1_200);
});

test("the position advances past events of other types, and is stored every 1,000 ids", async () => {
  const harness = await openWith(0);
  harness.append(999, { type: "whale_alert" });
  harness.worker.wake();
  await harness.clock.advance(100);
  assert.equal(harness.stored.state, null);
  harness.append(1, { type: "whale_alert" });
  harness.worker.wake();
  await harness.clock.advance(100);
  assert.equal(harness.stored.position, 1_000);
  harness.append(1);
  harness.worker.wake();
  await harness.clock.settle();
  assert.deepEqual(harness.ids(), evt(1_001));
});

test("events of other types are not skipped when the customer has changed the webhook", async () => {
  const harness = await openWith(0);
  harness.state.ownership = { revision: 1 };
  harness.append(2_000, { type: "whale_alert" });
  harness.worker.wake();
  await harness.worker.ended;
  await harness.clock.advance(100);
  assert.deepEqual([harness.worker.isEnding, harness.stored.position], [true, 0]);
});

test("events that are no longer in memory are read from the log, and later ones follow in order", async () => {
  const harness = openWorker();
  harness.append(100, { isOld: true });
  harness.append(50, { type: "whale_alert", isOld: true });
  harness.append(20);
  harness.state.respond = () => ok();
  harness.open();
  await harness.clock.advance(1_000);
  assert.deepEqual(harness.ids(), evt(...range(1, 100), ...range(151, 170)));
  assert.equal(harness.stored.position, 170);
});

test("reads of the log and of retries share the slots for reads", async () => {
  const reads = new FairSemaphore({ slots: 1 });
  let release: () => void = () => {};
  const hold = new Promise<void>((resolve) => {
    release = resolve;
  });
  void reads.run("", () => hold);
  const harness = openWorker({ slots: { reads } });
  harness.append(1, { isOld: true });
  harness.open();
  await harness.clock.advance(1_000);
  assert.deepEqual([harness.state.reads.events, harness.state.reads.retries], [0, 0]);
  release();
  await harness.clock.advance(1_000);
  assert.deepEqual(harness.ids(), evt(1));
});

test("a message refused for lack of a free connection is sent again after 250 ms, and does not count as an attempt", async () => {
  const { clock, sent, ids, state, stored } = await openWith(1);
  sent[0]?.answer(UNAVAILABLE);
  await clock.advance(249);
  assert.deepEqual(ids(), evt(1));
  await clock.advance(1);
  sent[1]?.answer();
  await clock.advance(20);
  assert.deepEqual([stored.deliveries.get(1)?.attempts, state.counts], [1, { delivered: 1, failed: 0, postponed: 1 }]);
});

test("a delivery that fails during a write of results is sent again, although the read of retries does not return it", async () => {
  const { clock, sent, ids, state } = await openWith(2, { retryDelaysMs: [300, 300] });
  sent[0]?.answer(ok(500));
  await clock.advance(300);
  assert.deepEqual(ids(), ["evt_1", "evt_2", "evt_1"]);
  state.beforeResults = async () => {
    state.beforeResults = async () => {};
    sent[1]?.answer(ok(500));
    await clock.settle();
  };
  sent[2]?.answer();
  await clock.advance(1_000);
  assert.deepEqual(ids(), ["evt_1", "evt_2", "evt_1", "evt_2"]);
});

test("Retry-After delays a first attempt that waits for a connection, and a stopping worker does not wait for the attempt", async () => {
  const { clock, sent, ids, worker } = await openWith(2);
  await clock.advance(1_000);
  assert.deepEqual(ids(), ["evt_1", "evt_2"]);
  sent[1]?.answer(UNAVAILABLE);
  const retryAt = clock.now() + 10_000;
  sent[0]?.answer({ kind: "answered", status: 503, retryAt, bodyHead: "" });
  await clock.advance(9_999);
  assert.equal(sent.length, 2);
  worker.end();
  await clock.advance(1);
  await worker.ended;
  assert.equal(sent.length, 2);
});

test("Retry-After delays all further attempts, also retries that were read before", async () => {
  const { clock, ids, state, sent } = await openWith(9, { retryDelaysMs: [1_000, 1_000] });
  state.respond = () => ok(500);
  sent[0]?.answer(ok(500));
  await clock.advance(100);
  assert.equal(sent.length, 9);
  const retryAt = clock.now() + 60_000;
  state.respond = () => ({ kind: "answered", status: 429, retryAt, bodyHead: "" });
  await clock.advance(50_000);
  assert.equal(sent.length, 11, "two retries ran at the same time");
  state.respond = () => ok();
  await clock.advance(9_999);
  assert.equal(sent.length, 11);
  await clock.advance(1_000);
  assert.deepEqual(new Set(ids().slice(11)), new Set(evt(...range(1, 9))));
});

test("Retry-After delays the events that wait for one of four running attempts", async () => {
  const { clock, sent } = await openWith(10, { target: { streak: { count: 1, since: 0, lastAt: 0 } } });
  sent[0]?.answer({ kind: "answered", status: 429, retryAt: clock.now() + 60_000, bodyHead: "" });
  await clock.advance(1_000);
  assert.equal(sent.length, 4);
});

test("retries are read in pages of 50, until all that are due are sent", async () => {
  const harness = await openWith(130, { retryDelaysMs: [1_000] });
  const { clock, sent, ids, state } = harness;
  state.respond = () => ok(500);
  sent[0]?.answer(ok(500));
  await clock.advance(900);
  assert.equal(sent.length, 130);
  state.respond = () => ok();
  await clock.advance(5_000);
  assert.deepEqual([state.reads.retriesMax, new Set(ids().slice(130)).size, sent.length], [50, 130, 260]);
});

test("retries that become due within 200 ms are read together", async () => {
  const { clock, sent, ids, state, worker, append } = await openWith(1, { retryDelaysMs: [300, 300] });
  state.respond = () => ok(500);
  sent[0]?.answer(ok(500));
  for (let index = 0; index < 9; index++) {
    append(1);
    worker.wake();
    await clock.advance(10);
  }
  await clock.advance(200);
  const { retries } = state.reads;
  state.respond = () => ok();
  await clock.advance(500);
  assert.equal(ids().length, 20);
  assert.ok(state.reads.retries - retries <= 3, `${state.reads.retries - retries} reads`);
});

test("a retry that another node has scheduled is sent at its time, even if a later retry is scheduled in the meantime", async () => {
  const harness = openWorker({ retryDelaysMs: [100_000] });
  const { clock, ids, sent, stored } = harness;
  const delivery: DeliveryState = {
    webhookId: "wh-1",
    eventId: 50,
    eventType: "price_shift",
    status: "retrying",
    attempts: 1,
    body: '{"id":"50"}',
    firstAttemptAt: 0,
    lastAttemptAt: 0,
    responseStatus: 500,
    responseHead: "",
    failure: null,
    latencyMs: 1,
    nextAttemptAt: clock.now() + 60_000,
  };
  stored.deliveries.set(50, delivery);
  harness.append(1);
  harness.open();
  await clock.advance(1_000);
  sent[0]?.answer(ok(500));
  await clock.advance(58_999);
  assert.deepEqual(ids(), evt(1));
  await clock.advance(1);
  assert.deepEqual(ids(), evt(1, 50));
  assert.equal(sent[1]?.request.body, delivery.body);
  sent[1]?.answer();
  await clock.advance(60_000);
  assert.deepEqual(ids(), evt(1, 50, 1));
});

test("a Retry-After that arrives while retries are read delays them", async () => {
  const { clock, sent, state } = await openWith(2, { retryDelaysMs: [250, 250] });
  sent[0]?.answer(ok(500));
  await clock.settle();
  await clock.advance(245);
  state.failing.add("results");
  sent[1]?.answer({ kind: "answered", status: 429, retryAt: clock.now() + 60_000, bodyHead: "" });
  await clock.advance(100);
  state.failing.clear();
  await clock.advance(59_800);
  assert.equal(sent.length, 2);
  await clock.advance(5_000);
  assert.equal(sent.length, 4);
});

test("Retry-After delays new events, also those that were read before, and a shorter one does not end the delay", async () => {
  const harness = await openWith(5);
  const { clock, sent, ids } = harness;
  await clock.advance(1_000);
  const fail = (seconds: number): WebhookAnswer => ({
    kind: "answered",
    status: 503,
    retryAt: clock.now() + seconds * 1_000,
    bodyHead: "",
  });
  sent[0]?.answer(fail(60));
  sent[1]?.answer(fail(1));
  await clock.settle();
  harness.append(3);
  harness.worker.wake();
  await clock.advance(59_999);
  assert.deepEqual(ids(), evt(1, 2));
  harness.state.respond = () => ok();
  await clock.advance(1);
  assert.deepEqual(ids().slice(2).sort(), evt(1, 2, 3, 4, 5, 6, 7, 8));
});

test("if events, retries or the ownership cannot be read, they are read again a second later", async () => {
  for (const kind of ["events", "retries", "ownership"] as const) {
    const harness = openWorker({ retryDelaysMs: [10] });
    harness.append(1, { isOld: true });
    harness.state.respond = () => (harness.sent.length === 1 ? ok(500) : ok());
    harness.state.failing.add(kind);
    harness.open();
    await harness.clock.advance(10_500);
    const { events, retries, ownershipChecks } = harness.state.reads;
    const count = { events, retries, ownership: ownershipChecks }[kind];
    assert.ok(count >= 10 && count <= 13, `${count} reads of ${kind}`);
    harness.state.failing.clear();
    await harness.clock.advance(2_000);
    assert.deepEqual(harness.ids(), evt(1, 1), kind);
  }
});

test("first attempts wait while more than 2,000 results are unwritten", async () => {
  const { clock, sent, state } = await openWith(5_000, { target: { streak: { count: 1, since: 0, lastAt: 0 } } });
  state.failing.add("results");
  state.respond = () => ok();
  for (const each of sent) each.answer();
  await clock.advance(5_000);
  assert.ok(sent.length > 1_900 && sent.length < 2_200, String(sent.length));
  state.failing.clear();
  await clock.advance(5_000);
  assert.equal(sent.length, 5_000);
});

test("a retry is read only after the result of its previous attempt is written", async () => {
  const harness = await openWith(1, { retryDelaysMs: [1, 1, 1, 1, 1] });
  harness.state.respond = () => ok(500);
  harness.sent[0]?.answer(ok(500));
  await harness.clock.advance(10_000);
  assert.deepEqual([harness.ids(), harness.stored.deliveries.get(1)?.status], [evt(1, 1, 1, 1, 1, 1), "failed"]);
});

test("after a stop, no attempt begins, and the stop waits for running attempts", async () => {
  const harness = await openWith(5, { retryDelaysMs: [1] });
  const { clock, sent, worker } = harness;
  let hasEnded = false;
  void worker.ended.then(() => {
    hasEnded = true;
  });
  await clock.advance(300);
  sent[0]?.answer(ok(500));
  await clock.advance(100);
  const count = sent.length;
  worker.end();
  await clock.advance(1_000);
  assert.deepEqual([hasEnded, sent.length], [false, count]);
  for (const each of sent) each.answer();
  await clock.advance(20);
  assert.deepEqual([hasEnded, sent.length, clock.pending], [true, count, 0]);
});

test("a paused worker and a worker that waits for events stop at once", async () => {
  const idle = await openWith(0);
  idle.worker.end();
  await idle.worker.ended;
  const paused = await openWith(1);
  paused.sent[0]?.answer({ kind: "answered", status: 429, retryAt: paused.clock.now() + 60_000, bodyHead: "" });
  await paused.clock.settle();
  paused.worker.end();
  await paused.worker.ended;
});

test("a deleted webhook ends the worker before the next attempt, and an ownership check is valid for 50 ms", async () => {
  const { clock, sent, state, ids, worker } = await openWith(3);
  state.ownership = null;
  await clock.advance(49);
  sent[0]?.answer();
  await clock.settle();
  assert.deepEqual(ids(), evt(1, 2), "the permit of the first attempt is still valid");
  await clock.advance(1);
  sent[1]?.answer();
  await worker.ended;
  assert.deepEqual(ids(), evt(1, 2));
});

test("each attempt has a new timestamp and signature and the same id and body; the deadline is 10 seconds", async () => {
  const target = { sealedPreviousSecret: Buffer.from("wh-1:old").toString("base64"), previousSecretUntil: 0 };
  const harness = openWorker({ retryDelaysMs: [5_000], target });
  harness.state.respond = () => ok(500);
  harness.append(1);
  harness.open();
  const sentAt = harness.clock.now();
  await harness.clock.advance(6_000);
  const [first, second] = harness.sent.map(({ request }) => request);
  assert.deepEqual([first?.url, first?.deadlineMs, first?.customerId], ["https://example.org/", 10_000, "cus-1"]);
  assert.equal(second?.body, first?.body);
  const sign = (at: number) =>
    signDelivery({ id: "evt_1", sentAt: at, body: first?.body ?? "" }, { current: "a secret", previous: null });
  assert.deepEqual([first?.headers, second?.headers], [sign(sentAt), sign(sentAt + 5_000)]);
  assert.deepEqual(harness.state.counts, { delivered: 0, failed: 2, postponed: 0 });
});
