import assert from "node:assert/strict";
import { test } from "node:test";
import { waitUntil } from "../../../../test/support/asserts/wait-until.ts";
import { eachDatabase } from "../../../../test/support/databases.ts";
import { quietLog } from "../../../../test/support/quiet-log.ts";
import { openStreamServer } from "../../../../test/support/streaming/stream-server.ts";
import { createInProcessBus } from "../../../adapters/bus/in-process-bus.ts";
import { appendEvents, createEventLog, startEpoch } from "../../../event-log/index.ts";
import { drain } from "../../../http/lifecycle.ts";
import type { Database } from "../../../ports/database.ts";

/** More bytes than the kernel buffers for a stalled connection. */
const PUSHED_BYTES = 12 * 1024 * 1024;
const TITLE_BYTES = 15_000;

test("a stalled client is disconnected and counted, and the others receive every event", async () => {
  const { open, log, streaming } = await openStreamServer();
  const stalled = await open();
  const healthy = await open();
  stalled.socket.pause();
  const count = Math.ceil(PUSHED_BYTES / TITLE_BYTES);
  for (let index = 1; index <= count; index++) {
    log.append({ title: "x".repeat(TITLE_BYTES) });
    if (index % 20 === 0) await waitUntil(() => healthy.events.length === index);
  }
  await waitUntil(() => healthy.events.length === count);
  assert.deepEqual([streaming.figures.disconnected, streaming.figures.open], [{ unsent_bytes: 1, stalled: 0 }, 1]);
  stalled.socket.resume();
  await waitUntil(() => stalled.isClosed);
  assert.ok(stalled.events.length < count);
});

test("a client that stops reading while it resumes has at most 33 KiB unsent, and is disconnected after 20 s", async () => {
  const { app, request, log, streaming, clock } = await openStreamServer();
  const sockets: { writableLength: number }[] = [];
  app.server.on("connection", (socket) => sockets.push(socket));
  const count = Math.ceil(PUSHED_BYTES / TITLE_BYTES);
  for (let index = 0; index < count; index++) log.append({ title: "x".repeat(TITLE_BYTES) });
  const reader = request("/v1/stream?last_event_id=0");
  reader.socket.pause();
  await waitUntil(() => (sockets[0]?.writableLength ?? 0) > 0);
  for (let turn = 0; turn < 200; turn++) await clock.settle();
  assert.ok((sockets[0]?.writableLength ?? 0) <= 33 * 1024, `${sockets[0]?.writableLength} bytes`);
  await clock.advance(20_000);
  assert.equal(streaming.figures.disconnected.stalled, 0);
  // The last acknowledgement of a client that has stopped reading can be late.
  for (let tick = 0; tick < 20 && streaming.figures.open > 0; tick++) await clock.advance(2_000);
  assert.deepEqual([streaming.figures.disconnected, streaming.figures.open], [{ unsent_bytes: 0, stalled: 1 }, 0]);
});

test("a slow client that keeps reading gets all older events", async () => {
  const { open, log, streaming } = await openStreamServer({ eventsInMemoryMax: 50 });
  const count = Math.ceil(PUSHED_BYTES / TITLE_BYTES);
  for (let index = 0; index < count; index++) log.append({ title: "x".repeat(TITLE_BYTES) });
  const reader = await open("?last_event_id=0");
  reader.socket.on("data", () => {
    reader.socket.pause();
    setImmediate(() => reader.socket.resume());
  });
  await waitUntil(() => reader.events.length === count);
  assert.deepEqual(streaming.figures.disconnected, { unsent_bytes: 0, stalled: 0 });
});

test("every client gets a heartbeat every 15 s", async () => {
  const { open, clock } = await openStreamServer();
  const readers = [await open(), await open(), await open()];
  await clock.advance(60_000);
  await waitUntil(() => readers.every(({ body }) => body.split(": keep-alive").length === 5));
  await clock.advance(14_000);
  for (const { body, events } of readers) {
    assert.ok(body.split(": keep-alive").length <= 6);
    assert.deepEqual(events, []);
  }
});

test("one tick sends heartbeats to a part of the clients only", async () => {
  const { open, clock } = await openStreamServer();
  const readers = [await open(), await open(), await open()];
  const countHeartbeats = () => readers.filter(({ body }) => body.includes(": keep-alive")).length;
  for (let second = 1; second <= 2; second++) {
    await clock.advance(1_000);
    await waitUntil(() => countHeartbeats() >= second);
    assert.equal(countHeartbeats(), second);
  }
});

test("a stream ends at once when its key is revoked, and the streams of other keys stay open", async () => {
  const { open, revoked, bus, streaming } = await openStreamServer();
  const [ended, kept] = [await open(), await open("", { authorization: "Bearer key-2" })];
  revoked.add("key-1");
  bus.publish("keys");
  await waitUntil(() => ended.isClosed);
  assert.match(ended.body, /: the key or its plan has changed\n\n$/);
  assert.deepEqual([kept.isClosed, streaming.figures.open], [false, 1]);
});

test("keys are checked by one read at a time, and again after a change during a read", async () => {
  const reads: PromiseWithResolvers<Map<string, "free">>[] = [];
  const { open, bus, clock } = await openStreamServer({
    readPlans() {
      const read = Promise.withResolvers<Map<string, "free">>();
      reads.push(read);
      return read.promise;
    },
  });
  const reader = await open();
  bus.publish("keys");
  await waitUntil(() => reads.length > 0);
  bus.publish("keys");
  await clock.settle();
  assert.equal(reads.length, 1);
  reads[0]?.resolve(new Map([["key-1", "free"]]));
  await waitUntil(() => reads.length > 1);
  assert.equal(reader.isClosed, false);
  reads[1]?.resolve(new Map());
  await waitUntil(() => reader.isClosed);
  assert.equal(reads.length, 2);
});

test("a stream ends within a minute of a change of plan, even if the wake-up is lost", async () => {
  const { open, plans, clock } = await openStreamServer();
  const reader = await open();
  await clock.advance(60_000);
  assert.equal(reader.isClosed, false);
  plans.set("key-1", "pro");
  await clock.advance(60_000);
  await waitUntil(() => reader.isClosed);
});

test("the key of a closed stream is not checked", async () => {
  const checked: string[] = [];
  const { open, bus, streaming } = await openStreamServer({
    async readPlans(keyIds) {
      checked.push(...keyIds);
      return new Map();
    },
  });
  const [closed, kept] = [await open(), await open("", { authorization: "Bearer key-2" })];
  await closed.close();
  await waitUntil(() => streaming.figures.open === 1);
  bus.publish("keys");
  await waitUntil(() => kept.isClosed);
  assert.deepEqual(checked, ["key-2"]);
});

test("streams stay open while the keys cannot be read", async () => {
  const { open, clock } = await openStreamServer({ readPlans: () => Promise.reject(new Error("unavailable")) });
  const reader = await open();
  await clock.advance(120_000);
  assert.equal(reader.isClosed, false);
});

test("a stopping server ends all streams with a reconnection time, rejects new ones and closes without delay", async () => {
  const random = { uniform: () => 0.25, bytes: (length: number) => new Uint8Array(length) };
  const { app, open, clock, streaming } = await openStreamServer({ random });
  const readers = [await open(), await open("", { authorization: "Bearer key-2" })];
  // The clock does not reach the deadline.
  await drain(app, { clock, deadlineMs: 10_000 });
  await waitUntil(() => readers.every(({ isClosed }) => isClosed));
  for (const { retryMs } of readers) assert.equal(retryMs, 2_000);
  assert.equal(streaming.figures.open, 0);
  const identity = { caller: "c", key: null, address: "127.0.0.1", lastEventId: null };
  assert.throws(() => streaming.open({ ...identity, filter: { types: 1, markets: null } }), { code: "draining" });
});

test("2 s after the start of its shutdown, the server closes the connection of a client that does not read", async () => {
  const { app, request, log, clock } = await openStreamServer();
  const sockets: { writableLength: number }[] = [];
  app.server.on("connection", (socket) => sockets.push(socket));
  for (let sent = 0; sent < PUSHED_BYTES; sent += TITLE_BYTES) log.append({ title: "x".repeat(TITLE_BYTES) });
  request("/v1/stream?last_event_id=0").socket.pause();
  await waitUntil(() => (sockets[0]?.writableLength ?? 0) > 0);
  let hasClosed = false;
  const closing = drain(app, { clock, deadlineMs: 10_000 }).finally(() => {
    hasClosed = true;
  });
  await clock.advance(1_900);
  assert.equal(hasClosed, false);
  await clock.advance(200);
  await closing;
});

const appendOne = (database: Database, key: string) =>
  database.transaction((transaction) =>
    appendEvents(transaction, [
      { type: "whale_alert", key, occurredAt: 0, venue: "alpha", marketId: "m1", payload: { key } },
    ]),
  );

eachDatabase(
  "after a server restart, a client that resumes from the database log gets every event once and in order",
  async (database) => {
    const bus = createInProcessBus(quietLog);
    const log = createEventLog({ database, bus });
    const first = await openStreamServer({ bus, log: log as never });
    const reader = await first.open("?market_ids=alpha/m1&events=whale_alert");
    for (const key of ["a", "b"]) await appendOne(database, key);
    log.announce();
    await waitUntil(() => reader.events.length === 2);
    await first.close();
    for (const key of ["c", "a", "d"]) await appendOne(database, key);
    const second = await openStreamServer({ bus, log: log as never, eventsInMemoryMax: 1 });
    const resumed = await second.open("?market_ids=alpha/m1&events=whale_alert", {
      "last-event-id": reader.lastEventId,
    });
    await waitUntil(() => resumed.events.length === 2);
    await appendOne(database, "e");
    log.announce();
    await waitUntil(() => resumed.events.length === 3);
    const keys = [...reader.events, ...resumed.events].map(({ data }) => JSON.parse(data).key);
    assert.deepEqual(keys, ["a", "b", "c", "d", "e"]);
  },
);

eachDatabase("when other processes start, a client gets no reset and receives the next event", async (database) => {
  const bus = createInProcessBus(quietLog);
  const log = createEventLog({ database, bus });
  await appendOne(database, "a");
  const position = await startEpoch(database, Date.UTC(2026, 10, 21));
  const server = await openStreamServer({ bus, log: log as never });
  const reader = await server.open("", { "last-event-id": String(position) });
  for (let second = 1; second <= 3; second++) {
    await startEpoch(database, Date.UTC(2026, 10, 21) + second * 1_000);
    log.announce();
    await server.clock.advance(1_000);
  }
  await appendOne(database, "b");
  log.announce();
  await waitUntil(() => reader.events.length > 0);
  assert.deepEqual(
    reader.events.map(({ event, data }) => [event, JSON.parse(data).key]),
    [["whale_alert", "b"]],
  );
});
