import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import type { Server } from "node:http";
import { Socket } from "node:net";
import { test } from "node:test";
import { waitUntil } from "../../test/support/asserts/wait-until.ts";
import { type Client, KEEP_ALIVE_REQUEST, LARGE_ASSET, startServer } from "../../test/support/connection-server.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { HOUR_MS } from "../lib/durations.ts";
import { ConnectionLimits } from "./connection-limits.ts";

test("503: connections above the total are refused with a response, and accepted again after others have closed", async (t) => {
  const server = await startServer(t, { connections: { total: 3, perAddress: 2 } });
  const accepted = [await server.openReader("127.0.0.2"), await server.openReader("127.0.0.3")];
  accepted.push(await server.openReader("127.0.0.4"));
  for (const client of accepted) assert.deepEqual(await client.request(), ["200"]);
  const refused = await server.openReader("127.0.0.5");
  await refused.closed;
  assert.deepEqual(refused.statuses, ["503"]);
  assert.match(refused.text, /^retry-after: \d+\r$/m);
  assert.match(refused.text, /^x-request-id: \S+\r$/m);
  assert.deepEqual(JSON.parse(refused.text.slice(refused.text.indexOf("{"))), {
    detail: "Too many connections are open",
    code: "too_many_connections",
  });
  for (const client of accepted) assert.deepEqual(await client.request(), ["200"]);
  assert.equal(server.limits.figures.open, 3);
  assert.equal(server.limits.figures.rejected.total, 1);
  await accepted[0]?.close();
  await waitUntil(() => server.limits.figures.open === 2);
  assert.deepEqual(await (await server.openReader("127.0.0.2")).request(), ["200"]);
});

test("503: connections above the limit of an address are refused, and those of other addresses are accepted", async (t) => {
  const server = await startServer(t, { connections: { total: 10, perAddress: 2 } });
  const accepted = [await server.openReader("127.0.0.2"), await server.openReader("127.0.0.2")];
  const refused = await server.openReader("127.0.0.2");
  await refused.closed;
  assert.deepEqual(refused.statuses, ["503"]);
  assert.match(refused.text, /from this address/);
  for (const client of [...accepted, await server.openReader("127.0.0.3")])
    assert.deepEqual(await client.request(), ["200"]);
  assert.deepEqual([server.limits.figures.open, server.limits.figures.rejected.address], [3, 1]);
  await accepted[0]?.close();
  await waitUntil(() => server.limits.figures.open === 2);
  assert.deepEqual(await (await server.openReader("127.0.0.2")).request(), ["200"]);
});

test("trusted proxies count towards the total but have no limit per address", async (t) => {
  const server = await startServer(t, { connections: { total: 5, perAddress: 1 }, trustProxy: ["127.0.0.4/31"] });
  for (const address of ["127.0.0.4", "127.0.0.4", "127.0.0.5", "127.0.0.5"])
    assert.deepEqual(await (await server.openReader(address)).request(), ["200"]);
  assert.deepEqual(await (await server.openReader("127.0.0.6")).request(), ["200"]);
  const refused = await server.openReader("127.0.0.4");
  await refused.closed;
  assert.deepEqual(server.limits.figures.rejected, { ...server.limits.figures.rejected, total: 1, address: 0 });
});

test("addresses of one IPv6 /64 share a limit, those of a /48 four times the limit, and an IPv4-mapped address has the limit of its IPv4 address", () => {
  const refusals: string[] = [];
  const limits = new ConnectionLimits({
    clock: new FakeClock(),
    log: quietLog,
    maxima: { total: 100, perAddress: 1 },
    trustProxy: ["2001:db8:ffff::/48", "10.0.0.0/8"],
    respondToRefusal: (_socket, reason) => refusals.push(reason),
  });
  const server = new EventEmitter();
  limits.attach(server as Server);
  const isAccepted = (remoteAddress: string) => {
    const refusalCount = refusals.length;
    server.emit("connection", Object.defineProperty(new Socket(), "remoteAddress", { value: remoteAddress }));
    return refusals.length === refusalCount;
  };
  assert.equal(isAccepted("2001:db8::1"), true);
  assert.equal(isAccepted("2001:db8::ffff:1"), false);
  assert.equal(isAccepted("2001:db8:0:1::1"), true);
  for (const subnet of [2, 3]) assert.equal(isAccepted(`2001:db8:0:${subnet}::1`), true);
  assert.equal(isAccepted("2001:db8:0:4::1"), false);
  assert.equal(isAccepted("2001:db8:1:4::1"), true);
  assert.equal(isAccepted("192.0.2.1"), true);
  assert.equal(isAccepted("::ffff:192.0.2.1"), false);
  for (const proxy of ["2001:db8:ffff::1", "10.1.2.3", "::ffff:10.1.2.3"])
    assert.deepEqual([isAccepted(proxy), isAccepted(proxy)], [true, true], proxy);
});

test("a refused connection is not served, and is closed after two sweeps even if the client does not close it", async (t) => {
  const server = await startServer(t, { connections: { total: 1, perAddress: 1 } });
  await server.open("127.0.0.2");
  const { client: refused, serverSocket } = await server.open("127.0.0.3", { allowHalfOpen: true });
  refused.readAll();
  refused.socket.write("GET /slow HTTP/1.1\r\nhost: x\r\n\r\n");
  await refused.ended;
  await waitUntil(() => server.requests() === 1);
  assert.equal(server.started.length, 0);
  await server.clock.advance(2_000);
  assert.equal(serverSocket.destroyed, false);
  await server.clock.advance(2_000);
  assert.equal(serverSocket.destroyed, true);
  assert.deepEqual(refused.statuses, ["503"]);
});

test("at most 256 refused connections stay open", async (t) => {
  const server = await startServer(t, { connections: { total: 1, perAddress: 1 } });
  await server.open("127.0.0.2");
  const refused: Client[] = [];
  for (let count = 0; count < 300; count++)
    refused.push((await server.open("127.0.0.3", { allowHalfOpen: true })).client.readAll());
  await Promise.all(refused.map(({ ended }) => ended));
  assert.equal(refused.filter(({ statuses }) => statuses[0] === "503").length, 256);
  assert.equal(server.limits.figures.open, 1);
});

test("a connection whose client stays connected after a 400 response is closed after two sweeps", async (t) => {
  const server = await startServer(t);
  const { client, serverSocket } = await server.open("127.0.0.2", { allowHalfOpen: true });
  client.readAll().socket.write("NONSENSE\r\n\r\n");
  await client.ended;
  assert.deepEqual(client.statuses, ["400"]);
  await server.clock.advance(4_000);
  assert.equal(serverSocket.destroyed, true);
  await client.close();
});

test("a connection is closed after its last request, and a new connection is served", async (t) => {
  const server = await startServer(t, { connections: { requestsPerConnection: 3 } });
  const client = await server.openReader();
  assert.deepEqual(await client.request(), ["200"]);
  assert.match(client.text, /^connection: keep-alive\r$/im);
  assert.match(client.text, /^keep-alive: timeout=10\r$/im);
  client.socket.write(KEEP_ALIVE_REQUEST.repeat(5));
  await client.closed;
  assert.deepEqual(client.statuses, ["200", "200", "200"]);
  assert.match(client.text, /^connection: close\r$/im);
  assert.deepEqual(await (await server.openReader()).request(), ["200"]);
});

test("pipelined requests are handled one at a time and answered in order", async (t) => {
  const server = await startServer(t);
  const client = await server.openReader();
  client.socket.write("GET /slow HTTP/1.1\r\nhost: x\r\n\r\n".repeat(17));
  await waitUntil(() => server.requests() === 17);
  for (let count = 1; count <= 17; count++) {
    await waitUntil(() => server.started.length === count);
    assert.equal(client.statuses.length, count - 1);
    server.started[count - 1]?.release();
    await waitUntil(() => client.statuses.length === count);
  }
  const numbers = [...client.text.matchAll(/\{"number":(\d+)\}/g)].map((match) => Number(match[1]));
  assert.deepEqual(
    numbers,
    Array.from({ length: 17 }, (_, index) => index + 1),
  );
  assert.deepEqual(await client.request(), ["200"]);
});

test("a connection with more than 16 waiting requests is closed without parsing the rest", async (t) => {
  const server = await startServer(t);
  const client = await server.openReader();
  client.socket.write("GET /slow HTTP/1.1\r\nhost: x\r\n\r\n".repeat(590));
  await client.closed;
  assert.equal(server.started.length, 1);
  assert.equal(server.requests(), 18);
  assert.equal(server.limits.figures.rejected.waiting_requests, 1);
  assert.deepEqual(await (await server.openReader()).request(), ["200"]);
});

test("clients that pipeline requests and read nothing have one response in memory each", async (t) => {
  const server = await startServer(t);
  const opened = await Promise.all(Array.from({ length: 20 }, () => server.open()));
  for (const { client } of opened) client.socket.write(`GET ${LARGE_ASSET.url} HTTP/1.1\r\nhost: x\r\n\r\n`.repeat(17));
  await Promise.all(opened.map(server.settleWrites));
  const bytes = opened.map(({ serverSocket }) => serverSocket.writableLength);
  assert.ok(Math.max(...bytes) < 2 * 1024 * 1024, String(bytes));
  assert.equal(server.limits.figures.open, 20);
});

test("a stream without waiting bytes and an idle connection are not closed", async (t) => {
  const server = await startServer(t);
  const idle = await server.openReader();
  const stream = await server.openReader();
  assert.deepEqual(await idle.request(), ["200"]);
  stream.socket.write("GET /quiet-stream HTTP/1.1\r\nhost: x\r\n\r\n");
  await waitUntil(() => stream.statuses.length === 1);
  await server.clock.advance(HOUR_MS);
  assert.deepEqual([idle.isClosed, stream.isClosed], [false, false]);
  assert.equal(server.limits.figures.open, 2);
});

test("a stream that ignores backpressure is closed above 8 MiB of unsent bytes", async (t) => {
  const server = await startServer(t);
  const flooded = await server.open();
  flooded.client.socket.pause();
  flooded.client.socket.write("GET /flood HTTP/1.1\r\nhost: x\r\n\r\n");
  await server.settleWrites(flooded);
  await server.clock.advance(2_000);
  assert.equal(flooded.serverSocket.destroyed, true);
  assert.equal(server.limits.figures.rejected.unsent_bytes, 1);
});

test("rejected connections are logged once a minute per reason, with their number", async (t) => {
  const server = await startServer(t, { connections: { total: 1, perAddress: 1 } });
  await server.open("127.0.0.2");
  const refuse = async (count: number) => {
    for (let index = 0; index < count; index++) await (await server.openReader("127.0.0.3")).closed;
  };
  const listLogs = () => server.lines.filter(({ message }) => message.startsWith("connections"));
  await refuse(3);
  assert.deepEqual(listLogs(), [
    { level: "warn", message: "connections refused: too many are open", count: 1, open: 1 },
  ]);
  await server.clock.advance(60_000);
  await refuse(2);
  assert.deepEqual(
    listLogs().map(({ count }) => count),
    [1, 3],
  );
});

test("a draining server closes refused connections immediately", async (t) => {
  const server = await startServer(t, { connections: { total: 1, perAddress: 1 } });
  const { client: accepted } = await server.open("127.0.0.2");
  const { client: refused, serverSocket } = await server.open("127.0.0.3", { allowHalfOpen: true });
  refused.readAll().socket.write(KEEP_ALIVE_REQUEST);
  await refused.ended;
  await waitUntil(() => server.requests() === 1);
  await accepted.close();
  const stopped = server.app.close();
  await waitUntil(() => serverSocket.destroyed);
  await stopped;
});
