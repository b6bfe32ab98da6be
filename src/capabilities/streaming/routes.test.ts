import assert from "node:assert/strict";
import { test } from "node:test";
import { openStreamServer, waitUntil } from "../../../test/support/streaming/stream-server.ts";

test("sends head and first bytes at once, and each event in the documented form", async () => {
  const { open, log } = await openStreamServer();
  const reader = await open();
  assert.equal(reader.status, 200);
  assert.deepEqual(
    ["content-type", "cache-control", "x-accel-buffering", "connection", "content-encoding", "transfer-encoding"].map(
      (name) => reader.header(name),
    ),
    ["text/event-stream; charset=utf-8", "no-store", "no", "close", undefined, undefined],
  );
  assert.equal(reader.body, ": ok\nretry: 3000\n\n");
  log.append({ title: "Rain?" });
  await waitUntil(() => reader.events.length === 1);
  assert.deepEqual(reader.events, [
    {
      id: "1",
      event: "price_shift",
      data: '{"id":"1","type":"price_shift","timestamp":"1970-01-01T00:00:00.000Z","title":"Rain?"}',
    },
  ]);
});
