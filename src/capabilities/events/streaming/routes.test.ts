import assert from "node:assert/strict";
import { test } from "node:test";
import { waitUntil } from "../../../../test/support/asserts/wait-until.ts";
import { openStreamServer } from "../../../../test/support/streaming/stream-server.ts";
import { PLAN_ALLOWANCES } from "../../../domain/plan.ts";
import type { Principal } from "../../../http/auth.ts";

const bodyOf = (text: string) => JSON.parse(text.slice(text.indexOf("{")));

test("sends the head and the first bytes at once, and each event in the documented format", async () => {
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

test("a title with line breaks cannot forge an event", async () => {
  const { open, log } = await openStreamServer();
  const reader = await open();
  const title = "a\n\nevent: fake\ndata: 1\n\n\r\rid: 9\r\n\r\ndata: 2\u2028\0";
  log.append({ title });
  log.append();
  await waitUntil(() => reader.events.length >= 2);
  assert.deepEqual(
    reader.events.map(({ id, event }) => [id, event]),
    [
      ["1", "price_shift"],
      ["2", "price_shift"],
    ],
  );
  assert.equal(JSON.parse(reader.events[0]?.data ?? "").title, title);
});

test("a stream receives exactly the events of its types and markets, in order", async () => {
  const { open, log } = await openStreamServer();
  const filters = [
    ["", "1 2 3 4 5 6"],
    ["?events=whale_alert", "2 5"],
    ["?events=whale_alert,price_shift", "1 2 4 5"],
    ["?events=", "1 2 3 4 5 6"],
    ["?market_ids=alpha/m2", "4 5 6"],
    ["?market_ids=alpha/m2,alpha/a/b%20c,beta/m1&events=market_resolved,price_shift", "1 4 6"],
    ["?market_ids=beta/m1", ""],
  ] as const;
  const readers = await Promise.all(
    filters.map(([query], index) => open(query, { authorization: `Bearer k${index}` })),
  );
  log.append({ type: "price_shift", marketId: "a/b c" });
  log.append({ type: "whale_alert", marketId: "a/b c" });
  log.append({ type: "analysis_complete", marketId: null });
  log.append({ type: "price_shift", marketId: "m2" });
  log.append({ type: "whale_alert", marketId: "m2" });
  log.append({ type: "market_resolved", marketId: "m2" });
  await waitUntil(() => readers[0]?.events.length === 6);
  const last = await open("?last_event_id=5", { authorization: "Bearer late" });
  await waitUntil(() => last.events.length === 1);
  assert.deepEqual(
    readers.map(({ ids }) => ids.join(" ")),
    filters.map(([, ids]) => ids),
  );
});

test("422: rejects unknown event types, malformed markets and malformed event ids", async () => {
  const { request } = await openStreamServer();
  const cases = [
    ["?events=price_shift,nonsense", "literal_error", ["query", "events"]],
    ["?market_ids=m1", "value_error", ["query", "market_ids"]],
    ["?market_ids=gamma/m1", "value_error", ["query", "market_ids"]],
    ["?market_ids=alpha/", "value_error", ["query", "market_ids"]],
    [`?market_ids=${Array.from({ length: 51 }, (_, index) => `alpha/m${index}`)}`, "too_long", ["query", "market_ids"]],
    [`?market_ids=alpha/${"m".repeat(600)}`, "string_too_long", ["query", "market_ids"]],
    ["?last_event_id=-1", "string_pattern_mismatch", ["query", "last_event_id"]],
    ["?last_event_id=1e3", "string_pattern_mismatch", ["query", "last_event_id"]],
  ] as const;
  for (const [query, type, loc] of cases) {
    const reader = request(`/v1/stream${query}`, { connection: "close" });
    await waitUntil(() => reader.isClosed);
    assert.equal(reader.status, 422, query);
    const [{ type: actualType, loc: actualLoc }] = bodyOf(reader.body).detail;
    assert.deepEqual([actualType, actualLoc.slice(0, 2)], [type, loc], query);
  }
  const reader = request("/v1/stream", { connection: "close", "last-event-id": "x" });
  await waitUntil(() => reader.isClosed);
  assert.deepEqual([reader.status, bodyOf(reader.body).detail[0].loc], [422, ["header", "last-event-id"]]);
});

test("401: rejects a request without a key and opens no stream", async () => {
  const { app, streaming } = await openStreamServer();
  const { statusCode, json } = await app.inject("/v1/stream");
  assert.deepEqual([statusCode, json().code, streaming.figures.open], [401, "unauthorized", 0]);
});

test("HEAD returns the head and opens no stream", async () => {
  const { port, streaming } = await openStreamServer();
  const headers = { authorization: "Bearer key-1" };
  const response = await fetch(`http://127.0.0.1:${port}/v1/stream`, { method: "HEAD", headers });
  assert.deepEqual([response.status, await response.text(), streaming.figures.open], [200, "", 0]);
  assert.match(String(response.headers.get("content-type")), /^text\/event-stream/);
});

test("429: a key can have 5 open streams; a stream no longer counts after its connection is reset or closed", async () => {
  const { open, request, streaming } = await openStreamServer();
  const readers = [];
  for (let index = 0; index < 5; index++) readers.push(await open());
  const rejected = request("/v1/stream", { connection: "close" });
  await waitUntil(() => rejected.isClosed);
  assert.deepEqual([rejected.status, rejected.header("retry-after")], [429, "5"]);
  assert.equal(bodyOf(rejected.body).code, "rate_limited");
  assert.equal((await open("", { authorization: "Bearer other" })).status, 200);
  readers[0]?.socket.resetAndDestroy();
  readers[1]?.socket.end();
  await waitUntil(() => streaming.figures.open === 4);
  assert.deepEqual([(await open()).status, (await open()).status], [200, 200]);
});

test("429: an address can have 20 open streams; 503: the process rejects streams above its own limit", async () => {
  const { open, request } = await openStreamServer({ limits: { total: 22 } });
  for (let index = 0; index < 20; index++) await open("", { authorization: `Bearer k${index}` });
  const rejected = request("/v1/stream", { connection: "close", authorization: "Bearer k" });
  await waitUntil(() => rejected.isClosed);
  assert.deepEqual([rejected.status, bodyOf(rejected.body).code], [429, "rate_limited"]);
  for (let index = 0; index < 2; index++) await open("", { authorization: `Bearer k${index}` }, "127.0.0.2");
  const overloaded = request("/v1/stream", { connection: "close" }, "127.0.0.3");
  await waitUntil(() => overloaded.isClosed);
  assert.deepEqual([overloaded.status, overloaded.header("retry-after")], [503, "5"]);
  assert.equal(bodyOf(overloaded.body).code, "overloaded");
});

test("after 500 abrupt disconnects at any time, no stream is counted", async () => {
  const { request, open, streaming, log } = await openStreamServer({ limits: { perKey: 1_000, perAddress: 1_000 } });
  for (let index = 0; index < 500; index++) {
    const reader = request("/v1/stream?last_event_id=0");
    if (index % 3 === 0) reader.socket.once("connect", () => reader.socket.resetAndDestroy());
    else if (index % 3 === 1) void waitUntil(() => reader.head !== "").then(() => reader.socket.destroy());
    else setImmediate(() => reader.socket.end());
    if (index % 50 === 0) {
      log.append();
      await waitUntil(() => reader.isClosed);
    }
  }
  await waitUntil(() => streaming.figures.open === 0);
  assert.equal((await open()).status, 200);
});

test("a second request on the connection never writes an HTTP response into the stream", async () => {
  const { open, log } = await openStreamServer();
  const reader = await open();
  reader.socket.write("nonsense that is not HTTP\r\n\r\n");
  log.append();
  await waitUntil(() => reader.isClosed || reader.events.length > 0);
  assert.doesNotMatch(reader.body, /HTTP\/1\.1/);
});

/** A gate that holds each payment until `settle` is called, and replaces the response if the payment fails. */
async function openPaidServer(isAccepted: boolean) {
  const settlement = Promise.withResolvers<void>();
  let completions = 0;
  const payer: Principal = { kind: "payer", customerId: "payer-1", plan: "pro", allowance: PLAN_ALLOWANCES.pro };
  const server = await openStreamServer({
    http: {
      authentication: { authenticate: () => payer },
      paymentGate: {
        identify: async () => null,
        async admit(_request, reply) {
          reply.hijack = () => assert.fail("the payment is not settled");
          return false;
        },
        async complete(_request, reply, payload) {
          completions += 1;
          await settlement.promise;
          Reflect.deleteProperty(reply, "hijack");
          if (isAccepted) return payload;
          reply.code(402).header("content-type", "application/json").header("connection", "close");
          return "{}";
        },
      },
    },
  });
  let starts = 0;
  const { open } = server.streaming;
  server.streaming.open = (request) => {
    const stream = open(request);
    const start: typeof stream.start = (socket, acknowledgedAt) => {
      starts += 1;
      stream.start(socket, acknowledgedAt);
    };
    return { ...stream, start };
  };
  const reader = server.request("/v1/stream");
  await waitUntil(() => completions === 1);
  return { ...server, reader, settle: settlement.resolve, countStarts: () => starts };
}

test("a payer's stream sends its first byte after the payment is settled, then every event", async () => {
  const { reader, settle, log, clock } = await openPaidServer(true);
  log.append();
  await clock.settle();
  assert.equal(reader.head, "");
  settle();
  await waitUntil(() => reader.body.includes("retry: 3000"));
  log.append();
  await waitUntil(() => reader.events.length > 0);
  assert.equal(reader.ids.at(-1), 2);
});

test("a payment that fails to settle releases its stream and sends no event", async () => {
  const { reader, settle, log, streaming } = await openPaidServer(false);
  assert.equal(streaming.figures.open, 1);
  log.append();
  settle();
  await waitUntil(() => reader.isClosed);
  assert.deepEqual([reader.status, reader.body], [402, "{}"]);
  await waitUntil(() => streaming.figures.open === 0);
});

test("a payer that disconnects before the settlement releases its stream, which does not start", async () => {
  const { reader, settle, streaming, clock, countStarts } = await openPaidServer(true);
  await reader.close();
  await waitUntil(() => streaming.figures.open === 0);
  settle();
  await clock.settle();
  assert.equal(countStarts(), 0);
});

test("a stream whose payment is settled while the server stops ends at once", async () => {
  const { reader, settle, streaming } = await openPaidServer(true);
  streaming.endStreams();
  settle();
  await waitUntil(() => reader.isClosed);
  assert.deepEqual([reader.status, reader.body], [200, ": ok\nretry: 3000\n\n"]);
});

test("a stream without an API key ends after an hour", async () => {
  const { reader, settle, clock, log } = await openPaidServer(true);
  settle();
  await waitUntil(() => reader.body.includes("retry: 3000"));
  for (let minute = 1; minute < 60; minute++) await clock.advance(60_000);
  log.append();
  await waitUntil(() => reader.events.length === 1);
  assert.equal(reader.isClosed, false);
  await clock.advance(60_000);
  await waitUntil(() => reader.isClosed);
  assert.match(reader.body, /: maximum duration reached\n\n$/);
});

test("a stream with an API key stays open for longer than an hour", async () => {
  const { open, clock, log } = await openStreamServer();
  const reader = await open();
  for (let minute = 0; minute < 70; minute++) await clock.advance(60_000);
  log.append();
  await waitUntil(() => reader.events.length === 1);
  assert.equal(reader.isClosed, false);
});
