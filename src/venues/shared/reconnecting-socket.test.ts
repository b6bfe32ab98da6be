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

test("calls onOpen, passes on messages and sends heartbeats", async () => {
  const { clock, sockets, events } = setUp();
  sockets.last.accept();
  sockets.last.receive("hello");
  assert.deepEqual(events, ["open", "message hello"]);
  await clock.advance(10_000);
  sockets.last.receive("pong");
  await clock.advance(10_000);
  assert.deepEqual(sockets.last.sent, ["subscribe", "PING", "PING"]);
});

test("closes the socket and reconnects after too long a silence", async () => {
  const { clock, sockets, events } = setUp();
  sockets.last.accept();
  await clock.advance(36_000);
  assert.equal(sockets.connections[0]?.isClosed, true);
  assert.equal(sockets.connections.length, 2);
  assert.deepEqual(events, ["open", "down closed by us"]);
});

test("counts closed sockets by reason: silent, or stalled while pings arrive", async () => {
  const silent = setUp();
  silent.sockets.last.accept();
  await silent.clock.advance(36_000);
  assert.deepEqual(silent.drops, ["stream_silent"]);
  let isStalled = false;
  const stalled = setUp({ isStalled: () => isStalled });
  stalled.sockets.last.accept();
  for (let round = 0; round < 6; round++) {
    await stalled.clock.advance(10_000);
    stalled.sockets.last.receive("pong");
  }
  assert.deepEqual([stalled.drops, stalled.sockets.connections.length], [[], 1]);
  isStalled = true;
  await stalled.clock.advance(11_000);
  assert.deepEqual([stalled.drops, stalled.sockets.connections.length], [["stream_frozen"], 2]);
});

test("counts every socket that the peer closes or refuses, but not one that is closed here", async () => {
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

test("closes a socket exactly when the silence exceeds the maximum", async () => {
  const { clock, sockets } = setUp({ heartbeat: null });
  sockets.last.accept();
  await clock.advance(9_000);
  sockets.last.receive("tick");
  await clock.advance(25_000);
  assert.equal(sockets.connections[0]?.isClosed, false);
  await clock.advance(1);
  assert.equal(sockets.connections[0]?.isClosed, true);
});

test("resets the silence when the peer sends a ping frame", async () => {
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

test("reconnects with growing delay, at most 30 seconds", async () => {
  const { clock, sockets } = setUp();
  const pauses: number[] = [];
  for (let attempt = 0; attempt < 9; attempt++) {
    sockets.last.drop("refused");
    pauses.push(clock.nextInMs ?? -1);
    await clock.advance(clock.nextInMs ?? 0);
  }
  assert.deepEqual(pauses, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
});

test("jitters the delay down to half", () => {
  const { clock, sockets } = setUp({}, 0);
  sockets.last.drop("refused");
  assert.equal(clock.nextInMs, 250);
});

test("keeps growing the delay while sockets open without a message, and resets it after a message", async () => {
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

test("creates new headers for each attempt", async () => {
  let attempts = 0;
  const { clock, sockets } = setUp({ headers: () => ({ signature: String(++attempts) }) });
  sockets.last.drop("expired");
  await clock.advance(500);
  assert.deepEqual(
    sockets.connections.map(({ headers }) => headers.signature),
    ["1", "2"],
  );
});

test("stays closed after close() and leaves no timer", async () => {
  const { clock, sockets, events, socket } = setUp();
  sockets.last.accept();
  socket.close();
  assert.equal(sockets.last.isClosed, true);
  await clock.advance(120_000);
  assert.equal(sockets.connections.length, 1);
  assert.equal(clock.pending, 0);
  assert.deepEqual(events, ["open"]);
});

test("closes a connecting socket as soon as it opens", () => {
  const { sockets, events, socket, clock } = setUp();
  socket.close();
  sockets.last.accept();
  assert.equal(sockets.last.isClosed, true);
  assert.deepEqual(events, []);
  assert.equal(clock.pending, 0);
});

test("cancels a scheduled reconnect on close()", async () => {
  const { clock, sockets, socket } = setUp();
  sockets.last.drop("refused");
  socket.close();
  await clock.advance(120_000);
  assert.equal(sockets.connections.length, 1);
  assert.equal(clock.pending, 0);
});

test("discards text that is sent while the socket is down", () => {
  const { sockets, socket } = setUp();
  socket.send("too early");
  sockets.last.accept();
  socket.send("in time");
  assert.deepEqual(sockets.last.sent, ["subscribe", "in time"]);
});
