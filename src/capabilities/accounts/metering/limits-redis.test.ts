import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import fc from "fast-check";
import { Redis } from "ioredis";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { quietLog } from "../../../../test/support/quiet-log.ts";
import { eventually } from "../../../../test/support/service-process.ts";
import { startTcpProxy } from "../../../../test/support/tcp-proxy.ts";
import { openRedisLimitLog } from "../../../adapters/metering/redis-limit-log.ts";
import { systemClock } from "../../../adapters/system/system-clock.ts";
import { DAY_MS } from "../../../lib/durations.ts";
import type { SharedLimitLog } from "../../../ports/limit-log.ts";
import { createRequestLimits, type RequestLimits } from "./limits.ts";

const REDIS_URL = process.env.TEST_REDIS_URL;
const url = REDIS_URL ?? "";
const options = { skip: REDIS_URL === undefined ? "TEST_REDIS_URL is not set" : false };
const ROUNDS_MAX = 1_000;
/** Redis key prefix, unique for this test run. */
const prefix = `test:${randomUUID()}:`;
const redis = new Redis(url, { lazyConnect: true });
const openLimiters: SharedLimitLog[] = [];
after(async () => {
  for (const shared of openLimiters) shared.close();
  if (REDIS_URL === undefined) return;
  for (const key of await redis.keys(`${prefix}*`)) await redis.del(key);
  redis.disconnect();
});

/** The long default timeout keeps slow test machines from falling back to local limits. */
async function openShared(windowMs: number, parts: { url?: string; answerMsMax?: number } = { answerMsMax: 10_000 }) {
  const shared = openRedisLimitLog({ url, windowMs, prefix, ...parts });
  openLimiters.push(shared);
  await waitUntilConnected(shared);
  return shared;
}

function waitUntilConnected(shared: SharedLimitLog) {
  return eventually(
    () =>
      shared.take("probe", 1_000_000).then(
        () => true,
        () => null,
      ),
    "Redis",
  );
}

test(
  "64 concurrent callers on three nodes are allowed exactly the limit, and the wait is that of the oldest request",
  options,
  async () => {
    const shared = [await openShared(60_000), await openShared(60_000), await openShared(60_000)];
    for (const limit of [5, 30, 120]) {
      const nodes = shared.map((each) => createRequestLimits({ clock: systemClock, log: quietLog }, each));
      const caller = randomUUID();
      const decisions = await Promise.all(
        Array.from({ length: 64 * 6 }, (_, call) => (nodes[call % 3] as RequestLimits).take("general", caller, limit)),
      );
      const remaining = decisions.filter(({ isAllowed }) => isAllowed).map((decision) => decision.remaining);
      assert.deepEqual(
        remaining.toSorted((a, b) => a - b),
        Array.from({ length: limit }, (_, index) => index),
      );
      for (const { isAllowed, waitMs } of decisions) {
        if (!isAllowed) assert.ok(waitMs > 55_000 && waitMs <= 60_000);
      }
    }
  },
);

interface AcceptedRequest {
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** Asserts that at most `limit` requests were accepted per window. Each request was accepted between its two timestamps. */
function assertWithinLimit(accepted: readonly AcceptedRequest[], limit: number, windowMs: number): void {
  const sorted = accepted.toSorted((a, b) => a.sentAt - b.sentAt);
  for (let first = 0; first + limit < sorted.length; first++) {
    const group = sorted.slice(first, first + limit + 1);
    const span =
      Math.max(...group.map(({ receivedAt }) => receivedAt)) - Math.min(...group.map(({ sentAt }) => sentAt));
    assert.ok(span >= windowMs, `${limit + 1} requests were accepted within ${span} ms`);
  }
}

test("three nodes never accept more requests than the limit in any window of the Redis clock", options, async () => {
  // A short window, so that the test covers many of them.
  const windowMs = 10;
  const shared = [await openShared(windowMs), await openShared(windowMs), await openShared(windowMs)];
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 8 }),
      fc.array(fc.nat(2), { minLength: 100, maxLength: 300 }),
      async (limit, nodes) => {
        const caller = randomUUID();
        const accepted: AcceptedRequest[] = [];
        const take = async (node: number) => {
          const sentAt = performance.now();
          const { isAllowed } = await (shared[node] as SharedLimitLog).take(caller, limit);
          if (isAllowed) accepted.push({ sentAt, receivedAt: performance.now() });
        };
        // Repeats until the run covers several windows, independent of the machine's speed.
        for (let round = 0; round < ROUNDS_MAX && accepted.length <= 3 * limit; round++) {
          for (let at = 0; at < nodes.length; at += 5) {
            await Promise.all(nodes.slice(at, at + 5).map(take));
          }
        }
        assert.ok(accepted.length > 3 * limit, "the run covered too few windows");
        assertWithinLimit(accepted, limit, windowMs);
      },
    ),
    { numRuns: 6 },
  );
});

test("a caller's Redis list expires after the window and is never longer than the limit", options, async () => {
  const shared = await openShared(60_000);
  for (let call = 0; call < 20; call++) await shared.take("bounded", 7);
  const key = `${prefix}limit:bounded`;
  assert.equal(await redis.llen(key), 7);
  const ttlMs = await redis.pttl(key);
  assert.ok(ttlMs > 0 && ttlMs <= 60_000);
});

test(
  "earlier requests stay counted if the limit changes, and callers are not locked out if the Redis clock is set back",
  options,
  async () => {
    const shared = await openShared(60_000);
    for (let call = 0; call < 3; call++) await shared.take("moved", 3);
    assert.equal((await shared.take("moved", 5)).remaining, 1);
    assert.equal((await shared.take("moved", 2)).isAllowed, false);
    const key = `${prefix}limit:future`;
    const tomorrow = (Date.now() + DAY_MS) * 1_000;
    await redis.lpush(key, tomorrow, tomorrow, tomorrow);
    assert.ok((await shared.take("future", 3)).isAllowed);
  },
);

test("requests stay counted if the Redis clock steps back by seconds", options, async () => {
  const shared = await openShared(60_000);
  const key = `${prefix}limit:ahead`;
  const ahead = (Date.now() + 20_000) * 1_000;
  await redis.lpush(key, ahead, ahead);
  const third = await shared.take("ahead", 3);
  assert.deepEqual([third.isAllowed, third.remaining], [true, 0]);
  const rejected = await shared.take("ahead", 3);
  assert.ok(!rejected.isAllowed && rejected.waitMs > 0 && rejected.waitMs <= 60_000);
});

test(
  "if Redis is unreachable or frozen, requests are not delayed and limits apply; Redis is used again after recovery",
  options,
  async () => {
    const proxy = await startTcpProxy(url);
    const shared = await openShared(60_000, { url: proxy.url });
    const unproxiedLimiter = await openShared(60_000);
    for (const fault of ["refuse", "blackhole"] as const) {
      const clock = new FakeClock();
      const limits = createRequestLimits({ clock, log: quietLog }, shared);
      const caller = randomUUID();
      assert.ok((await limits.take("general", caller, 5)).isAllowed);
      proxy[fault]();
      const decisions = [];
      for (let call = 0; call < 10; call++) decisions.push((await limits.take("general", caller, 5)).isAllowed);
      assert.equal(decisions.filter(Boolean).length, 4);
      proxy.restore();
      await waitUntilConnected(shared);
      await clock.advance(1_000);
      const other = randomUUID();
      assert.ok((await limits.take("general", other, 2)).isAllowed);
      assert.ok((await unproxiedLimiter.take(`general:${other}`, 2)).isAllowed);
      assert.equal((await limits.take("general", other, 2)).isAllowed, false);
    }
    await proxy.close();
  },
);

test("a blocked event loop does not count as a timeout of Redis", options, async () => {
  const shared = await openShared(60_000, { answerMsMax: 1_000 });
  const response = shared.take("blocked", 3);
  const end = performance.now() + 3_000;
  while (performance.now() < end);
  assert.equal((await response).remaining, 2);
});

test("`peek` returns the remaining requests without counting one", options, async () => {
  const shared = await openShared(60_000);
  const caller = randomUUID();
  assert.deepEqual(await shared.peek(caller, 2), { isAllowed: true, remaining: 2, waitMs: 0 });
  await shared.take(caller, 2);
  for (let peek = 0; peek < 3; peek++) {
    const { isAllowed, remaining, waitMs } = await shared.peek(caller, 2);
    assert.deepEqual([isAllowed, remaining, waitMs > 0 && waitMs <= 60_000], [true, 1, true]);
  }
  await shared.take(caller, 2);
  const { isAllowed, remaining, waitMs } = await shared.peek(caller, 2);
  assert.deepEqual([isAllowed, remaining, waitMs > 0 && waitMs <= 60_000], [false, 0, true]);
});
