import assert from "node:assert/strict";
import { eachDatabase } from "../../../../test/support/databases.ts";
import { DAY_MS, HOUR_MS } from "../../../lib/durations.ts";
import { takeAttempt } from "./attempts.ts";

const NOW = Date.UTC(2026, 10, 21, 12, 0, 0, 123);
const HOURLY_RULES = [{ limit: 5, windowMs: HOUR_MS }];

eachDatabase("of a hundred concurrent attempts by one subject, five are allowed", async (database) => {
  const waitsMs = await Promise.all(Array.from({ length: 100 }, () => takeAttempt(database, "a", HOURLY_RULES, NOW)));
  assert.equal(waitsMs.filter((waitMs) => waitMs === 0).length, 5);
  assert.ok(waitsMs.every((waitMs) => waitMs === 0 || waitMs === HOUR_MS));
  assert.equal(await takeAttempt(database, "b", HOURLY_RULES, NOW), 0);
});

eachDatabase(
  "no 60-minute window contains more than five attempts, and the reported wait is exact",
  async (database) => {
    const attemptTimes: number[] = [];
    let now = NOW;
    // The intervals vary, so that the windows start at different offsets.
    for (let attempt = 0; attempt < 60; attempt++) {
      now += ((attempt * 37) % 17) * 60_000;
      const waitMs = await takeAttempt(database, "a", HOURLY_RULES, now);
      if (waitMs === 0) {
        attemptTimes.push(now);
        continue;
      }
      assert.notEqual(
        await takeAttempt(database, "a", HOURLY_RULES, now + waitMs - 1),
        0,
        "not allowed a millisecond earlier",
      );
      now += waitMs;
      assert.equal(await takeAttempt(database, "a", HOURLY_RULES, now), 0, "allowed after the reported wait");
      attemptTimes.push(now);
    }
    for (const start of attemptTimes) {
      const count = attemptTimes.filter((at) => at >= start && at < start + HOUR_MS).length;
      assert.ok(count <= 5, `${count} in one hour`);
    }
    const [row] = await database.query<{ count: number }>("select cardinality(taken_at) as count from attempts");
    assert.ok((row?.count ?? 0) <= 120, "only one day is stored");
  },
);

eachDatabase("if rules allow one attempt per minute and three per day, the stricter one applies", async (database) => {
  const rules = [
    { limit: 1, windowMs: 60_000 },
    { limit: 3, windowMs: DAY_MS },
  ];
  const attemptAt = (minutes: number) => takeAttempt(database, "mail:ada@example.org", rules, NOW + minutes * 60_000);
  assert.equal(await attemptAt(0), 0);
  assert.equal(await attemptAt(0.5), 30_000);
  assert.equal(await attemptAt(1), 0);
  assert.equal(await attemptAt(2), 0);
  assert.equal(await attemptAt(3), DAY_MS - 3 * 60_000);
  assert.equal(await attemptAt(1440), 0);
});
