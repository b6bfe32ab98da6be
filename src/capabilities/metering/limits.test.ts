import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, describe, test } from "node:test";
import fc from "fast-check";
import { Redis } from "ioredis";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { eventually } from "../../../test/support/service-process.ts";
import { startTcpProxy } from "../../../test/support/tcp-proxy.ts";
import { recordingLog } from "../../../test/support/test-app.ts";
import { openRedisLimitLog } from "../../adapters/metering/redis-limit-log.ts";
import { systemClock } from "../../adapters/system/system-clock.ts";
import type { SharedLimitLog } from "../../ports/limit-log.ts";
import { createRequestLimits, type RequestLimits } from "./limits.ts";

const REDIS_URL = process.env.TEST_REDIS_URL;
const skip = REDIS_URL === undefined ? "TEST_REDIS_URL is not set" : false;
const REPEATS_MAX = 1_000;
const { log, lines } = recordingLog();

test("without a shared log the answer is there at once", () => {
  const limits = createRequestLimits({ clock: new FakeClock(), log, shared: null });
  assert.deepEqual(limits.take("general", "a", 1), { isAllowed: true, remaining: 0, waitMs: 60_000 });
  assert.deepEqual(limits.take("general", "a", 1), { isAllowed: false, remaining: 0, waitMs: 60_000 });
  assert.deepEqual(limits.take("strategy", "a", 1), { isAllowed: true, remaining: 0, waitMs: 60_000 });
});

test("what all nodes together refuse is no request of this node's", async () => {
  const clock = new FakeClock();
  const refusal = { isAllowed: false, remaining: 0, waitMs: 5_000 };
  let isFull = true;
  const shared: SharedLimitLog = {
    take: async () => (isFull ? refusal : { isAllowed: true, remaining: 0, waitMs: 1 }),
    close() {},
  };
  const limits = createRequestLimits({ clock, log, shared });
  for (let attempt = 0; attempt < 10; attempt++) assert.deepEqual(await limits.take("general", "a", 2), refusal);
  isFull = false;
  for (let attempt = 0; attempt < 2; attempt++) assert.ok((await limits.take("general", "a", 2)).isAllowed);
  assert.ok(!(await limits.take("general", "a", 2)).isAllowed);
});

test("a shared log that fails is left alone for a second, and limits hold on each node meanwhile", async () => {
  const clock = new FakeClock();
  let asked = 0;
  const shared: SharedLimitLog = {
    take() {
      asked += 1;
      return Promise.reject(new Error("away"));
    },
    close() {},
  };
  const limits = createRequestLimits({ clock, log, shared });
  const allowed = async () => (await limits.take("general", "a", 3)).isAllowed;
  assert.deepEqual([await allowed(), await allowed(), await allowed(), await allowed()], [true, true, true, false]);
  assert.equal(asked, 1);
  await clock.advance(60_000);
  assert.ok(await allowed());
  assert.equal(asked, 2);
  assert.equal(lines.filter(({ level }) => level === "warn").length, 1);
});

describe("limits over nodes that share Redis", { skip }, () => {
  const url = REDIS_URL ?? "";
  /** Of this run alone. */
  const prefix = `test:${randomUUID()}:`;
  const opened: SharedLimitLog[] = [];
  /** Where a test is about what Redis counts, a machine that is busy with other things changes nothing. */
  const open = (windowMs: number, parts: { url?: string; answerMsMax?: number } = { answerMsMax: 10_000 }) => {
    const shared = openRedisLimitLog({ url, windowMs, prefix, ...parts });
    opened.push(shared);
    return shared;
  };
  const nodesOver = (shared: readonly SharedLimitLog[]): RequestLimits[] =>
    shared.map((each) => createRequestLimits({ clock: systemClock, log, shared: each }));
  const redis = new Redis(url, { lazyConnect: true });
  after(async () => {
    for (const shared of opened) shared.close();
    if (REDIS_URL === undefined) return;
    for (const key of await redis.keys(`${prefix}*`)) await redis.del(key);
    redis.disconnect();
  });
  const connected = (shared: SharedLimitLog) =>
    eventually(
      () =>
        shared.take("probe", 1_000_000).then(
          () => true,
          () => null,
        ),
      "Redis",
    );

  test("three nodes and 64 callers at once pass the limit exactly, and the wait is the one of the oldest", async () => {
    const shared = [open(60_000), open(60_000), open(60_000)];
    await Promise.all(shared.map(connected));
    for (const limit of [5, 30, 120]) {
      const nodes = nodesOver(shared);
      const caller = randomUUID();
      const answers = await Promise.all(
        Array.from({ length: 64 * 6 }, (_, call) => (nodes[call % 3] as RequestLimits).take("general", caller, limit)),
      );
      assert.equal(answers.filter(({ isAllowed }) => isAllowed).length, limit);
      const allowed = answers.filter(({ isAllowed }) => isAllowed).map(({ remaining }) => remaining);
      assert.deepEqual(
        allowed.toSorted((a, b) => a - b),
        Array.from({ length: limit }, (_, left) => left),
      );
      for (const { isAllowed, waitMs } of answers) {
        if (!isAllowed) assert.ok(waitMs > 55_000 && waitMs <= 60_000);
      }
    }
  });

  test("no window, wherever it begins, holds more over three nodes, by the server's own times", async () => {
    // A window so short that many begin and end in the test: the rule is the same for every length.
    const windowMs = 10;
    const shared = [open(windowMs), open(windowMs), open(windowMs)];
    await Promise.all(shared.map(connected));
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 8 }),
        fc.array(fc.nat(2), { minLength: 100, maxLength: 300 }),
        async (limit, turns) => {
          const caller = randomUUID();
          /** When each request that passed was sent, and when its answer had come: it was accepted in between. */
          const passed: { sentAt: number; toldAt: number }[] = [];
          const take = async (node: number) => {
            const sentAt = performance.now();
            const { isAllowed } = await (shared[node] as SharedLimitLog).take(caller, limit);
            if (isAllowed) passed.push({ sentAt, toldAt: performance.now() });
          };
          // As often as it takes to see several windows: how fast the machine is nobody knows.
          for (let again = 0; again < REPEATS_MAX && passed.length <= 3 * limit; again++) {
            for (let at = 0; at < turns.length; at += 5) {
              await Promise.all(turns.slice(at, at + 5).map(take));
            }
          }
          assert.ok(passed.length > 3 * limit, "the run saw too few windows to say anything");
          // Any limit + 1 of them that surely lie within one window would be one too many.
          const sorted = passed.toSorted((a, b) => a.sentAt - b.sentAt);
          for (let first = 0; first + limit < sorted.length; first++) {
            const group = sorted.slice(first, first + limit + 1);
            const span =
              Math.max(...group.map(({ toldAt }) => toldAt)) - Math.min(...group.map(({ sentAt }) => sentAt));
            assert.ok(span >= windowMs, `${limit + 1} requests passed within ${span} ms`);
          }
        },
      ),
      { numRuns: 6 },
    );
  });

  test("a caller's list ends with its window, and is never longer than the limit", async () => {
    const shared = open(60_000);
    await connected(shared);
    for (let call = 0; call < 20; call++) await shared.take("bounded", 7);
    const key = `${prefix}limit:bounded`;
    assert.equal(await redis.llen(key), 7);
    const left = await redis.pttl(key);
    assert.ok(left > 0 && left <= 60_000);
  });

  test("a limit that changes keeps what was used, and a server clock that was set back locks nobody out", async () => {
    const shared = open(60_000);
    await connected(shared);
    for (let call = 0; call < 3; call++) await shared.take("moved", 3);
    assert.equal((await shared.take("moved", 5)).remaining, 1);
    assert.equal((await shared.take("moved", 2)).isAllowed, false);
    const key = `${prefix}limit:future`;
    const tomorrow = (Date.now() + 86_400_000) * 1_000;
    await redis.lpush(key, tomorrow, tomorrow, tomorrow);
    assert.ok((await shared.take("future", 3)).isAllowed);
  });

  test("a server clock that steps back a little forgets no request", async () => {
    const shared = open(60_000);
    await connected(shared);
    const key = `${prefix}limit:ahead`;
    const ahead = (Date.now() + 20_000) * 1_000;
    await redis.lpush(key, ahead, ahead);
    const third = await shared.take("ahead", 3);
    assert.deepEqual([third.isAllowed, third.remaining], [true, 0]);
    const refused = await shared.take("ahead", 3);
    assert.ok(!refused.isAllowed && refused.waitMs > 0 && refused.waitMs <= 60_000);
  });

  test("a server that is gone or frozen holds nobody up, turns no limit off, and is used again once it is back", async () => {
    const { hostname, port } = new URL(url);
    const proxy = await startTcpProxy({ host: hostname, port: Number(port === "" ? 6379 : port) });
    const shared = open(60_000, { url: `redis://127.0.0.1:${proxy.port}` });
    const direct = open(60_000);
    await Promise.all([connected(shared), connected(direct)]);
    for (const trouble of ["refuse", "blackhole"] as const) {
      const clock = new FakeClock();
      const limits = createRequestLimits({ clock, log, shared });
      const caller = randomUUID();
      assert.ok((await limits.take("general", caller, 5)).isAllowed);
      proxy[trouble]();
      const answers = [];
      for (let call = 0; call < 10; call++) answers.push((await limits.take("general", caller, 5)).isAllowed);
      assert.equal(answers.filter(Boolean).length, 4);
      proxy.restore();
      await connected(shared);
      await clock.advance(1_000);
      const other = randomUUID();
      assert.ok((await limits.take("general", other, 2)).isAllowed);
      assert.ok((await direct.take(`general:${other}`, 2)).isAllowed);
      assert.equal((await limits.take("general", other, 2)).isAllowed, false);
    }
    await proxy.close();
  });
});
