import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { FakeSockets } from "../../../test/support/venues/fake-sockets.ts";
import { openReconnectingSocket, type ReconnectingSocketOptions } from "./reconnecting-socket.ts";

function setUp(options: Partial<ReconnectingSocketOptions> = {}, uniform = 1) {
  const clock = new FakeClock();
  const sockets = new FakeSockets();
  const events: string[] = [];
  const drops: string[] = [];
  const socket = openReconnectingSocket({
    sockets,
    clock,
    random: { uniform: () => uniform, bytes: (length) => new Uint8Array(length) },
    url: "wss://venue.example/ws",
    heartbeat: { text: () => "PING", everyMs: 10_000 },
    silenceMsMax: 25_000,
    onOpen: (send) => {
      events.push("open");
      send("subscribe");
    },
    onMessage: (text) => events.push(`message ${text}`),
    onDown: (reason) => events.push(`down ${reason}`),
    countDrop: (reason) => drops.push(reason),
    ...options,
  });
  return { clock, sockets, events, drops, socket };
}

test("calls `onOpen`, forwards messages and sends heartbeats", async () => {
  const { clock, sockets, events } = setUp();
  sockets.last.accept();
  sockets.last.receive("hello");
  assert.deepEqual(events, ["open", "message hello"]);
  await clock.advance(10_000);
  sockets.last.receive("pong");
  await clock.advance(10_000);
  assert.deepEqual(sockets.last.sent, ["subscribe", "PING", "PING"]);
});

test("closes the socket and reconnects if the silence exceeds the maximum", async () => {
  const { clock, sockets, events } = setUp();
  sockets.last.accept();
  await clock.advance(36_000);
  assert.equal(sockets.connections[0]?.isClosed, true);
  assert.equal(sockets.connections.length, 2);
  assert.deepEqual(events, ["open", "down closed by us"]);
});

test("counts a silent socket as `stream_silent` and a stalled socket as `stream_frozen`", async () => {
  const silentSetup = setUp();
  silentSetup.sockets.last.accept();
  await silentSetup.clock.advance(36_000);
  assert.deepEqual(silentSetup.drops, ["stream_silent"]);
  let isStalled = false;
  const stalledSetup = setUp({ isStalled: () => isStalled });
  stalledSetup.sockets.last.accept();
  for (let round = 0; round < 6; round++) {
    await stalledSetup.clock.advance(10_000);
    stalledSetup.sockets.last.receive("pong");
  }
  assert.deepEqual([stalledSetup.drops, stalledSetup.sockets.connections.length], [[], 1]);
  isStalled = true;
  await stalledSetup.clock.advance(11_000);
  assert.deepEqual([stalledSetup.drops, stalledSetup.sockets.connections.length], [["stream_frozen"], 2]);
});

test("counts each socket that the peer closes or refuses, but not a socket that the client closes", async () => {
  const { clock, sockets, drops, socket } = setUp();
  sockets.last.drop("refused");
  await clock.advance(1_000);
  sockets.last.accept();
  sockets.last.drop();
  await clock.advance(1_000);
  assert.deepEqual(drops, ["stream_connection_lost", "stream_connection_lost"]);
  sockets.last.accept();
  socket.close();
  assert.equal(drops.length, 2);
});

test("closes a socket one millisecond after the maximum silence", async () => {
  const { clock, sockets } = setUp({ heartbeat: null });
  sockets.last.accept();
  await clock.advance(9_000);
  sockets.last.receive("tick");
  await clock.advance(25_000);
  assert.equal(sockets.connections[0]?.isClosed, false);
  await clock.advance(1);
  assert.equal(sockets.connections[0]?.isClosed, true);
});

test("a ping frame from the peer resets the silence", async () => {
  const { clock, sockets } = setUp({ heartbeat: null });
  sockets.last.accept();
  for (let round = 0; round < 10; round++) {
    await clock.advance(10_000);
    sockets.last.ping();
  }
  assert.equal(sockets.connections.length, 1);
  assert.equal(sockets.last.isClosed, false);
  assert.deepEqual(sockets.last.sent, ["subscribe"]);
});

test("doubles the reconnect delay after each failure, up to 30 seconds", async () => {
  const { clock, sockets } = setUp();
  const pauses: number[] = [];
  for (let attempt = 0; attempt < 9; attempt++) {
    sockets.last.drop("refused");
    pauses.push(clock.nextInMs ?? -1);
    await clock.advance(clock.nextInMs ?? 0);
  }
  assert.deepEqual(pauses, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
});

test("jitter reduces the reconnect delay by at most half", () => {
  const { clock, sockets } = setUp({}, 0);
  sockets.last.drop("refused");
  assert.equal(clock.nextInMs, 250);
});

test("doubles the reconnect delay even if sockets open, and resets it after a message", async () => {
  const { clock, sockets } = setUp();
  for (const pauseMs of [500, 1_000, 2_000]) {
    sockets.last.accept();
    sockets.last.drop();
    assert.equal(clock.nextInMs, pauseMs);
    await clock.advance(pauseMs);
  }
  sockets.last.accept();
  sockets.last.receive("hello");
  sockets.last.drop();
  assert.equal(clock.nextInMs, 500);
});

test("creates new headers for each connection attempt", async () => {
  let attempts = 0;
  const { clock, sockets } = setUp({ headers: () => ({ signature: String(++attempts) }) });
  sockets.last.drop("expired");
  await clock.advance(500);
  assert.deepEqual(
    sockets.connections.map(({ headers }) => headers.signature),
    ["1", "2"],
  );
});

test("the socket stays closed after `close()` and leaves no timer", async () => {
  const { clock, sockets, events, socket } = setUp();
  sockets.last.accept();
  socket.close();
  assert.equal(sockets.last.isClosed, true);
  await clock.advance(120_000);
  assert.equal(sockets.connections.length, 1);
  assert.equal(clock.pending, 0);
  assert.deepEqual(events, ["open"]);
});

test("if `close()` is called while a socket is connecting, closes the socket as soon as it opens", () => {
  const { sockets, events, socket, clock } = setUp();
  socket.close();
  sockets.last.accept();
  assert.equal(sockets.last.isClosed, true);
  assert.deepEqual(events, []);
  assert.equal(clock.pending, 0);
});

test("`close()` cancels a scheduled reconnect", async () => {
  const { clock, sockets, socket } = setUp();
  sockets.last.drop("refused");
  socket.close();
  await clock.advance(120_000);
  assert.equal(sockets.connections.length, 1);
  assert.equal(clock.pending, 0);
});

test("discards text that is sent before the socket is open", () => {
  const { sockets, socket } = setUp();
  socket.send("too early");
  sockets.last.accept();
  socket.send("in time");
  assert.deepEqual(sockets.last.sent, ["subscribe", "in time"]);
});
