import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { caller, type MeteredServer, openMeteredServer } from "../../../../test/support/customers/metered-server.ts";
import { embeddedDatabase } from "../../../../test/support/databases.ts";
import { eventually } from "../../../../test/support/service-process.ts";
import { startTcpProxy } from "../../../../test/support/tcp-proxy.ts";
import { openRedisLimitLog } from "../../../adapters/metering/redis-limit-log.ts";
import type { SharedLimitLog } from "../../../ports/limit-log.ts";
import { LIMIT_WINDOW_MS } from "./index.ts";

const BUSY = caller("busy-a", "enterprise", {
  quotas: { LISTING: 10_000, INSIGHT: 0, STRATEGY: 0, DEEP: 0 },
  rateLimits: { general: 10_000, strategy: 0 },
});

/** Sends `times` requests and returns the number of responses by status. */
async function countStatuses(
  { app }: MeteredServer,
  times: number,
  request: {
    readonly method?: "GET" | "POST";
    readonly url: string;
    readonly remoteAddress?: string;
    readonly headers?: Record<string, string>;
  },
): Promise<Readonly<Record<number, number>>> {
  const counts: Record<number, number> = {};
  for (let attempt = 0; attempt < times; attempt++) {
    const { statusCode } = await app.inject(request);
    counts[statusCode] = (counts[statusCode] ?? 0) + 1;
  }
  return counts;
}

test("429: an IP address is limited to 600 anonymous requests in any minute, and Retry-After is exact", async () => {
  const server = await openMeteredServer(await embeddedDatabase(), []);
  const { app, clock } = server;
  assert.deepEqual(await countStatuses(server, 300, { url: "/free" }), { 200: 300 });
  await clock.advance(30_000);
  assert.deepEqual(await countStatuses(server, 301, { url: "/free" }), { 200: 300, 429: 1 });
  assert.equal((await app.inject("/free")).headers["retry-after"], "30");
  assert.deepEqual(await countStatuses(server, 1, { url: "/free", remoteAddress: "192.0.2.1" }), { 200: 1 });
  await clock.advance(30_000);
  assert.deepEqual(await countStatuses(server, 301, { url: "/free" }), { 200: 300, 429: 1 });
});

test("429: requests with unknown paths, wrong methods or malformed URLs count as anonymous requests", async () => {
  const rejected: readonly [string, "GET" | "POST", number][] = [
    ["/nowhere", "GET", 404],
    ["/free", "POST", 405],
    ["/free?a=%", "GET", 400],
    ["/%zz", "GET", 400],
  ];
  for (const [url, method, status] of rejected) {
    const server = await openMeteredServer(await embeddedDatabase(), []);
    assert.deepEqual(await countStatuses(server, 601, { url, method }), { [status]: 600, 429: 1 });
    assert.deepEqual(await countStatuses(server, 1, { url: "/free" }), { 429: 1 });
  }
});

test("health probes are not limited", async () => {
  const server = await openMeteredServer(await embeddedDatabase(), []);
  assert.deepEqual(await countStatuses(server, 700, { url: "/probe" }), { 200: 700 });
});

test("if an IP address is over its limits of anonymous requests and 401 responses, authenticated callers are still served", async () => {
  const server = await openMeteredServer(await embeddedDatabase(), [BUSY]);
  const headers = { authorization: `Bearer ${BUSY.customerId}` };
  assert.deepEqual(await countStatuses(server, 601, { url: "/free" }), { 200: 600, 429: 1 });
  assert.deepEqual(await countStatuses(server, 10, { url: "/listing", headers }), { 200: 10 });
  assert.deepEqual(await countStatuses(server, 1, { url: "/listing" }), { 429: 1 });
  await server.clock.advance(60_000);
  // A client with wrong keys cannot lock out customers behind the same IP address.
  assert.deepEqual(await countStatuses(server, 400, { url: "/listing" }), { 401: 60, 429: 340 });
  const wrongKey = { authorization: "Bearer nobody" };
  assert.deepEqual(await countStatuses(server, 400, { url: "/listing", headers: wrongKey }), { 429: 400 });
  assert.deepEqual(await countStatuses(server, 10, { url: "/listing", headers }), { 200: 10 });
  // Requests rejected by the 401 limit do not count as anonymous requests.
  assert.deepEqual(await countStatuses(server, 541, { url: "/free" }), { 200: 540, 429: 1 });
});

test("429: all addresses of an IPv6 /48 share four times the limit of 401 responses and of anonymous requests", async () => {
  for (const { url, limit, status } of [
    { url: "/listing", limit: 60, status: 401 },
    { url: "/free", limit: 600, status: 200 },
  ]) {
    const server = await openMeteredServer(await embeddedDatabase(), []);
    const countFrom = (remoteAddress: string, times: number) => countStatuses(server, times, { url, remoteAddress });
    for (let subnet = 0; subnet < 4; subnet++)
      assert.deepEqual(await countFrom(`2001:db8:1:${subnet}::1`, limit), { [status]: limit });
    assert.deepEqual(await countFrom("2001:db8:1:4::1", 2), { 429: 2 });
    assert.deepEqual(await countFrom("2001:db8:2::1", 2), { [status]: 2 });
  }
});

test("429: forwarding headers are ignored unless a trusted proxy sent them, and only the entry added by the proxy is used", async () => {
  const unproxied = await openMeteredServer(await embeddedDatabase(), []);
  const counts: Record<number, number> = {};
  for (let attempt = 0; attempt < 100; attempt++) {
    const forged = `198.51.100.${attempt}`;
    const headers = { "x-forwarded-for": forged, forwarded: `for=${forged}`, "x-real-ip": forged };
    const { statusCode } = await unproxied.app.inject({ url: "/listing", headers });
    counts[statusCode] = (counts[statusCode] ?? 0) + 1;
  }
  assert.deepEqual(counts, { 401: 60, 429: 40 });

  const proxied = await openMeteredServer(await embeddedDatabase(), [], { trustProxy: ["10.0.0.0/8"] });
  const createForwardedRequest = (forwarded: string) => ({
    url: "/listing",
    remoteAddress: "10.0.0.1",
    headers: { "x-forwarded-for": forwarded },
  });
  for (let attempt = 0; attempt < 60; attempt++) {
    assert.deepEqual(await countStatuses(proxied, 1, createForwardedRequest(`198.51.100.${attempt}, 203.0.113.9`)), {
      401: 1,
    });
  }
  assert.deepEqual(await countStatuses(proxied, 1, createForwardedRequest("1.1.1.1, 203.0.113.9")), { 429: 1 });
  assert.deepEqual(await countStatuses(proxied, 1, createForwardedRequest("203.0.113.10")), { 401: 1 });
});

const REDIS_URL = process.env.TEST_REDIS_URL;

test("429: servers that share Redis send 60 401 responses per IP address in total; if Redis is unavailable, each server counts separately", {
  skip: REDIS_URL === undefined ? "TEST_REDIS_URL is not set" : false,
}, async (t) => {
  const proxy = await startTcpProxy(REDIS_URL ?? "");
  const prefix = `test:${randomUUID()}:`;
  const openLimiter = (url: string) =>
    openRedisLimitLog({ url, windowMs: LIMIT_WINDOW_MS, prefix, answerMsMax: 10_000 });
  const limiters = [openLimiter(REDIS_URL ?? ""), openLimiter(proxy.url)];
  t.after(async () => {
    for (const limiter of limiters) limiter.close();
    await proxy.close();
  });
  for (const limiter of limiters) {
    const isConnected = () => limiter.take("probe", 1_000_000).then(Boolean, () => null);
    await eventually(isConnected, "Redis");
  }
  const database = await embeddedDatabase();
  const open = (sharedLimits: SharedLimitLog) => openMeteredServer(database, [], { sharedLimits });
  const [first, second] = (await Promise.all(limiters.map(open))) as [MeteredServer, MeteredServer];
  const wrongKey = { url: "/listing", headers: { authorization: "Bearer nobody" } };
  assert.deepEqual(await countStatuses(first, 40, wrongKey), { 401: 40 });
  assert.deepEqual(await countStatuses(second, 30, wrongKey), { 401: 20, 429: 10 });
  assert.deepEqual(await countStatuses(first, 10, wrongKey), { 429: 10 });
  proxy.refuse();
  assert.deepEqual(await countStatuses(second, 70, { ...wrongKey, remoteAddress: "192.0.2.1" }), { 401: 60, 429: 10 });
});
