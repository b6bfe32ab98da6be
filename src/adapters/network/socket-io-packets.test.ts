import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { type WebSocket, WebSocketServer } from "ws";
import { systemClock } from "../system/system-clock.ts";
import { createSocketIoClient } from "./socket-io-client.ts";
import { EARLY_EVENTS_MAX } from "./socket-io-packets.ts";

const OPEN = '0{"sid":"a","upgrades":[],"pingInterval":25000,"pingTimeout":20000,"maxPayload":1000000}';
const CONNECTED = '40/markets,{"sid":"b"}';

/**
 * Frames by what is malformed. Each is sent as the first frame, after the open packet, and in a connected namespace.
 */
const MALFORMED = new Map([
  ["an open packet that is not JSON", "0{bad"],
  ["an open packet without data", "0"],
  ["an open packet that is null", "0null"],
  ["an open packet without fields", "0{}"],
  ["a frame without a packet", ""],
  ["an unknown engine.io type", "9"],
  ["a message without a packet", "4"],
  ["an unknown Socket.IO type", "49"],
  ["a Socket.IO packet that is no type", "4{bad"],
  ["a connect packet that is not JSON", "40/markets,{bad"],
  ["a connect packet that is a list", "40/markets,[]"],
  ["a connect error without data", "44/markets,"],
  ["a connect error without data and with an id", "44/markets, "],
  ["a disconnect packet with data", "41/markets,{}"],
  ["an event that is not JSON", '42/markets,["a"'],
  ["an event without data", "42/markets,"],
  ["an event without data and with an id", "42/markets,1"],
  ["an event without a name", "42/markets,[]"],
  ["an event with a reserved name", '42/markets,["connect_error"]'],
  ["an acknowledgement without data", "43/markets,1"],
  ["a binary event that is not JSON", "451-["],
  ["a binary event without attachments", '450-/markets,["a"]'],
  ["a binary event with too many attachments", '45999-/markets,["a"]'],
  ["an event that is nested too deeply", `42/markets,["bad",${"[".repeat(64)}${"]".repeat(64)}]`],
  ["a binary event without the number of attachments", '45/markets,["a"]'],
]);

const PHASES = new Map<string, readonly string[]>([
  ["as the first frame", []],
  ["before the namespace is connected", [OPEN]],
  ["after the namespace is connected", [OPEN, CONNECTED]],
]);

/**
 * Connects a client to a server that sends `frames` on the first connection and accepts the later ones. The client
 * connects again after `connectTimeoutMs` if `frames` have no open packet.
 */
async function reconnectAfter(frames: readonly string[]): Promise<string[]> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  let connections = 0;
  server.on("connection", (socket: WebSocket) => {
    connections += 1;
    for (const frame of connections === 1 ? frames : [OPEN, CONNECTED, '42/markets,["good",1]']) socket.send(frame);
  });
  const events: string[] = [];
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clock = { ...systemClock, setTimeout: (run: () => void) => systemClock.setTimeout(run, 0) };
  const good = Promise.withResolvers<void>();
  const options = {
    namespace: "/markets",
    maxFrameBytes: 100_000,
    connectTimeoutMs: frames.includes(OPEN) ? 60_000 : 3_000,
  };
  const connection = createSocketIoClient(clock).connect(url, options, {
    onUp: () => events.push("up"),
    onEvent(event) {
      events.push(event);
      if (event === "good") good.resolve();
    },
    onDown: () => events.push("down"),
  });
  try {
    await good.promise;
    return events;
  } finally {
    connection.close();
    for (const client of server.clients) client.terminate();
    server.close();
  }
}

for (const [phase, before] of PHASES) {
  test(`a malformed packet ${phase} closes the connection, and the client reconnects`, {
    concurrency: MALFORMED.size,
  }, async (t) => {
    const attacks = [...MALFORMED].map(([name, frame]) =>
      t.test(name, async () => {
        const events = await reconnectAfter([...before, frame]);
        assert.deepEqual(events.slice(-3), ["down", "up", "good"]);
      }),
    );
    await Promise.all(attacks);
  });
}

test("a peer that sends events before it accepts the namespace is disconnected after 100 events", async () => {
  assert.equal(EARLY_EVENTS_MAX, 100);
  const early = Array.from({ length: 100_000 }, () => '42/markets,["early"]');
  const events = await reconnectAfter([OPEN, ...early]);
  assert.equal(events[0], "down");
  assert.ok(events.filter((event) => event === "early").length < early.length);
});

test("the client opens no further connection for transport upgrades that the peer offers", async () => {
  const opened = OPEN.replace('"upgrades":[]', '"upgrades":["websocket","websocket"]');
  assert.deepEqual(await reconnectAfter([opened, CONNECTED, '42/markets,["good"]']), ["up", "good"]);
});
