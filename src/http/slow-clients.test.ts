import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { test } from "node:test";
import { setImmediate as nextIteration } from "node:timers/promises";
import { waitUntil } from "../../test/support/asserts/wait-until.ts";
import { type Client, LARGE_BODY, SETTLED_ITERATIONS, startServer } from "../../test/support/connection-server.ts";
import { readSendQueues } from "./send-queues.ts";

test("a client that reads nothing for 60 s is disconnected, and one that reads slowly is not", async (t) => {
  const server = await startServer(t);
  const stalled = await openPausedClient(server);
  const slow = await openPausedClient(server);
  for (let second = 0; second < 120; second += 20) {
    assert.ok(slow.serverSocket.writableLength > 0, "the server waits for the slow client");
    await readBytes(slow, LARGE_BODY.length);
    await server.settleWrites(slow);
    await server.sweepFor(20_000);
    assert.equal(stalled.serverSocket.destroyed, second >= 60, `after ${second + 20} s`);
    assert.equal(slow.serverSocket.destroyed, false, `after ${second + 20} s`);
  }
  assert.equal(server.limits.figures.rejected.stalled_write, 1);
  await slow.client.close();
});

test("on Linux, a client that acknowledges bytes is not disconnected, even if the kernel accepts no more", {
  skip: process.platform !== "linux",
}, async (t) => {
  const server = await startServer(t);
  const stalled = await openPausedClient(server);
  const slow = await openPausedClient(server);
  await server.sweepFor(20_000);
  for (let round = 0; round < 6; round++) {
    await acknowledgeBytes(slow);
    await server.sweepFor(50_000);
    assert.equal(slow.serverSocket.destroyed, false, `round ${round}`);
  }
  assert.equal(stalled.serverSocket.destroyed, true);
  assert.equal(server.limits.figures.rejected.stalled_write, 1);
});

/** Linux acknowledges received bytes after at most 200 ms, even if it has nothing to send (`TCP_DELACK_MAX`). */
const DELAYED_ACKNOWLEDGEMENT_MS = 200;

/**
 * Opens a client that requests a stream and reads nothing. Returns when the server cannot write more to it and the
 * client's kernel has acknowledged everything that it stores.
 */
async function openPausedClient(server: Awaited<ReturnType<typeof startServer>>) {
  const opened = await server.open();
  opened.client.socket.pause();
  opened.client.socket.write("GET /stream HTTP/1.1\r\nhost: x\r\n\r\n");
  await server.settleWrites(opened);
  let sendQueue = await sendQueueOf(opened.serverSocket);
  let changedAt = performance.now();
  while (performance.now() - changedAt <= DELAYED_ACKNOWLEDGEMENT_MS) {
    const now = await sendQueueOf(opened.serverSocket);
    if (now === sendQueue) continue;
    sendQueue = now;
    changedAt = performance.now();
  }
  return opened;
}

const sendQueueOf = async (socket: Socket) => (await readSendQueues([socket])).get(socket);

/** Reads until the server's kernel has received an acknowledgement. */
async function acknowledgeBytes(slow: { readonly client: Client; readonly serverSocket: Socket }): Promise<void> {
  const readQueue = async () => (await sendQueueOf(slow.serverSocket)) ?? Number.NaN;
  const before = await readQueue();
  assert.ok(before > 0, "the kernel lists the connection");
  const { bytesWritten } = slow.serverSocket;
  while (slow.serverSocket.bytesWritten === bytesWritten && (await readQueue()) >= before) await readBytes(slow, 1);
}

/** Reads at least `count` bytes and stops reading. */
async function readBytes({ client }: { readonly client: Client }, count: number): Promise<void> {
  const start = client.socket.bytesRead;
  client.socket.resume();
  await waitUntil(() => client.socket.bytesRead - start >= count);
  client.socket.pause();
}

test("a response that a slow client reads in steps arrives completely", async (t) => {
  const server = await startServer(t);
  const slow = await server.open();
  slow.client.socket.pause();
  slow.client.socket.write("GET /large HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
  await server.settleWrites(slow);
  assert.ok(slow.serverSocket.writableLength > 0, "the server waits for the slow client");
  await server.clock.advance(58_000);
  await readBytes(slow, 1_800_000);
  for (let count = 0; count < SETTLED_ITERATIONS; count++) await nextIteration();
  await server.clock.advance(58_000);
  slow.client.socket.resume();
  await slow.client.closed;
  assert.ok(slow.client.socket.bytesRead > LARGE_BODY.length);
});
