import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import type { Log } from "../../../ports/log.ts";
import type { DeliveryState, WebhookState } from "./node-queries.ts";
import { createResultWriter } from "./result-writer.ts";

const STREAK = { count: 2, since: 1, lastAt: 2 };

const delivery = (eventId: number, fields: Partial<DeliveryState> = {}): DeliveryState => ({
  webhookId: "a",
  eventId,
  eventType: "price_shift",
  status: "delivered",
  attempts: 1,
  body: "{}",
  firstAttemptAt: 0,
  lastAttemptAt: 0,
  responseStatus: 200,
  responseHead: "",
  failure: null,
  latencyMs: 1,
  nextAttemptAt: null,
  ...fields,
});
const state = (fields: Partial<WebhookState> = {}) => ({ revision: 0, streak: STREAK, disables: false, ...fields });

/** A writer whose statements fail while `store.isUp` is false. Its log lines are counted. */
function openWriter() {
  const clock = new FakeClock();
  const store = { isUp: true, before: () => {}, warnings: 0 };
  const written: { readonly states: readonly WebhookState[]; readonly deliveries: readonly DeliveryState[] }[] = [];
  const log = { warn: () => store.warnings++ } as unknown as Log;
  const writer = createResultWriter({
    clock,
    log,
    async write(states, deliveries) {
      store.before();
      if (!store.isUp) throw new Error("down");
      written.push({ states, deliveries });
    },
  });
  return { clock, store, written, writer };
}

test("results that are added within 20 ms are written by one statement", async () => {
  const { clock, written, writer } = openWriter();
  for (let eventId = 1; eventId <= 50; eventId++) writer.add(delivery(eventId), state());
  writer.advance("b", 7, 3);
  assert.equal(writer.size, 50);
  await clock.advance(19);
  assert.equal(written.length, 0);
  await clock.advance(1);
  assert.deepEqual(
    written.map(({ states, deliveries }) => [states.length, deliveries.length]),
    [[2, 50]],
  );
  assert.deepEqual(written[0]?.states[1], { webhookId: "b", position: 7, revision: 3, streak: null, disables: false });
  assert.equal(writer.size, 0);
  await clock.advance(60_000);
  assert.equal(written.length, 1, "nothing is written without results");
});

test("statements are at least 100 ms apart, regardless of when results arrive", async () => {
  const { clock, store, written, writer } = openWriter();
  store.before = () => {
    if (written.length === 1) writer.add(delivery(3), state());
  };
  writer.add(delivery(1), state());
  await clock.advance(20);
  await clock.advance(1);
  writer.add(delivery(2), state());
  await clock.advance(98);
  assert.equal(written.length, 1);
  await clock.advance(1);
  assert.equal(written.length, 2);
  await clock.advance(99);
  assert.equal(written.length, 2);
  await clock.advance(1);
  assert.equal(written.length, 3);
});

test("each write has one state per webhook: its last position, its last streak, and whether any attempt disables it", async () => {
  const { clock, written, writer } = openWriter();
  writer.advance("a", 5, 0);
  writer.add(delivery(6), state({ disables: true }));
  writer.add(delivery(7), state({ streak: { ...STREAK, count: 3 } }));
  writer.advance("a", 7, 0);
  await clock.advance(20);
  const combined = { webhookId: "a", position: 7, ...state({ streak: { ...STREAK, count: 3 }, disables: true }) };
  assert.deepEqual(written[0]?.states, [combined]);
});

test("`flushed` resolves when the results that were added before are written, and at once without results", async () => {
  const { clock, store, written, writer } = openWriter();
  await writer.flushed();
  store.isUp = false;
  writer.add(delivery(1), state());
  let isFlushed = false;
  void writer.flushed().then(() => {
    isFlushed = true;
  });
  await clock.advance(500);
  assert.deepEqual([isFlushed, written.length], [false, 0]);
  store.isUp = true;
  await clock.advance(1_000);
  assert.deepEqual([isFlushed, written.length], [true, 1]);
});

test("`flushed` during a statement waits for the results that this statement does not contain", async () => {
  const { clock, store, written, writer } = openWriter();
  let flushed: Promise<unknown> = Promise.resolve();
  store.before = () => {
    store.before = () => {};
    writer.add(delivery(2), state());
    flushed = writer.flushed().then(() => assert.equal(written.length, 2));
  };
  writer.add(delivery(1), state());
  await clock.until(flushed);
  await clock.advance(20);
  await clock.until(flushed);
  assert.deepEqual(
    written.map(({ deliveries }) => deliveries[0]?.eventId),
    [1, 2],
  );
});

test("results that could not be written are written a second later, with those that followed", async () => {
  const { clock, store, written, writer } = openWriter();
  store.isUp = false;
  writer.advance("a", 9, 0);
  writer.add(delivery(1, { status: "retrying" }), state({ disables: true }));
  writer.add(delivery(2), state({ disables: true }));
  await clock.advance(20);
  assert.equal(writer.isFailing, true);
  writer.add(delivery(1, { attempts: 2 }), state({ streak: null }));
  writer.advance("b", 4, 0);
  await clock.advance(5_000);
  assert.equal(store.warnings, 1, "one log line per outage");
  store.isUp = true;
  await clock.advance(1_000);
  assert.equal(writer.isFailing, false);
  const [batch] = written;
  assert.deepEqual(
    batch?.deliveries.map(({ eventId, attempts }) => [eventId, attempts]),
    [
      [1, 2],
      [2, 1],
    ],
  );
  const [a, b] = batch?.states ?? [];
  assert.deepEqual(a, { webhookId: "a", position: 9, ...state({ disables: true }) });
  assert.deepEqual([b?.webhookId, b?.position], ["b", 4]);
});
