import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { Server, type Socket } from "socket.io";
import type { SocketIoHandlers } from "../../ports/socket-io-out.ts";
import { systemClock } from "../system/system-clock.ts";
import { createSocketIoClient } from "./socket-io-client.ts";

const httpServer = createServer();
const server = new Server(httpServer);
let url = "";
const serverSockets: Socket[] = [];

before(async () => {
  server.of("/markets").on("connection", (socket) => {
    serverSockets.push(socket);
    socket.on("echo", (payload: unknown) => socket.emit("echoed", payload));
  });
  await new Promise<void>((resolve) => httpServer.listen(0, "127.0.0.1", resolve));
  url = `ws://127.0.0.1:${(httpServer.address() as AddressInfo).port}`;
});

after(() => server.close());

/** Connects. `next` resolves with the next event that the connection reports. */
function connect(at: string, maxFrameBytes = 100_000, clock = systemClock) {
  const events: [string, unknown][] = [];
  let wake: () => void = () => {};
  const record = (name: string, value: unknown) => {
    events.push([name, value]);
    wake();
  };
  const handlers: SocketIoHandlers = {
    onUp: (emit) => record("up", emit),
    onEvent: (event, payload) => record(event, payload),
    onDown: (reason) => record("down", reason),
  };
  const options = { namespace: "/markets", maxFrameBytes, connectTimeoutMs: 5_000 };
  const connection = createSocketIoClient(clock).connect(at, options, handlers);
  const nextEvent = async (): Promise<[string, unknown]> => {
    for (;;) {
      const first = events.shift();
      if (first !== undefined) return first;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return { connection, nextEvent };
}

test("sends and receives events in the namespace", async () => {
  const { connection, nextEvent } = connect(url);
  assert.equal((await nextEvent())[0], "up");
  connection.emit("echo", { a: [1] });
  assert.deepEqual(await nextEvent(), ["echoed", { a: [1] }]);
  connection.close();
});

test("reports a lost connection and reconnects", async () => {
  const { connection, nextEvent } = connect(url);
  await nextEvent();
  serverSockets.at(-1)?.conn.close();
  assert.equal((await nextEvent())[0], "down");
  assert.equal((await nextEvent())[0], "up");
  connection.close();
});

test("reconnects after a pause if the server closes the connection deliberately", async () => {
  const pauses: number[] = [];
  const clock = {
    ...systemClock,
    setTimeout(callback: () => void, delayMs: number) {
      pauses.push(delayMs);
      return systemClock.setTimeout(callback, 0);
    },
  };
  const { connection, nextEvent } = connect(url, 100_000, clock);
  await nextEvent();
  serverSockets.at(-1)?.disconnect(true);
  assert.equal((await nextEvent())[0], "down");
  assert.equal((await nextEvent())[0], "up");
  assert.ok((pauses[0] ?? 0) >= 1_000);
  connection.close();
});

test("a frame over the limit closes the connection", async () => {
  const { connection, nextEvent } = connect(url, 2_000);
  await nextEvent();
  serverSockets.at(-1)?.emit("large", "x".repeat(10_000));
  assert.equal((await nextEvent())[0], "down");
  connection.close();
});

test("a closed connection reports no event and ignores `emit`", async () => {
  const { connection, nextEvent } = connect(url);
  await nextEvent();
  connection.close();
  connection.emit("echo", 1);
  const { connection: other, nextEvent: otherNext } = connect(url);
  await otherNext();
  other.emit("echo", 2);
  assert.deepEqual(await otherNext(), ["echoed", 2]);
  other.close();
  const winner = await Promise.race([nextEvent(), new Promise((resolve) => setImmediate(() => resolve("silence")))]);
  assert.equal(winner, "silence");
});
