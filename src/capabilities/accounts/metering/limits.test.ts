import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { recordingLog } from "../../../../test/support/test-app.ts";
import type { SharedLimitLog } from "../../../ports/limit-log.ts";
import { createRequestLimits } from "./limits.ts";

const { log, lines } = recordingLog();

test("if no shared limiter is configured, returns the decision synchronously", () => {
  const limits = createRequestLimits({ clock: new FakeClock(), log }, null);
  assert.deepEqual(limits.take("general", "a", 1), { isAllowed: true, remaining: 0, waitMs: 60_000 });
  assert.deepEqual(limits.take("general", "a", 1), { isAllowed: false, remaining: 0, waitMs: 60_000 });
  assert.deepEqual(limits.take("strategy", "a", 1), { isAllowed: true, remaining: 0, waitMs: 60_000 });
});

test("a request rejected by the shared limiter is not counted locally", async () => {
  const clock = new FakeClock();
  const rejection = { isAllowed: false, remaining: 0, waitMs: 5_000 };
  let isFull = true;
  const shared: SharedLimitLog = {
    take: async () => (isFull ? rejection : { isAllowed: true, remaining: 0, waitMs: 1 }),
    peek: async () => rejection,
    close() {},
  };
  const limits = createRequestLimits({ clock, log }, shared);
  for (let attempt = 0; attempt < 10; attempt++) assert.deepEqual(await limits.take("general", "a", 2), rejection);
  isFull = false;
  for (let attempt = 0; attempt < 2; attempt++) assert.ok((await limits.take("general", "a", 2)).isAllowed);
  assert.ok(!(await limits.take("general", "a", 2)).isAllowed);
});

test("after a failure, skips the shared limiter for one second and applies local limits", async () => {
  const clock = new FakeClock();
  let requestCount = 0;
  const shared: SharedLimitLog = {
    take() {
      requestCount += 1;
      return Promise.reject(new Error("unavailable"));
    },
    peek: () => Promise.reject(new Error("unavailable")),
    close() {},
  };
  const limits = createRequestLimits({ clock, log }, shared);
  const isAllowed = async () => (await limits.take("general", "a", 3)).isAllowed;
  assert.deepEqual(
    [await isAllowed(), await isAllowed(), await isAllowed(), await isAllowed()],
    [true, true, true, false],
  );
  assert.equal(requestCount, 1);
  await clock.advance(60_000);
  assert.ok(await isAllowed());
  assert.equal(requestCount, 2);
  assert.equal(lines.filter(({ level }) => level === "warn").length, 1);
});
