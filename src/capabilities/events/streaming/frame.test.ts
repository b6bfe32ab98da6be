import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeFrame } from "./frame.ts";

test("a frame contains the id, the type and the JSON of an event, and its buffer is not pooled", () => {
  const event = {
    id: 7,
    type: "market_resolved" as const,
    occurredAt: 0,
    venue: "alpha",
    marketId: "m1",
    payload: { a: "é" },
  };
  const { bytes } = encodeFrame(event);
  const json = '{"id":"7","type":"market_resolved","timestamp":"1970-01-01T00:00:00.000Z","a":"é"}';
  assert.equal(bytes.toString(), `id: 7\nevent: market_resolved\ndata: ${json}\n\n`);
  assert.equal(bytes.buffer.byteLength, bytes.length);
});
