import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { test } from "node:test";
import { WebSocket, WebSocketServer } from "ws";
import { gatherWrites } from "./gather-writes.ts";

const FRAME_COUNT = 50;

/** Connects a WebSocket client and server, and counts the writes on the server's TCP connection. */
async function openPair(prepare: (socket: Socket) => void) {
  const http = createServer();
  const server = new WebSocketServer({ noServer: true });
  const opened = Promise.withResolvers<{ socket: WebSocket; writes: () => number }>();
  http.on("upgrade", (request, raw, head) => {
    let writes = 0;
    const connection = raw as Socket;
    const write = connection._write.bind(connection);
    const writeMany = connection._writev?.bind(connection);
    connection._write = (chunk, encoding, callback) => {
      writes += 1;
      write(chunk, encoding, callback);
    };
    connection._writev = (chunks, callback) => {
      writes += 1;
      writeMany?.(chunks, callback);
    };
    prepare(connection);
    server.handleUpgrade(request, raw, head, (socket) => {
      writes = 0;
      opened.resolve({ socket, writes: () => writes });
    });
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const client = new WebSocket(`ws://127.0.0.1:${(http.address() as AddressInfo).port}`);
  const received: string[] = [];
  const allReceived = Promise.withResolvers<void>();
  client.on("message", (data) => {
    received.push(data.toString());
    if (received.length === FRAME_COUNT) allReceived.resolve();
  });
  await once(client, "open");
  return {
    ...(await opened.promise),
    received,
    allReceived: allReceived.promise,
    async close() {
      client.terminate();
      http.close();
      await once(http, "close");
    },
  };
}

const frames = Array.from({ length: FRAME_COUNT }, (_, index) => `frame ${index}`);

test("combines the frames of one event-loop iteration into one write and keeps their order", async (t) => {
  const pair = await openPair(gatherWrites);
  t.after(() => pair.close());
  for (const frame of frames) pair.socket.send(frame);
  await pair.allReceived;
  assert.deepEqual(pair.received, frames);
  assert.equal(pair.writes(), 1);
});

test("writes each frame immediately if each is sent in a separate event-loop iteration", async (t) => {
  const pair = await openPair(gatherWrites);
  t.after(() => pair.close());
  for (const frame of frames) {
    pair.socket.send(frame);
    await new Promise(setImmediate);
  }
  await pair.allReceived;
  assert.deepEqual(pair.received, frames);
  assert.equal(pair.writes(), FRAME_COUNT);
});
