import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { test } from "node:test";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { MemoryEventLog } from "../../../../test/support/streaming/memory-event-log.ts";
import { createCatchUp } from "./catch-up.ts";
import type { FanOut } from "./fan-out.ts";
import { StreamClient } from "./stream-client.ts";

/** Opens a client at a position, whose connection the test can close. */
function openClient(lastEventId: number) {
  const socket = {
    writable: true,
    writableLength: 0,
    write: () => true,
    destroy() {
      socket.writable = false;
    },
  };
  const request = { caller: "c", key: null, address: "a", filter: { types: 1, markets: null }, lastEventId };
  return { socket, client: new StreamClient(socket as unknown as Socket, request, 0, () => 0) };
}

/** Creates the catch-up on a log with ten events, of which the newest five are in memory. Reads wait for `release`. */
function setUp() {
  const clock = new FakeClock();
  const log = new MemoryEventLog();
  for (let count = 0; count < 10; count++) log.append();
  const held = Promise.withResolvers<void>();
  log.hold = held.promise;
  const latestId = async () => {
    await log.hold;
    return log.lastId;
  };
  const live: StreamClient[] = [];
  const errors: unknown[] = [];
  const fanOut = { floor: 4, through: 9, write() {}, resume: (client: StreamClient) => live.push(client) };
  const resume = createCatchUp({
    log: { latestId, readAfter: (...parameters) => log.readAfter(...parameters) },
    clock,
    fanOut: fanOut as unknown as FanOut,
    onError: (error) => errors.push(error),
  });
  return { clock, log, live, errors, resume, release: held.resolve, fail: held.reject };
}

test("a client that closes while its position is checked is not added to the live clients", async () => {
  const { clock, live, errors, resume, release } = setUp();
  const [open, closed] = [openClient(10), openClient(10)];
  for (const { client } of [open, closed]) resume(client);
  closed.socket.writable = false;
  release();
  await clock.settle();
  assert.deepEqual([live, errors], [[open.client], []]);
});

test("the log is not read for a client that closes while it waits for a read", async () => {
  const { clock, log, resume, release } = setUp();
  const clients = Array.from({ length: 6 }, () => openClient(0));
  for (const { client } of clients) resume(client);
  for (const { socket } of clients) socket.writable = false;
  assert.equal(log.reads, 4);
  release();
  await clock.settle();
  assert.deepEqual([log.reads, log.concurrentReads], [4, 0]);
});

test("a client whose events cannot be read is disconnected, so that it reconnects", async () => {
  const { clock, errors, resume, fail } = setUp();
  const { client } = openClient(0);
  resume(client);
  const error = new Error("an event cannot be parsed");
  fail(error);
  await clock.settle();
  assert.deepEqual([client.isOpen, errors], [false, [error]]);
});
