import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { test } from "node:test";
import { StreamClient } from "./stream-client.ts";

function openClient(acknowledgedAt = () => Number.NEGATIVE_INFINITY) {
  const socket = {
    writable: true,
    writableLength: 0,
    write(bytes: Buffer) {
      socket.writableLength += bytes.length;
    },
  };
  const request = { caller: "c", key: null, address: "a", filter: { types: 1, markets: null }, lastEventId: null };
  return { socket, client: new StreamClient(socket as unknown as Socket, request, 0, acknowledgedAt) };
}

test("a write succeeds while at most 64 KiB are unsent", () => {
  const { client } = openClient();
  assert.equal(client.write(Buffer.alloc(64 * 1024), 0), true);
  assert.equal(client.write(Buffer.alloc(1), 0), false);
});

test("a client is stalled if its oldest unsent byte is older than 20 s", () => {
  const { client } = openClient();
  client.write(Buffer.alloc(10), 1_000);
  assert.equal(client.isStalled(21_000), false);
  assert.equal(client.isStalled(21_001), true);
});

test("a client is not stalled until 20 s after it last acknowledged bytes", () => {
  const { client } = openClient(() => 30_000);
  client.write(Buffer.alloc(10), 1_000);
  assert.equal(client.isStalled(50_000), false);
  assert.equal(client.isStalled(50_001), true);
});

test("a client that always has unsent bytes is not stalled while it reads", () => {
  const { client, socket } = openClient();
  for (let second = 0; second < 100; second++) {
    client.write(Buffer.alloc(100), second * 1_000);
    assert.equal(client.isStalled(second * 1_000), false, `second ${second}`);
    socket.writableLength = Math.min(socket.writableLength, 500);
  }
});

test("a closed connection is not written to", () => {
  const { client, socket } = openClient();
  socket.writable = false;
  assert.equal(client.write(Buffer.alloc(100_000), 0), true);
  assert.equal(socket.writableLength, 0);
});
